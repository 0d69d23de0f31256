"""The flows of a scenario: RTP media, TCP, constant bit rate (format ``weir.scenario/1``)."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from weir_traces.schema import Flag, Name, NotNegative, Part, PositiveTime, Rate, Values

Direction = Literal["forward", "reverse"]
CONTROLLER_PATTERN = r"^[\x20-\x7e]{1,1024}$"
ControllerName = Annotated[str, Field(strict=True, pattern=CONTROLLER_PATTERN)]
"""A rate controller, a pool of several, or "under_test", which stands for the controller that a run compares. What
replays the scenario checks the name.
"""
Weight = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, lt=1)]
TransferBytes = Annotated[int, Field(strict=True, gt=0, le=1_000_000_000)]
MAX_FRAMES_PER_SECOND = 1000.0
MAX_PAUSES = 10_000
"""Three per second for an hour; replay time grows faster than linearly in the number of pauses."""
PositiveRate = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=10e9)]


def _in_order(pauses_s: list[list[float]]) -> list[list[float]]:
    end = 0.0
    for start, stop in pauses_s:
        if not end <= start < stop:
            raise ValueError(f"[{start:g}, {stop:g}] must end after its start and follow the one before")
        end = stop
    return pauses_s


# Intervals [from, to] in s, in order, without overlap.
Pauses = Annotated[
    Values[Annotated[list[NotNegative], Field(min_length=2, max_length=2)]],
    Field(max_length=MAX_PAUSES),
    AfterValidator(_in_order),
]


class FillerMedia(Part):
    """Media that always sends exactly the target rate, up to ``max_rate_bps``."""

    kind: Literal["filler"] = "filler"
    max_rate_bps: PositiveRate = 50e6


class VideoMedia(Part):
    """A video encoder after RFC 8593 (lag, frame-size noise, key frames), with Opus-like audio.

    ``minimum_output_share``: if below 1, the content at times needs less than the target, and the encoder outputs a
    share of it between this and 1 that changes every second or so. ``stall_probability``: the probability per frame
    that the camera or the encoder skips the next one to six. ``rise_time_constant_s``, ``fall_time_constant_s``: not 0
    for an encoder whose rate follows its target slowly: first order, in the logarithm of the rate, and without
    RFC 8593's bursts on abrupt changes. libvpx VP8 in Chromium 156 does so with about 0.6 and 0.25 s.
    ``initial_rate_bps``: the initial rate of such an encoder; 0: its first target.

    ``video_pauses_s``: times at which the camera is off and only audio is sent; video resumes with a key frame.
    ``audio_rate_bps`` is the rate of audio payload, in ``audio_packets_per_second``: 50 during speech, few with
    Opus DTX.
    """

    kind: Literal["video"]
    max_rate_bps: PositiveRate = 2.5e6
    frames_per_second: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.1, le=MAX_FRAMES_PER_SECOND)] = (
        30.0
    )
    key_frame_interval_s: PositiveTime = 10.0
    audio_rate_bps: Rate = 32e3
    audio_packets_per_second: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.1, le=1000)] = 50.0
    video_pauses_s: Pauses = Field(default_factory=list)
    minimum_output_share: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1)] = 1.0
    stall_probability: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)] = 0.0
    rise_time_constant_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=60)] = 0.0
    fall_time_constant_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=60)] = 0.0
    initial_rate_bps: Rate = 0.0


Media = Annotated[FillerMedia | VideoMedia, Field(discriminator="kind")]


class Flow(Part):
    """The fields of every flow. Times are in seconds of the scenario; ``stop_s`` null: until its end."""

    id: Name
    direction: Direction = "forward"
    start_s: NotNegative = 0.0
    stop_s: PositiveTime | None = None

    @model_validator(mode="after")
    def _stops_after_its_start(self) -> Flow:
        if self.stop_s is not None and self.stop_s <= self.start_s:
            raise ValueError(f"stop_s ({self.stop_s:g}) must be later than start_s ({self.start_s:g})")
        return self


class SenderClockSteps(Part):
    """Steps of a sender's clock: by ``steps_ms[i]`` (ms, negative: back) at ``times_s[i]`` (s, rising)."""

    times_s: Values[NotNegative] = Field(min_length=1)
    steps_ms: Values[Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e6, le=1e6)]] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> SenderClockSteps:
        if len(self.steps_ms) != len(self.times_s):
            raise ValueError(f"{len(self.times_s)} times_s and {len(self.steps_ms)} steps_ms; give as many of each")
        for index, (before_s, time_s) in enumerate(pairwise(self.times_s), 1):
            # Compare in whole ns, the simulator's unit.
            if round(time_s * 1e9) <= round(before_s * 1e9):
                raise ValueError(f"times_s[{index}]: must be later than the time before it")
        return self


