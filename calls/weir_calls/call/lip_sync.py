"""Lip sync of a call's receiver."""

from __future__ import annotations

import re

from weir_calls.link.child_process import Message

# The media stream of a track (RFC 8830), in its own attribute and in that of its source. "-" is no stream.
_STREAM = re.compile(r"^(a=(?:ssrc:\d+ )?msid:)(?!- )(\S+)", re.MULTILINE)


def without_lip_sync(message: Message) -> Message:
    """Returns a message of the sender in which audio has a media stream of its own, if it has a description: the offer,
    or an answer during the call. libwebrtc synchronizes only the audio and video of one stream, so that its receiver
    then renders video without waiting for audio.
    """
    if "sdp" not in message:
        return message
    audio = re.compile(r"^m=audio.*?(?=^m=|\Z)", re.MULTILINE | re.DOTALL)
    return message | {"sdp": audio.sub(_with_own_stream, message["sdp"])}


def _with_own_stream(section: re.Match[str]) -> str:
    return _STREAM.sub(r"\1\2-audio", section[0])
