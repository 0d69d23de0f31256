# Written by hand: a stub by pybind11-stubgen 3.0 has no documentation, and `dict` and `typing.Any` for the types of
# weir.types and of controllers. tests/estimator/test_core_module.py compares names and signatures with the module.
"""The C++ estimator library.

Times are integers in microseconds of one monotonic clock, rates integers in bits per second.

Calls on one object must not overlap: a controller that changes its own estimator within a decision gets a RuntimeError.
Bad input raises ValueError with one sentence. An exception in a controller costs its decision, and the first one is
reported; KeyboardInterrupt and SystemExit propagate from the method that requested the decision.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from weir.types import Member, ModelDescription, PoolSpecification, PoolView, ProbeCluster, Remb, Statistics

__version__: str
FEATURES: Mapping[str, Feature]
"""Features of policies by name: the statistics of a decision interval, described in
estimator/include/weir/interval_statistics.h."""
DECISION_INTERVALS_MS: tuple[int, int]
"""The shortest and the longest decision interval."""
MAXIMUM_HISTORY: int
"""Maximum number of intervals that an observation spans."""
RULE: Mapping[str, float]
"""Constants of the ten-line rule, in SI units; see estimator/src/controllers/rule_controller.h."""
CONTROLLERS: Mapping[str, Controller]
"""The controllers that the library makes by itself, by name; see estimator/src/registry.h."""
GUARD_RULES: dict[str, bool]
"""The guard's rules by name, in the order of tables, with true for rules that can be switched off."""
OBJECTIVE_PRESETS: dict[str, tuple[float, float, float]]
"""Weights of throughput, latency and loss by the preset's name; the first is the default."""

def rule_rate_bps(
    receive_rate_bps: ArrayLike, queueing_delay_s: ArrayLike, packets_received: ArrayLike, target_bps: ArrayLike
) -> Any:
    """Returns the rate in bps that an action around the ten-line rule multiplies, after one decision interval.

    Arguments are floats, or NumPy arrays of shapes that broadcast: the receive rate over the last 300 ms, the smallest
    queueing delay and the number of packets of the interval, the target in force. Returns a float or an array of
    float32, computed in float32. Unlike the target of the controller `rule`, it never falls while the path is idle.
    """

def parse_pool(line: str) -> PoolSpecification:
    """Parses a pool specification; the ValueError for an invalid one gives the character.

    The form is `pilot=weir copilots=nada,rule fusion=min policy=by_trust`, see docs/pools.md.
    """

class Controller:
    """A controller that the library makes by itself."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """Description in one line."""
    @property
    def uses_model(self) -> bool:
        """True when a model makes its estimates. `BandwidthEstimator` takes the other controllers by name."""

class Feature:
    """One statistic of a decision interval."""

    @property
    def name(self) -> str:
        """Name in models' metadata, configurations and records."""
    @property
    def unit(self) -> str:
        """One of "s", "bit/s", "packets", "bytes" or "s/s"; empty for ratios and shares."""
    @property
    def load_check(self) -> tuple[float, float]:
        """Range of the inputs that check a model when it is loaded."""
    @property
    def observation_space(self) -> tuple[float, float]:
        """Range to which an environment clips its observations."""
    @property
    def scale(self) -> str:
        """Scaling in trained networks: a name of `weir_train.gym.scaling.SCALINGS`."""
    @property
    def of_path(self) -> bool:
        """True for statistics of the path: an observation has only the newest value, after the history."""

class Estimate:
    """An estimate of the bandwidth."""

    @property
    def at_time_us(self) -> int | None:
        """Time at which it came into force; None for the start rate before the first `on_timeout`."""
    @property
    def target_rate_bps(self) -> int:
        """The rate the sender may use, above 0."""
    @property
    def reason(self) -> str:
        """One of start, controller, candidate, fallback, held, probe, or `guard_NAME` for a rule of the guard."""

class Model:
    """An ONNX policy, checked against its contract (estimator/src/policy/model_reader.h).

    Loading takes milliseconds; any number of estimators and threads can then share it, at microseconds and some
    kilobytes each. The model lives as long as any object that was created with it.
    """

    def __init__(self, model: bytes) -> None:
        """Raises ValueError when the model is malformed or does not match its metadata."""
    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """Loads the model in a file. Raises OSError when that cannot be read, ValueError as the constructor does."""
    @staticmethod
    def shipped() -> Model:
        """The model that comes with Weir, loaded once. Raises OSError if it is missing."""
    @property
    def description(self) -> ModelDescription:
        """Its contract."""
    @property
    def needs_onnxruntime(self) -> bool:
        """True where ONNX Runtime computes it; Weir itself computes the dense networks of `weir export`."""

