"""How slowly a sender's encoder follows its target, fitted to a call that Weir controlled: what replays simulate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from weir.qoe_eval.call import logs
from weir.qoe_eval.call.webrtc_stats import Array, read_stats_log

_STEP_S = 0.05
# The encoder comes to speed, and a call that ends is none of its doing.
_SECONDS_LEFT_OUT = 3
_FEWEST_REPORTS = 20
_LOWEST_BPS = 30e3


@dataclass(frozen=True)
class EncoderLag:
    """Time constants with which the rate follows its target, first order in the logarithm; and the mean absolute error
    of the logarithm of the rate over the reports of the call, with this lag and without any.
    """

    rise_time_constant_s: float
    fall_time_constant_s: float
    error: float
    error_without_lag: float


def fit_encoder_lag(folder: Path, max_bitrate_bps: float) -> EncoderLag | None:
    """The lag that fits best what the sender's getStats say it sent (headers included), given Weir's targets and the
    path back; nothing where the logs of the call are too short, or not there.

    Raises:
        InputError: a log cannot be read.
    """
    times_us, targets_bps = logs.read_estimates(folder / logs.ESTIMATES)
    streams = read_stats_log(folder / logs.SENDER_STATS).of("outbound-rtp", "video")
    if not streams or not len(times_us):
        return None
    reports_s, payload = streams[0].series("bytesSent")
    headers_s, headers = streams[0].series("headerBytesSent")
    if len(reports_s) < _FEWEST_REPORTS or not np.array_equal(reports_s, headers_s):
        return None
    sent_bps = 8 * np.diff(payload + headers) / np.diff(reports_s)
    steps_s = np.arange(reports_s[0], reports_s[-1], _STEP_S)
    latest = np.searchsorted(times_us / 1e6, steps_s) - 1
    targets = np.log(np.clip(targets_bps[np.maximum(latest, 0)], _LOWEST_BPS, max_bitrate_bps))

    def error(rise_s: float, fall_s: float, share: float) -> float:
        rates_bps = share * np.exp(_followed(targets, rise_s, fall_s))
        sums = np.concatenate(([0.0], np.cumsum(rates_bps * _STEP_S)))
        bits = np.interp(reports_s, np.append(steps_s, steps_s[-1] + _STEP_S), sums)
        expected_bps = np.diff(bits) / np.diff(reports_s)
        errors = np.log(np.maximum(expected_bps, _LOWEST_BPS)) - np.log(np.maximum(sent_bps, _LOWEST_BPS))
        return float(np.mean(np.abs(errors[_SECONDS_LEFT_OUT:-1])))

    def best(objective: Callable[[Array], float], start: Array) -> OptimizeResult:
        # Logarithms keep the search among positive numbers; its first steps are by half.
        simplex = np.vstack([start, start + 0.5 * np.eye(len(start))])
        return minimize(objective, start, method="Nelder-Mead", options={"maxiter": 150, "initial_simplex": simplex})

    found = best(lambda x: error(*np.exp(x)), np.log([1.0, 0.3, 0.95]))
    without = best(lambda x: error(0.0, 0.0, np.exp(x[0])), np.log([0.95]))
    rise_s, fall_s, _ = np.exp(found.x)
    return EncoderLag(float(rise_s), float(fall_s), float(found.fun), float(without.fun))


def _followed(targets: Array, rise_s: float, fall_s: float) -> Array:
    rise, fall = (-float(np.expm1(-_STEP_S / max(constant, 1e-6))) for constant in (rise_s, fall_s))
    followed, now = [], float(targets[0])
    for target in targets.tolist():
        now += (target - now) * (rise if target > now else fall)
        followed.append(now)
    return np.array(followed)


def median_lag(folders: Sequence[Path], max_bitrate_bps: float) -> dict[str, float]:
    """Medians over calls, by the names of `EncoderLag`; nothing where no call tells any."""
    lags = [lag for folder in folders if (lag := fit_encoder_lag(folder, max_bitrate_bps)) is not None]
    names = [field.name for field in fields(EncoderLag)]
    return {name: round(median(getattr(lag, name) for lag in lags), 3) for name in names} if lags else {}
