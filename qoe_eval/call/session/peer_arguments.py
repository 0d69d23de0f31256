"""Command lines of weir-peer for the ends of a call."""

from __future__ import annotations

import json
from pathlib import Path

from weir.qoe_eval.call.logs import file_names
from weir.qoe_eval.call.settings import CallSettings
from weir.registry import is_pool, pool_members

STATS_INTERVAL_MS = 1000
MIN_BITRATE_BPS = 30_000
START_BITRATE_BPS = 300_000
# An estimate counts headers and retransmissions, the encoder's bound does not: without room above the latter the
# estimator, not the encoder, would bound the media.
_HEADROOM = 1.25


def receiver_arguments(settings: CallSettings, address: str, model: Path | None) -> list[str]:
    """The receiving end: the estimator, and every received frame into a file.

    Args:
        settings: the call.
        address: what it binds to.
        model: of the controllers `weir` and `shadow`; None where the sender decides.
    """
    frames = settings.out / file_names.FRAMES
    return [
        *_common("receive", settings, address, round(_HEADROOM * settings.max_bitrate_bps)),
        *_decides(settings, model),
        *(["--own-controller", json.dumps(settings.own.job() | {"name": settings.own.name})] if settings.own else []),
        "--frames",
        str(frames),
        "--frames-size",
        f"{settings.width}x{settings.height}",
    ]


def sender_arguments(settings: CallSettings, address: str, video: Path, model: Path | None) -> list[str]:
    """The native sending end; its controller follows what the receiver's makes of the call, or decides with `model`."""
    decides = _decides(settings, model) if settings.decided_at_sender else []
    return [*_common("send", settings, address, settings.max_bitrate_bps), *decides, "--video", str(video)]


def _decides(settings: CallSettings, model: Path | None) -> list[str]:
    weights = ",".join(f"{weight:g}" for weight in settings.objective)
    return [*(["--model", str(model)] if model else []), "--objective", weights]


def _common(role: str, settings: CallSettings, address: str, max_bitrate_bps: int) -> list[str]:
    # In shadow GCC is in charge, at both ends. Where the sender decides, the receiver reports as it does for GCC. A
    # controller of the user's own decides where Weir's policy would.
    # A pool is the receiver's, and its sender follows REMB as Weir's does; or has GCC too, and takes the smaller.
    reports_only = settings.decided_at_sender if role == "receive" else settings.controller == "shadow"
    controller = "gcc" if reports_only else settings.controller
    if role == "send" and is_pool(controller):
        controller = "gcc" if "gcc" in pool_members(controller) else "weir"
    controller = "weir" if settings.own else controller
    return [
        *("--role", role),
        *("--controller", controller),
        *("--codec", settings.codec),
        *("--bind-address", address),
        *("--min-bitrate-bps", str(MIN_BITRATE_BPS)),
        *("--start-bitrate-bps", str(START_BITRATE_BPS)),
        *("--max-bitrate-bps", str(max_bitrate_bps)),
        *("--stats-interval-ms", str(STATS_INTERVAL_MS)),
    ]