class Pool:
    """A combination of several controllers for an estimator."""

    def __init__(
        self,
        specification: str,
        *,
        members: Mapping[str, str | Model | Callable[[dict[str, Any]], Any]] = {},
        fusion: Callable[[int, list[int]], int] | None = None,
        policy: Callable[[PoolView], str] | None = None,
    ) -> None:
        """Takes a specification such as "pilot=weir copilots=nada,rule fusion=min" (docs/pools.md).

        `members` has the controllers that are not built in, by their names in the specification. `fusion`, for
        "fusion=user", receives the rates of the pilot and of the copilots in bit/s, and returns a rate between the
        lowest and the highest; any other rate is counted, and the pilot's is used. `policy`, for "policy=user", is
        called after each decision of the pilot and returns the name of the controller that is active from then on, no
        earlier than 5 s after the last change. An exception in either is reported; in `fusion` it counts as a wrong
        rate, in `policy` it changes nothing.
        """

class BandwidthEstimator:
    """The receiver's estimator: turns packets into estimates.

    The host calls `on_packet` for each RTP packet and `on_timeout` when `next_timeout_us` has come, and sends `remb()`
    when `remb_due` is true afterwards.
    """

    def __init__(
        self,
        controller: str | Model | Pool | Callable[[dict[str, Any]], Any],
        *,
        min_rate_bps: int = 30_000,
        start_rate_bps: int = 300_000,
        max_rate_bps: int = 50_000_000,
        max_media_rate_bps: int | None = None,
        objective: str | Sequence[float] = "balanced",
        guard: bool = True,
        guard_off: Sequence[str] = (),
    ) -> None:
        """Takes a model, the name of a built-in controller ("fixed" keeps the start rate), a pool, or a custom class as
        for replays. An exception in that class is reported as unraisable. The rate is held during its first failures,
        which include wrong targets; after three in a row, the ten-line rule decides until the class works again.

        `objective` is balanced, throughput or latency, or three weights above 0 (throughput, latency, loss) that are
        divided by their sum. `max_media_rate_bps` is the maximum rate of the media, None: unknown; the target exceeds
        it only under loss, for retransmissions and FEC, and while frames are few, for a pacer, up to twice that.
        Without `guard` only finiteness and bounds are enforced; `guard_off` has names of `GUARD_RULES` that are off.
        Raises ValueError for invalid arguments.
        """
    def on_packet(
        self,
        *,
        arrival_time_us: int,
        ssrc: int,
        sequence_number: int,
        payload_bytes: int,
        kind: str = "video",
        abs_send_time: int | None = None,
        rtp_timestamp: int = 0,
        rtp_clock_rate_hz: int = 0,
        header_bytes: int = 12,
        padding_bytes: int = 0,
        payload_type: int = 0,
        ecn: int = 0,
    ) -> None:
        """Adds one RTP packet as received.

        `kind` is video, audio, probe or retransmission. `abs_send_time` is the 24-bit header extension; while no
        stream has had it for 10 s, the RTP timestamp and its clock rate (0: unknown) replace it. `ecn` is the ECN
        field of the IP header, 0 to 3. Duplicate, late and malformed packets are counted and are not errors.
        Raises ValueError for values that do not fit their fields.
        """
    def remove_stream(self, ssrc: int) -> None:
        """Ends a stream: REMBs omit it until its next packet.

        A stream also ends after 30 s in which only other streams sent.
        """
    def on_timeout(self, now_us: int) -> Estimate | None:
        """Returns the estimate when its target or reason has changed.

        The estimator is active from the first call; the start rate is in force until the first packet.
        """
    @property
    def remb_due(self) -> bool:
        """True if a REMB was due at the latest `on_timeout`."""
    @property
    def omits_losses(self) -> bool:
        """True while losses do not depend on the rate: transport feedback should omit them (docs/remb.md)."""
    @property
    def next_timeout_us(self) -> int:
        """Time of the next `on_timeout`; -2**63, before all times, before the first call."""
    def set_objective(self, objective: str | Sequence[float]) -> None:
        """Changes the objective during the call."""
    def set_constraints(
        self,
        *,
        min_rate_bps: int,
        start_rate_bps: int,
        max_rate_bps: int,
        max_media_rate_bps: int | None = None,
        now_us: int,
    ) -> None:
        """Changes the bounds during the call; the start rate matters only before the first `on_timeout`."""
    def on_round_trip_time(self, round_trip_time_us: int, now_us: int) -> None:
        """Reports the round-trip time; ignored unless above 0 and at most a minute."""
    @property
    def latest(self) -> Estimate:
        """The estimate in force."""
    @property
    def suspended(self) -> bool:
        """True while the fallback's targets, those of the ten-line rule, count in place of the controller's."""
    def set_controller(self, controller: str | Model | Pool | Callable[[dict[str, Any]], Any]) -> None:
        """Replaces the controller, even during a call: the new one continues from the rate in force.

        Raises ValueError, and keeps the old one, if the new one is invalid.
        """
    def configure_pool(self, specification: str) -> None:
        """Changes pilot, copilots, fusion and policy among the members of the pool, even during a call."""
    @property
    def members(self) -> list[Member]:
        """The members of the pool; without one, the controller."""
    def counters(self) -> dict[str, int]:
        """Numbers of decisions, faults, REMBs, changes by each rule of the guard, and irregular packets."""
    def statistics(self, now_us: int) -> Statistics:
        """Statistics for a host's getStats, of the second before `now_us` and since creation."""
    def remb(self, sender_ssrc: int) -> bytes:
        """Returns an RTCP REMB with the rate in force and the streams that have not ended, at most 255."""

