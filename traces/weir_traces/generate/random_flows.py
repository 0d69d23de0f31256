"""Flows of the random domain: media with the sender's clock, and competitors. See `random_domain`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weir_traces.generate.drawing import log_uniform
from weir_traces.generate.random_path import drawn_kind

HIGHEST_BPS = 50e6

_COMPETITORS = {"cubic": 0.06, "newreno": 0.03, "bbr": 0.04, "cbr": 0.10, "rtp": 0.07}
_CLOCKS = {"wrong": 0.20}
_CLOCK_STEPS = {"set": 0.02}
_SCREEN_SHARE, _PAUSED_SHARE = 0.15, 0.10
"""Shares of unsteady video."""
_DTX_SHARE = 0.5
"""Share of the pauses."""
DTX = {"audio_packets_per_second": 1.0, "audio_rate_bps": 640.0}
"""Audio of a silent speaker, with discontinuous transmission."""


def media_flow(rng: np.random.Generator, mean_bps: float, duration_s: float, calm: bool) -> dict[str, Any]:
    """The RTP flow under test on a link with this mean capacity."""
    return {"kind": "rtp", "id": "media", "media": _media(rng, mean_bps, duration_s)} | _clock(rng, duration_s, calm)


def _media(rng: np.random.Generator, mean_bps: float, duration_s: float) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.40:
        return {"kind": "filler", "max_rate_bps": HIGHEST_BPS}
    if draw < 0.48:
        return {"kind": "filler", "max_rate_bps": float(max(50e3, round(mean_bps * rng.uniform(0.2, 1.0))))}
    if draw < 0.68:
        return {
            "kind": "video",
            "max_rate_bps": float(round(np.clip(mean_bps * log_uniform(rng, 0.2, 1.5), 100e3, 20e6))),
            "frames_per_second": float(rng.choice([15, 25, 30, 60])),
        }
    return _unsteady_video(rng, mean_bps, duration_s)


def _unsteady_video(rng: np.random.Generator, mean_bps: float, duration_s: float) -> dict[str, Any]:
    """Scenario fields of video like that of real encoders, on a path with this mean capacity.

    At most half to three times the mean capacity, 100 kbps to 20 Mbps; outputs 10 to 100 % of its target; 70 % skip
    frames, up to 8 % of them; half follow their target slowly, as libvpx does (see `VideoMedia`); half have no
    audio. Some show a screen, some pause for a while.
    """
    media: dict[str, Any] = {
        "kind": "video",
        "max_rate_bps": float(round(np.clip(mean_bps * log_uniform(rng, 0.5, 3.0), 100e3, 20e6))),
        "frames_per_second": float(rng.choice([15, 25, 30, 30, 60])),
        "minimum_output_share": round(float(rng.uniform(0.1, 1.0)), 3),
        "stall_probability": round(float(rng.uniform(0.0, 0.08)), 4) if rng.random() < 0.7 else 0.0,
        "audio_rate_bps": float(rng.choice([0.0, 32e3])),
    }
    if rng.random() < 0.5:
        media["rise_time_constant_s"] = round(log_uniform(rng, 0.5, 3.0), 3)
        media["fall_time_constant_s"] = round(log_uniform(rng, 0.1, 0.5), 3)
    if rng.random() < _SCREEN_SHARE:
        media["frames_per_second"] = float(rng.integers(5, 15, endpoint=True))
    if rng.random() < _PAUSED_SHARE:
        from_s = round(float(rng.uniform(0.15, 0.6)) * duration_s, 2)
        media["video_pauses_s"] = [[from_s, round(from_s + min(float(rng.uniform(3, 20)), 0.35 * duration_s), 2)]]
        if rng.random() < _DTX_SHARE:
            media |= DTX
    return media


def _clock(rng: np.random.Generator, duration_s: float, calm: bool) -> dict[str, Any]:
    wrong = drawn_kind(rng, _CLOCKS, calm) == "wrong"
    ppm = log_uniform(rng, 20, 3000) * _sign(rng) if wrong else rng.uniform(-20, 20)
    clock: dict[str, Any] = {
        "sender_clock_ppm": round(float(ppm), 2),
        "sender_clock_offset_s": round(float(rng.uniform(0, 64)), 6),
    }
    if drawn_kind(rng, _CLOCK_STEPS, calm) == "set":
        times_s = np.unique((rng.uniform(0.05, 0.95, int(rng.integers(1, 4))) * duration_s).round(6))
        steps_ms = [round(log_uniform(rng, 10, 5000) * _sign(rng), 3) for _ in times_s]
        clock["sender_clock_steps"] = {"times_s": times_s.tolist(), "steps_ms": steps_ms}
    return clock


def _sign(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def competitors(rng: np.random.Generator, mean_bps: float, duration_s: float, calm: bool) -> list[dict[str, Any]]:
    """At most one competitor, active for a part of the time on a link with this mean capacity."""
    kind = drawn_kind(rng, _COMPETITORS, calm)
    if kind == "none":
        return []
    start = round(rng.uniform(0.0, 0.6) * duration_s, 3)
    stop = round(min(duration_s, start + rng.uniform(0.2, 0.6) * duration_s), 3)
    when = {"start_s": start, "stop_s": stop}
    if kind == "cbr":
        return [{"kind": kind, "id": "cross", "rate_bps": float(round(mean_bps * rng.uniform(0.1, 0.5)))} | when]
    if kind == "rtp":
        return [{"kind": kind, "id": "competitor", "extra_one_way_delay_ms": round(rng.uniform(0, 50), 1)} | when]
    return [{"kind": "tcp", "id": "tcp", "congestion_control": kind} | when]
