"""The C++ estimator library.

Times are integers in microseconds of one monotonic clock, rates integers in bits per second.

Calls on one object must not overlap. Bad input raises ValueError with one sentence.
"""

from collections.abc import Sequence
from typing import Any

__version__: str
ONNXRUNTIME_VERSION: str
"""The version of the ONNX Runtime library in use, such as "1.31.1"."""
INTERVAL_STATISTICS_FIELDS: tuple[str, ...]
"""The names of the statistics of a decision interval; see estimator/include/weir/arrival/interval_statistics.h."""
CONTROLLERS: tuple[str, ...]
"""The names of the receiver-side controllers that need no model."""

class Estimate:
    """What the receiver tells the sender."""

    @property
    def at_time_us(self) -> int:
        """When it was made."""
    @property
    def target_rate_bps(self) -> int:
        """The rate the sender may use, above 0."""
    @property
    def reason(self) -> str:
        """One of start, pilot, copilot, fallback, held, guard_finite, guard_bounds, guard_slew, guard_stale."""

class BandwidthEstimator:
    """The receiver's estimator: packets in, estimates out.

    The host calls `on_packet` for each RTP packet and `on_timeout` when `next_timeout_us` has come, and sends a REMB
    whenever the latter returns an estimate.
    """

    def __init__(
        self,
        controller: str | None = None,
        *,
        model: bytes | None = None,
        min_rate_bps: int = 30_000,
        start_rate_bps: int = 300_000,
        max_rate_bps: int = 50_000_000,
        objective: str | Sequence[float] = "balanced",
        guard: bool = True,
    ) -> None:
        """Takes either a controller of `CONTROLLERS` ("fixed" keeps the start rate) or an ONNX model.

        `objective` is balanced, throughput or latency, or three weights above 0 (throughput, latency, loss) that are
        divided by their sum. Without `guard` only finiteness and bounds are kept.
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
    ) -> None:
        """Takes one RTP packet as received.

        `kind` is video, audio, probe or retransmission. `abs_send_time` is the 24-bit header extension; where it is
        missing, the RTP timestamp and its clock rate serve (0: unknown). Duplicate, late and impossible packets are
        counted, no error.
        """
    def on_timeout(self, now_us: int) -> Estimate | None:
        """Returns an estimate exactly when feedback is due. The first call begins the estimator's life."""
    @property
    def next_timeout_us(self) -> int:
        """When to call `on_timeout` next; -2**63 for at once."""
    def set_objective(self, objective: str | Sequence[float]) -> None:
        """Changes the objective during the call."""
    def set_constraints(self, *, min_rate_bps: int, start_rate_bps: int, max_rate_bps: int, now_us: int) -> None:
        """Changes the bounds during the call; the start rate matters only before the first `on_timeout`."""
    def on_round_trip_time(self, round_trip_time_us: int, now_us: int) -> None:
        """Tells the round-trip time; ignored unless above 0 and at most a minute."""
    @property
    def latest(self) -> Estimate:
        """The rate in force, whether or not it was fed back yet."""
    @property
    def pilot_suspended(self) -> bool:
        """Whether the controller fails and the fallback, the ten-line rule, has taken over."""
    def counters(self) -> dict[str, int]:
        """How often it decided, failed and sent feedback, each rule of the guard spoke, and something odd arrived."""
    def remb(self, sender_ssrc: int) -> bytes:
        """An RTCP REMB with the rate in force about the SSRCs seen, at most 255."""

class Policy:
    """An ONNX policy, checked against its contract (estimator/include/weir/policy/policy.h)."""

    def __init__(self, model: bytes) -> None:
        """Raises ValueError when the model is not one, is malformed, or does not do what its metadata says."""
    @property
    def description(self) -> dict[str, Any]:
        """As `describe_model`."""
    def run(self, observation: Sequence[float], objective: str | Sequence[float] = "balanced") -> list[float]:
        """Computes the action for one observation, shape [observation_size]; a recurrent model remembers.

        Raises ValueError for a wrong size and for input or output that is not finite; the state is then reset.
        """
    def reset_state(self) -> None:
        """Recurrent state to zeros, as at the start of a call."""

def describe_model(model: bytes) -> dict[str, Any]:
    """What a model says of itself, after all checks.

    Keys: format ("weir/1" or "mmsys2024"), name, version, provenance, features, history, interval_ms, action_kind,
    action_alpha, action_multipliers, min_bps, max_bps, observation_size, action_size, state_size, takes_objective.
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
    """The rate in bps that follows from an action, as the estimator computes it.

    `kind` is rate_bps, log_rate (-1 is `min_bps`, 1 `max_bps`, geometric in between), relative (MOCC Eq. 1 with
    `alpha`) or discrete (an index, or one score for each of `multipliers`).
    """

def write_remb(sender_ssrc: int, rate_bps: int, ssrcs: Sequence[int]) -> bytes:
    """One RTCP REMB packet (draft-alvestrand-rmcat-remb-03); the rate is rounded down to 18 significant bits."""

def parse_remb(packet: bytes) -> dict[str, Any]:
    """Reads one RTCP REMB packet: sender_ssrc, rate_bps, ssrcs."""
