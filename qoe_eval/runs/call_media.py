"""The media of virtual calls. A scenario has rates and times alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import JsonValue


class Encoder(StrEnum):
    """The video encoder of virtual calls. `FAKE` has frames of VP8's sizes without pictures, and is fast."""

    VP8 = "VP8"
    VP9 = "VP9"
    FAKE = "fake"


@dataclass(frozen=True)
class CallMedia:
    """The video of a virtual call, at 30 frames per second.

    `sender`: with the settings of that of `weir call`. `video`: the y4m that is sent; None: a generated picture.
    """

    encoder: Encoder = Encoder.VP8
    width: int = 640
    height: int = 360
    sender: Literal["chromium", "native"] = "chromium"
    video: Path | None = None

    def description(self) -> dict[str, JsonValue]:
        """As in records."""
        return {"encoder": self.encoder.value, "width": self.width, "height": self.height, "sender": self.sender}

    def request(self) -> dict[str, JsonValue]:
        """As in a job."""
        return self.description() | ({"video": str(self.video)} if self.video else {})