class SendSideEstimator:
    """Weir at the sender: turns sent packets and transport-wide feedback into a target rate and a pacing rate.

    The host calls `on_sent_packet` for each packet in the order of sequence numbers, `on_transport_feedback` for each
    feedback message, and `on_timeout` when `next_timeout_us` has come; each may change the rates.
    Packets that no feedback mentions have an unknown fate, neither received nor lost.
    """

    def __init__(
        self,
        controller: str | Model | Pool | Callable[[dict[str, Any]], Any],
        *,
        min_rate_bps: int = 30_000,
        start_rate_bps: int = 300_000,
        max_rate_bps: int = 50_000_000,
        max_media_rate_bps: int | None = None,
        objective: str | Sequence[float] = "balanced",
        guard: bool = True,
        guard_off: Sequence[str] = (),
        pacing_factor: float = 1.1,
    ) -> None:
        """All arguments except `pacing_factor` are as in `BandwidthEstimator`.

        The pacing rate is `pacing_factor`, at least 1, times the target rate. Raises ValueError for invalid arguments.
        """
    def on_sent_packet(
        self,
        *,
        send_time_us: int,
        sequence_number: int,
        size_bytes: int,
        kind: str = "video",
        probe_cluster_id: int = 0,
    ) -> None:
        """Reports a sent packet; the rates count `size_bytes`. `kind` is video, audio, probe or retransmission."""
    def on_transport_feedback(
        self, feedback: Sequence[tuple[int, int | None] | tuple[int, int | None, int]], now_us: int
    ) -> None:
        """Reports one message: sequence numbers in order, each with its arrival time in us of the receiver's clock, or
        None if it was lost, and, where RFC 8888 has it, the ECN field of its IP header.
        """
    def on_timeout(self, now_us: int) -> None:
        """Call this when `next_timeout_us` has come."""
    @property
    def next_timeout_us(self) -> int | None:
        """Time of the next `on_timeout`; None before the first packet and in a pause."""
    @property
    def target_rate_bps(self) -> int:
        """The target rate in force."""
    @property
    def pacing_rate_bps(self) -> int:
        """The pacing rate in force."""
    @property
    def congestion_window_bytes(self) -> int | None:
        """A host that paces keeps at most this much in flight; None before the first feedback, and while other flows
        keep a queue full.
        """
    @property
    def reason(self) -> str:
        """The reason for the rate, as in `Estimate`."""
    def set_objective(self, objective: str | Sequence[float]) -> None:
        """Changes the objective during the call."""
    def set_constraints(
        self, *, min_rate_bps: int, start_rate_bps: int, max_rate_bps: int, max_media_rate_bps: int | None = None
    ) -> None:
        """Changes the bounds during the call. The start rate sets the rate only before the first packet. Six times the
        start rate also raises what the guard accepts on feedback alone, so pass the original one.
        """
    def on_round_trip_time(self, round_trip_time_us: int) -> None:
        """Reports the round-trip time from RTCP; ignored unless above 0 and at most a minute."""
    def set_desired_rate(self, *, total_bps: int, next_bps: int = 0) -> None:
        """For layered media: sets the targets for all layers and for one more layer (0: any increase helps).

        From the first call on, the host sends the clusters of `take_probe_cluster`, and the target is at most what the
        path has been shown to carry. Raises ValueError unless `total_bps` is above 0 and `next_bps` at least 0.
        """
    def take_probe_cluster(self) -> ProbeCluster | None:
        """Returns a due burst, each one once."""
    @property
    def congestion_state(self) -> str:
        """normal, early_warning or congested."""
    def counters(self) -> dict[str, int]:
        """Numbers of packets received, lost and of unknown fate, of irregular reports and departures, of decisions;
        of probe clusters and their bytes.
        """

