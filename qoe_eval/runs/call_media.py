"""The media of virtual calls: what a scenario, which knows rates and times alone, leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from weir.qoe_eval.call.media import source_video


class Encoder(StrEnum):
    """The video encoder of virtual calls. `FAKE` has frames of VP8's sizes without pictures, and is fast."""

    VP8 = "VP8"
    VP9 = "VP9"
    FAKE = "fake"


@dataclass(frozen=True)
class CallMedia:
    """The video of a virtual call, at 30 frames per second."""

    encoder: Encoder = Encoder.VP8
    width: int = 640
    height: int = 360

    def description(self) -> dict[str, JsonValue]:
        """As in records."""
        return {"encoder": self.encoder.value, "width": self.width, "height": self.height}

    def request(self) -> dict[str, JsonValue]:
        """As in a job. Makes the source video, which calls send, where it is missing.

        Raises:
            InputError: the size cannot be made, or the file not written.
        """
        if self.encoder is Encoder.FAKE:
            return self.description()
        return self.description() | {"video": str(source_video.source_video_path(self.width, self.height))}
