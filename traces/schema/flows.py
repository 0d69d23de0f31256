"""The flows of a scenario: RTP media, TCP, constant bit rate (format ``weir.scenario/1``)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, PlainSerializer, Tag, WrapValidator, model_validator

from weir._core import parse_pool
from weir.registry import SIMULATED, is_pool
from weir.traces.schema import Flag, Name, NotNegative, Part, PositiveTime, Rate, Values

Direction = Literal["forward", "reverse"]
# "under_test": the one that a run compares.
if TYPE_CHECKING:
    ControllerName = str
else:

    def _name_or_pool(controller: object, validate_name: Callable[[object], str]) -> str:
        if not isinstance(controller, str) or not is_pool(controller):
            return validate_name(controller)
        parse_pool(controller)
        return controller

    ControllerName = Annotated[Literal["under_test", *SIMULATED], WrapValidator(_name_or_pool), PlainSerializer(str)]
Weight = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, lt=1)]
TransferBytes = Annotated[int, Field(strict=True, gt=0, le=1_000_000_000)]
MAX_FRAMES_PER_SECOND = 1000.0
MAX_PAUSES = 10_000
"""Three a second of an hour; the time that a replay takes rises faster than their number."""
PositiveRate = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=10e9)]


def _in_order(pauses_s: list[list[float]]) -> list[list[float]]:
    end = 0.0
    for start, stop in pauses_s:
        if not end <= start < stop:
            raise ValueError(f"[{start:g}, {stop:g}] must end after its start and follow the one before")
        end = stop
    return pauses_s


# From and to, in order and apart.
Pauses = Annotated[
    Values[Annotated[list[NotNegative], Field(min_length=2, max_length=2)]],
    Field(max_length=MAX_PAUSES),
    AfterValidator(_in_order),
]


class FillerMedia(Part):
    """Media that always has exactly as much to send as the target allows, up to ``max_rate_bps``."""

    kind: Literal["filler"] = "filler"
    max_rate_bps: PositiveRate = 50e6


class VideoMedia(Part):
    """A video encoder after RFC 8593 (lag, frame-size noise, key frames), with Opus-like audio beside it.

    ``minimum_output_share``: below 1 the content is at times easier than the target allows, and the encoder puts out a
    share of it that changes every second or so, between this and 1. ``stall_probability``: per frame, that the camera
    or the encoder skips the next one to six. ``rise_time_constant_s``, ``fall_time_constant_s``: not 0 for an encoder
    whose rate follows its target slowly, upwards and downwards: first order, in the logarithm of the rate, and without
    RFC 8593's bursts on abrupt changes. libvpx VP8 in Chromium 156 does so with about 0.6 and 0.25 s.
    ``initial_rate_bps``: what such an encoder begins at; 0: at its first target.

    ``video_pauses_s``: when the camera is off and only audio goes on; video comes back with a key frame.
    ``audio_rate_bps`` is that of audio's payload, in ``audio_packets_per_second``: 50 while someone speaks, few with
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
    """The fields of every flow. Times in seconds of the scenario; ``stop_s`` null: until its end."""

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
    """When a sender's clock is set: by ``steps_ms[i]`` (ms, below 0 back) at ``times_s[i]`` (s, rising)."""

    times_s: Values[NotNegative] = Field(min_length=1)
    steps_ms: Values[Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e6, le=1e6)]] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> SenderClockSteps:
        if len(self.steps_ms) != len(self.times_s):
            raise ValueError(f"{len(self.times_s)} times_s and {len(self.steps_ms)} steps_ms; give as many of each")
        for index, (before_s, time_s) in enumerate(pairwise(self.times_s), 1):
            # In whole ns, the simulator's unit.
            if round(time_s * 1e9) <= round(before_s * 1e9):
                raise ValueError(f"times_s[{index}]: must be later than the time before it")
        return self


class RtpFlow(Flow):
    """An RTP sender under a rate controller. ``objective``: weights of throughput, latency and loss, or null.

    abs-send-time and RTP timestamps show the sender's clock: ``sender_clock_ppm`` is how much too fast it goes, in
    parts per million, ``sender_clock_offset_s`` its value at time 0. Null, in a file that leaves them to a run's
    seed (``variation``): a right clock. ``sender_clock_steps``: when it is set, and by how much.

    ``transport_cc``: whether the answer of a receiver with a controller keeps transport-cc, so that the sender paces,
    and keeps a window, as GCC does. False: REMB is all that the sender has. For calls too.
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
ONE, ALL = "<one>", "<fused>"
"""How pydantic's locations name one congestion control and several; no keys of a file."""


class FusedControls(Part):
    """Several congestion controls on one TCP connection, after PolyCC (SIGCOMM 2023).

    Each works out a window from every acknowledgement; ``fusion`` makes one of them, which all then go on from
    (``mean`` and ``median`` geometric; ``pilot``: its own, the others watch). Of the pacing rates of those that pace
    likewise, if the pilot does. All else, recovery too, is the pilot's. ``hand_back`` false: the connection has what is
    fused, and each control goes on from its own.
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
    return ALL if isinstance(value, dict | FusedControls) else ONE


CongestionControl = Annotated[
    Annotated[TcpCongestionControl, Tag(ONE)] | Annotated[FusedControls, Tag(ALL)], Discriminator(_form)
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
