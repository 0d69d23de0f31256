"""The media of calls, real and virtual; a scenario has only rates and times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from pydantic import JsonValue

from weir_cli.errors import InputError
from weir_cli.installation import missing_distribution

if TYPE_CHECKING:
    from weir_eval.runs.simulator_worker import RunJob


SenderKind = Literal["chromium", "native"]
RepairMode = Literal["adaptive", "nack", "fec"]
PlayoutMode = Literal["adaptive", "limited", "unlimited"]
ENDS: Final[tuple[SenderKind, ...]] = get_args(SenderKind)
DEFAULT_MAX_BITRATE_BPS: Final = 2_500_000
"""The limit of common video calls; every sender observes it, under every controller."""


class Encoder(StrEnum):
    """The video encoder of virtual calls. `FAKE` is fast: its frames have VP8's sizes, but no pictures."""

    VP8 = "VP8"
    VP9 = "VP9"
    FAKE = "fake"


@dataclass(frozen=True)
class Room:
    """A room of an SFU: each flow under test is a subscriber's downlink, with all publishers in three simulcast layers.

    Its controllers are `weir-send`, with Weir's allocator of layers, and `gcc`, with the rules of mediasoup, or those
    of `allocation`.
    """

    cameras: int = 0
    screens: int = 0
    allocation: Literal["weir", "mediasoup", "livekit"] | None = None


@dataclass(frozen=True)
class CallMedia:
    """The video of a virtual call, at 30 frames per second.

    `sender`: uses the settings of this sender of `weir call`. `vmaf`: receivers decode, audio is Opus, and rendered and
    played media are compared with the sources. `video`: the y4m that is sent; None: a generated picture. `speech`: the
    WAV file that is sent with `vmaf`; None: noise. `run`: runs a job and measures its rendered media.
    `with_sources` sets these three. `repair`: repair of losses in calls with Weir at one end: chosen by Weir, or
    without FEC, or with the FEC of libwebrtc's own table. `playout`: limits for how long audio and video are held in
    calls with Weir at one end, in all calls or in none. Weir at the sender limits video by the header extension
    playout-delay, 100 to 250 ms by jitter and round trip of the receiver's reports; in other calls the receiver limits
    its own, video to 150 ms, and the memory of its audio buffer. `room`: subscribers of a room in place of calls
    between two peers; needs the encoder `FAKE`, and the size, sender, repair and playout have no effect.

    Raises:
        InputError: `vmaf` with frames that have no pictures.
    """

    encoder: Encoder = Encoder.VP8
    width: int = 640
    height: int = 360
    sender: SenderKind = "chromium"
    vmaf: bool = False
    video: Path | None = None
    speech: Path | None = None
    run: RunJob[Any] | None = None
    repair: RepairMode = "adaptive"
    playout: PlayoutMode = "adaptive"
    room: Room | None = None

    def __post_init__(self) -> None:
        if self.vmaf and self.encoder is Encoder.FAKE:
            raise InputError("--vmaf: frames of the fake encoder have no pictures; use --encoder VP8 or VP9")

    def description(self) -> dict[str, JsonValue]:
        """The form in records."""
        return self._format() | ({"vmaf": True} if self.vmaf else {})

    def request(self) -> dict[str, JsonValue]:
        """The form in a job, without the folder for received media."""
        files = {"video": self.video, "speech": self.speech}
        return self._format() | {name: str(path) for name, path in files.items() if path}

    def _format(self) -> dict[str, JsonValue]:
        form: dict[str, JsonValue] = {
            "encoder": self.encoder.value,
            "width": self.width,
            "height": self.height,
            "sender": self.sender,
        }
        if self.repair != "adaptive":
            form["repair"] = self.repair
        if self.playout != "adaptive":
            form["playout"] = self.playout
        if self.room:
            room: dict[str, JsonValue] = {"cameras": self.room.cameras, "screens": self.room.screens}
            form["room"] = room | ({"allocation": self.room.allocation} if self.room.allocation else {})
        return form


def with_sources(media: CallMedia) -> CallMedia:
    """The media with the files that calls send: the video, and with `vmaf` the speech. `weir-calls` makes missing ones;
    it registers its function as an entry point of the group `weir.call_media`.

    Raises:
        InputError: the size is not supported, or a file cannot be written.
        MissingComponent: `weir-calls`, or a program that it needs, is not installed.
    """
    if media.encoder is Encoder.FAKE:
        return media
    for entry in entry_points(group="weir.call_media"):
        return cast(CallMedia, entry.load()(media))
    raise missing_distribution(f"media of the encoder {media.encoder} need", "weir-calls")
