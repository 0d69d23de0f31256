"""Maps statistics to the names of W3C webrtc-stats: older Chrome has the type in an object's ID, Chrome's legacy
statistics begin with "goog", older Firefox writes types without hyphens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir_eval.json_lines import number
from weir_eval.webrtc_stats import NUMBERS

# In lower case, as Chrome wrote both RTP and Rtp.
_PREFIXES = (
    ("rtcinboundrtp", "inbound-rtp"), ("rtcoutboundrtp", "outbound-rtp"), ("rtcremoteinboundrtp", "remote-inbound-rtp"),
    ("rtcremoteoutboundrtp", "remote-outbound-rtp"), ("rtcicecandidatepair_", "candidate-pair"),
    ("rtctransport_", "transport"), ("rtcmediastreamtrack_", "track"), ("rtccodec_", "codec"),
    ("rtcvideosource_", "media-source"), ("rtcaudiosource_", "media-source"),
)  # fmt: skip
_OLD_TYPES = {
    "inboundrtp": "inbound-rtp", "outboundrtp": "outbound-rtp", "candidatepair": "candidate-pair",
    "googCandidatePair": "candidate-pair", "VideoBwe": "candidate-pair",
}  # fmt: skip
_LEGACY: dict[str, dict[str, tuple[str, float]]] = {
    "inbound-rtp": {
        "googFrameWidthReceived": ("frameWidth", 1), "googFrameHeightReceived": ("frameHeight", 1),
        "googFrameRateDecoded": ("framesPerSecond", 1), "googJitterReceived": ("jitter", 1e-3),
        "googNacksSent": ("nackCount", 1), "googPlisSent": ("pliCount", 1),
        "googFrameRateReceived": ("framesReceived", 1),
    },
    "outbound-rtp": {
        "googFrameWidthSent": ("frameWidth", 1), "googFrameHeightSent": ("frameHeight", 1),
        "googFrameRateSent": ("framesPerSecond", 1), "googNacksReceived": ("nackCount", 1),
        "googPlisReceived": ("pliCount", 1), "googCpuLimitedResolution": ("qualityLimitationReason", 1),
    },
    "candidate-pair": {
        "googRtt": ("currentRoundTripTime", 1e-3), "googAvailableSendBandwidth": ("availableOutgoingBitrate", 1),
        "googAvailableReceiveBandwidth": ("availableIncomingBitrate", 1),
    },
}  # fmt: skip
_REPORTED: dict[str, tuple[str, float]] = {"packetsLost": ("packetsLost", 1), "googRtt": ("roundTripTime", 1e-3)}
LEGACY_RATES = {"googFrameRateReceived"}
"""Rates per second that replace a counter."""


def type_of(identifier: str, stated: Any) -> str:
    """The type of an object: the given one, else that in its ID; empty if there is none."""
    if isinstance(stated, str) and stated and stated != "ssrc":
        return _OLD_TYPES.get(stated, stated)
    if is_legacy(identifier):
        if identifier.startswith("ssrc_"):
            return "outbound-rtp" if identifier.endswith("_send") else "inbound-rtp"
        return "candidate-pair"
    lower = identifier.lower()
    return next((kind for prefix, kind in _PREFIXES if lower.startswith(prefix)), "")


def kind_of(identifier: str) -> str:
    """video or audio if an object's ID has it, else empty."""
    lower = identifier.lower()
    return next((kind for kind in ("video", "audio") if lower.startswith("rtc") and kind in lower), "")


def is_legacy(identifier: str) -> bool:
    """True for an object of Chrome's legacy statistics, whose values may be texts."""
    ends = identifier.endswith(("_recv", "_send"))
    return (identifier.startswith("ssrc_") and ends) or identifier.startswith(("Conn-", "bweforvideo"))


def legacy_place(identifier: str, name: str, sender: str) -> tuple[str, str, str, float] | None:
    """ID, type, name and factor of a legacy statistic that belongs to another object; None for all others.

    A sending stream includes the remote report, and the bandwidth estimate the encoder target of the video ``sender``.
    """
    if name in _REPORTED and identifier.startswith("ssrc_") and identifier.endswith("_send"):
        return f"{identifier}_report", "remote-inbound-rtp", *_REPORTED[name]
    if name == "googTargetEncBitrate" and identifier == "bweforvideo" and sender:
        return sender, "outbound-rtp", "targetBitrate", 1
    return None


def standard_name(identifier: str, kind_of_object: str, name: str) -> tuple[str, float]:
    """The name of a member, and the factor from its unit to that of webrtc-stats."""
    return _LEGACY.get(kind_of_object, {}).get(name, (name, 1)) if is_legacy(identifier) else (name, 1)


def standard_value(value: Any, scale: float) -> Any:
    """Scales a number or the number in a text; maps legacy "true" to "cpu" and "false" to "none"; else no change."""
    if value in ("true", "false"):
        return "cpu" if value == "true" else "none"
    try:
        found = number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return value
    return value if found is None else found * scale


def standard_members(identifier: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object of a report, including `type`, with the names of webrtc-stats."""
    kind_of_object = type_of(identifier, members.get("type"))
    if members.get("isRemote") is True and kind_of_object in ("inbound-rtp", "outbound-rtp"):
        kind_of_object = f"remote-{kind_of_object}"
    found: dict[str, Any] = {}
    if kind := kind_of(identifier):
        found["kind"] = kind
    legacy = is_legacy(identifier)
    for name, value in members.items():
        new, scale = standard_name(identifier, kind_of_object, name) if legacy else (name, 1)
        # Android writes 64-bit numbers as texts. The SSRC remains a text.
        is_number = (legacy and new != "ssrc") or (isinstance(value, str) and new in NUMBERS.get(kind_of_object, ()))
        found[new] = standard_value(value, scale) if is_number else value
    return found | {"type": kind_of_object}