class MediaStream:
    """A stream that an SFU can forward, with its simulcast or SVC layers."""

    def __init__(
        self,
        id: int,
        layers: Sequence[tuple[int, int, int]],
        *,
        kind: str = "video",
        priority: int = 0,
        may_pause: bool = True,
    ) -> None:
        """Takes 1 to 12 layers, each with the rate in bit/s of the whole stream when it is the highest forwarded layer,
        and its width and height in pixels, which are for reports. Rates rise from layer to layer.

        `kind` is video or audio; a higher `priority` goes first; without `may_pause`, as for audio, the lowest layer is
        always on.
        """

class LayerAllocation:
    """The part of a stream that is forwarded."""

    @property
    def id(self) -> int:
        """Id of the stream."""
    @property
    def layer(self) -> int:
        """Index of the highest layer that is forwarded; -1 while the stream is paused."""
    @property
    def rate_bps(self) -> int:
        """Rate of that layer; 0 while paused."""
    @property
    def width(self) -> int:
        """Width of that layer in pixels; 0 while paused."""
    @property
    def height(self) -> int:
        """Height of that layer in pixels; 0 while paused."""
    @property
    def reason(self) -> str:
        """Reason of the latest change: start, headroom, target_fell, streams_changed or priority
        (estimator/include/weir/layer_allocator.h).
        """
    @property
    def at_time_us(self) -> int:
        """Time of the latest change."""

class LayerAllocator:
    """Decides which layers an SFU forwards to one subscriber within a target rate.

    The rules are in estimator/include/weir/layer_allocator.h.
    """

    def __init__(self, *, margin: float = 0.1, wait_us: int = 500_000) -> None:
        """A layer is added when it, and the layers before it that are on, need at most 1 / (1 + `margin`) of the target
        for `wait_us`.

        `margin` is above 0 and at most 1, `wait_us` from 100 ms to 32 s; else ValueError.
        """
    def set_streams(self, streams: Sequence[MediaStream]) -> None:
        """Replaces the streams, at most 64, for example when one is added or rates have been measured again.

        A stream with the id and the number of layers of a former one continues it. Raises ValueError, and keeps the
        former streams, for invalid ones.
        """
    def allocate(self, target_rate_bps: int, now_us: int) -> list[LayerAllocation]:
        """Returns one allocation for each stream, in their order.

        Call it when the target or the streams change, and every 100 ms. A `now_us` before that of the previous call
        changes nothing.
        """
    @property
    def allocated_rate_bps(self) -> int:
        """Sum of the layers that are forwarded."""
    @property
    def desired_rate_bps(self) -> int:
        """The target for all layers, which is the sum of the highest with the margin; see `set_desired_rate`."""
    @property
    def next_rate_bps(self) -> int:
        """The smallest target that, if it lasts, adds a layer: the rate that a probe must show.

        0 when there is nothing to add.
        """