class RtpFlow(Flow):
    """An RTP sender under a rate controller. ``objective``: weights of throughput, latency and loss, or null.

    abs-send-time and RTP timestamps follow the sender's clock: ``sender_clock_ppm`` is its rate error in ppm (positive:
    fast), ``sender_clock_offset_s`` its value at time 0. Null: the run's seed draws them (``variation``); if it is 0,
    the clock is right. ``sender_clock_steps``: steps of the clock.

    ``transport_cc``: a receiver with a controller keeps transport-cc in its answer, so that the sender paces and limits
    its window as GCC does. False: the sender gets REMB only. Also applies to calls.
    """

    kind: Literal["rtp"]
    id: Name = "media"
    controller: ControllerName = "under_test"
    fixed_rate_bps: PositiveRate | None = None
    pauses_s: Pauses = Field(default_factory=list)
    extra_one_way_delay_ms: NotNegative = 0.0
    min_rate_bps: PositiveRate = 30e3
    start_rate_bps: PositiveRate = 300e3
    objective: Annotated[list[Weight], Field(min_length=3, max_length=3)] | None = None
    sender_clock_ppm: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-5000, le=5000)] | None = None
    sender_clock_offset_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=64)] | None = None
    sender_clock_steps: SenderClockSteps | None = None
    transport_cc: Flag = True
    media: Media = FillerMedia()

    @model_validator(mode="after")
    def _consistent(self) -> RtpFlow:
        if self.objective is not None and abs(sum(self.objective) - 1) > 1e-6:
            raise ValueError(f"objective: the three weights must sum to 1, not {sum(self.objective):g}")
        if self.min_rate_bps > self.start_rate_bps:
            raise ValueError(
                f"start_rate_bps ({self.start_rate_bps:g}) must be at least min_rate_bps ({self.min_rate_bps:g})"
            )
        if self.min_rate_bps > self.media.max_rate_bps:
            raise ValueError(
                f"media.max_rate_bps ({self.media.max_rate_bps:g}) must be at least min_rate_bps {self.min_rate_bps:g}"
            )
        return self


class Transfers(Part):
    """Short transfers: sizes uniform in ``bytes`` [low, high], idle times exponential (RFC 8867, 5.7)."""

    bytes: Annotated[list[TransferBytes], Field(min_length=2, max_length=2)]
    idle_mean_s: NotNegative
    start_on: Flag = True

    @model_validator(mode="after")
    def _ordered(self) -> Transfers:
        if self.bytes[0] > self.bytes[1]:
            raise ValueError(f"bytes: the smallest size ({self.bytes[0]}) exceeds the largest ({self.bytes[1]})")
        return self


TcpCongestionControl = Literal["cubic", "bbr", "newreno", "linux_reno", "vegas", "copa"]
MAX_COPILOTS = 7
SINGLE, FUSED = "<one>", "<fused>"
"""Names of one congestion control and of several in pydantic's locations; not keys in a file."""


class FusedControls(Part):
    """Several congestion controls on one TCP connection, after PolyCC (SIGCOMM 2023).

    Each control computes a window from every acknowledgement. ``fusion`` combines the windows, and all controls
    continue from the result (``mean`` and ``median`` are geometric; ``pilot``: the pilot's window, the others have no
    influence). If the pilot paces, the pacing rates of all controls that pace are combined likewise. All else, such as
    recovery, is the pilot's. ``hand_back`` false: each control continues from its own window instead.
    """

    pilot: TcpCongestionControl
    copilots: list[TcpCongestionControl] = Field(min_length=1, max_length=MAX_COPILOTS)
    fusion: Literal["pilot", "max", "min", "median", "mean"]
    hand_back: Flag = True

    @model_validator(mode="after")
    def _distinct(self) -> FusedControls:
        controls = [self.pilot, *self.copilots]
        twice = next((control for control in controls if controls.count(control) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is there twice")
        return self

    def __str__(self) -> str:
        return f"{self.fusion}({', '.join([self.pilot, *self.copilots])})"


def _form(value: object) -> str:
    return FUSED if isinstance(value, dict | FusedControls) else SINGLE


CongestionControl = Annotated[
    Annotated[TcpCongestionControl, Tag(SINGLE)] | Annotated[FusedControls, Tag(FUSED)], Discriminator(_form)
]


class TcpFlow(Flow):
    """A TCP sender. ``transfers`` null: one endless transfer."""

    kind: Literal["tcp"]
    id: Name = "tcp"
    congestion_control: CongestionControl = "cubic"
    extra_one_way_delay_ms: NotNegative = 0.0
    transfers: Transfers | None = None


class CbrFlow(Flow):
    """Packets of ``packet_bytes`` (IP size) at a constant rate."""

    kind: Literal["cbr"]
    id: Name = "cross"
    rate_bps: PositiveRate
    packet_bytes: Annotated[int, Field(strict=True, ge=29, le=65535)] = 1200


AnyFlow = Annotated[RtpFlow | TcpFlow | CbrFlow, Field(discriminator="kind")]
