"""Lip sync of a call's receiver."""

from __future__ import annotations

import re

# The media stream of a track (RFC 8830), in its own attribute and in that of its source. "-" is no stream.
_STREAM = re.compile(r"^(a=(?:ssrc:\d+ )?msid:)(?!- )(\S+)", re.MULTILINE)


def without_lip_sync(sdp: str) -> str:
    """Returns a description in which audio has a media stream of its own. libwebrtc synchronizes only the audio and
    video of one stream, so that its receiver then renders video without waiting for audio.
    """
    return re.sub(r"^m=audio.*?(?=^m=|\Z)", _with_own_stream, sdp, flags=re.MULTILINE | re.DOTALL)


def _with_own_stream(section: re.Match[str]) -> str:
    return _STREAM.sub(r"\1\2-audio", section[0])