class Repair:
    """Chooses how lost packets of a video are repaired: "nack", retransmissions alone; "fec", FEC in addition; "none":
    nothing is lost, or no repair is known yet, and what is in use stays. The rules are in
    estimator/include/weir/repair_policy.h.

    A receiver of an unmodified sender passes each packet and calls `choose` every 100 ms to 1 s; for "fec" its session
    description accepts red and ulpfec (or flexfec), for "nack" it does not. A sender only calls `choose_at_sender`.
    """

    def __init__(self) -> None: ...
    def on_packet(self, ssrc: int, sequence_number: int, now_us: int) -> None:
        """A packet of the video's own stream, up to four streams."""
    def on_retransmission(self, ssrc: int, sequence_number: int, payload: bytes, now_us: int) -> None:
        """A packet of a retransmission stream (RFC 4588), up to four streams. `payload` begins with the original
        sequence number, its first two bytes are enough; a payload of less is padding.
        """
    def choose(self, rate_bps: int, now_us: int) -> str:
        """Returns the choice at the receiver. `rate_bps` is the sender's target rate, 0 if unknown. A `now_us` that is
        not after that of the previous call changes nothing.
        """
    def choose_at_sender(
        self, rate_bps: int, round_trip_us: int, loss_ratio: float, feedback_loss_ratio: float, now_us: int
    ) -> str:
        """Returns the choice at the sender. `round_trip_us` is 0 if unknown. Ratios, 0 to 1, over about five seconds:
        of lost packets, and of feedback that the return path lost.
        """

MIN_PLAYOUT_DELAY_US: int

def max_playout_delay_us(jitter_us: int, round_trip_time_us: int, frame_interval_us: int, previous_us: int = 0) -> int:
    """Returns the maximum of the RTP header extension playout-delay, 100 to 250 ms in multiples of 10 ms: the time in
    which a receiver renders frames that arrive late or are repaired by NACK. The minimum to send with it is
    `MIN_PLAYOUT_DELAY_US`.

    `jitter_us` is RFC 3550's, from the latest receiver report, `previous_us` the last result, or 0. Call it with each
    receiver report, about once a second: the result rises at once and falls by at most 10 ms.
    """

class Policy:
    """A run of a policy model with its recurrent state."""

    def __init__(self, model: Model | bytes) -> None:
        """Raises ValueError for bytes that are not a `Model`."""
    @property
    def description(self) -> ModelDescription:
        """The contract of its model."""
    @property
    def needs_onnxruntime(self) -> bool:
        """True where ONNX Runtime computes it; Weir itself computes the dense networks of `weir export`."""
    def run(self, observation: Sequence[float], objective: str | Sequence[float] = "balanced") -> list[float]:
        """Computes the action for one observation, shape [observation_size]; a recurrent model updates its state.

        Raises ValueError for a wrong size or objective, and for input or output that is not finite; the state is then
        reset.
        """
    def reset_state(self) -> None:
        """Resets the recurrent state to zeros, as at the start of a call."""

def onnxruntime_version() -> str:
    """Returns the version of the ONNX Runtime library, such as "1.31.1", which computes the models that Weir itself
    does not; empty without one.
    """

def apply_action(
    action: Sequence[float],
    current_rate_bps: int,
    *,
    kind: str,
    min_bps: int = 30_000,
    max_bps: int = 50_000_000,
    alpha: float = 0.025,
    multipliers: Sequence[float] = (),
) -> int:
    """Returns the rate in bps of an action, as the estimator computes it.

    `kind` is rate_bps, log_rate (-1 is `min_bps`, 1 `max_bps`, geometric in between), relative (MOCC Eq. 1 with
    `alpha`) or discrete (an index, or one score for each of `multipliers`).
    """

def write_remb(sender_ssrc: int, rate_bps: int, ssrcs: Sequence[int]) -> bytes:
    """Returns an RTCP REMB packet (draft-alvestrand-rmcat-remb-03); the rate is rounded down to 18 significant bits."""

def write_remote_estimate(link_capacity_lower_bps: int = 1_000_000_000) -> bytes:
    """Returns an RTCP packet, libwebrtc's RemoteEstimate (APP "goog", subtype 13; experimental there). Send it with
    each REMB if the answer keeps transport-cc: delay then lowers the rate of the sender's GCC to no less than 0.85
    times this lower bound of the link's capacity, so that REMB decides. 0 lifts it.
    """

def parse_remb(packet: bytes) -> Remb:
    """Reads one RTCP REMB packet."""
