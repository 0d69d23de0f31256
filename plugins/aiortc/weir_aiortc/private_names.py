"""What of aiortc has no public name, and whether it is there."""

from __future__ import annotations

from importlib.metadata import version

from aiortc import RTCDtlsTransport, RTCRtpTransceiver

TRIED_VERSION = "1.16.0"
"""Of aiortc; another may have other private names."""


class UnsupportedAiortcError(RuntimeError):
    """This aiortc has not what the plug-in stands on; the message says what, and which version has."""


def check_transport(transport: RTCDtlsTransport) -> None:
    """Raises UnsupportedAiortcError when a transport lacks what `TransportTap` replaces or calls."""
    router = getattr(transport, "_rtp_router", None)
    _require(transport, "_handle_rtp_data", "_send_rtp", "_rtp_router")
    _require(router, "route_rtp", "route_rtcp", "ssrc_table")


def check_transceiver(transceiver: RTCRtpTransceiver) -> None:
    """Raises UnsupportedAiortcError when a transceiver does not tell its codecs or the SSRC of its RTCP."""
    _require(transceiver, "_codecs")
    _require(transceiver.sender, "_ssrc")


def _require(owner: object, *names: str) -> None:
    for name in names:
        if not hasattr(owner, name):
            raise UnsupportedAiortcError(
                f"aiortc {version('aiortc')} has no {type(owner).__name__}.{name}, which weir_aiortc needs: "
                f"install aiortc {TRIED_VERSION}"
            )
