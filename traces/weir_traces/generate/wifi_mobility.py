"""Synthetic Wi-Fi capacity of a walking client: path loss by distance, log-normal shadowing, random waypoint."""

from __future__ import annotations

import numpy as np

from weir_cli.errors import InputError
from weir_traces.generate.drawing import Array, correlated, grid, make_trace, require
from weir_traces.generate.radio import scheme_shares
from weir_traces.schema.capacity import CapacityTrace

TRANSMIT_POWER_DBM = 20.0
"""The European limit at 2.4 GHz (ETSI EN 300 328)."""

LOSS_AT_1_M_DB = 40.0
"""Free-space path loss at 2.4 GHz: 20 log10(4 pi d / wavelength)."""

NOISE_DBM = -94.0
"""Thermal noise in 20 MHz plus a receiver noise figure of 7 dB."""

SNR_AT_1_M_DB = TRANSMIT_POWER_DBM - LOSS_AT_1_M_DB - NOISE_DBM


def wifi_mobility(
    rng: np.random.Generator,
    duration_s: float,
    rate_bps: float,
    *,
    path_loss_exponent: float = 4.0,
    shadowing_db: float = 5.0,
    distance_m: float = 20.0,
    speed_mps: float = 1.2,
    coherence_s: float = 1.5,
    interval_s: float = 0.1,
) -> CapacityTrace:
    """A Wi-Fi link to a client that walks from point to point in a disc around the access point.

    The log-distance model: the signal loses ``10 path_loss_exponent`` dB whenever the distance grows tenfold, and
    log-normal shadowing with an exponential autocorrelation in time. The modulation and coding scheme is the fastest
    whose threshold the signal-to-noise ratio meets, else the slowest. The client starts ``distance_m`` away and
    goes in straight lines to points uniform in the disc of that radius (random waypoint, without pauses).

    Args:
        rate_bps: rate of the fastest scheme.
        path_loss_exponent: 2 (free space) to 6 (through walls).
        shadowing_db: standard deviation, 0..20 dB.
        distance_m: initial and largest distance from the access point, 1..500 m.
        speed_mps: 0..10 m/s.
        coherence_s: time in which the correlation of the shadowing falls to 1/e, 0.2..10 s.
        interval_s: length of a sample.
    """
    require(duration_s, rate_bps)
    if not (0 < path_loss_exponent <= 10 and 0 <= shadowing_db <= 100 and 0 < coherence_s < np.inf):
        raise InputError("wifi_mobility: needs 0 < path_loss_exponent <= 10, 0 <= shadowing_db <= 100, coherence_s > 0")
    if not (1 <= distance_m <= 1e5 and 0 <= speed_mps <= 100):
        raise InputError("wifi_mobility: needs 1 <= distance_m <= 100,000 and 0 <= speed_mps <= 100")
    times_s = grid(duration_s, interval_s)
    away_m = _random_waypoint(rng, speed_mps * times_s, distance_m)
    snr_db = SNR_AT_1_M_DB - 10 * path_loss_exponent * np.log10(np.maximum(away_m, 1.0))
    snr_db += shadowing_db * correlated(rng, times_s.size, float(np.exp(-interval_s / coherence_s)))
    return make_trace(times_s, rate_bps * scheme_shares(snr_db), duration_s)


def _random_waypoint(rng: np.random.Generator, walked_m: Array, radius_m: float) -> Array:
    """Distances from the center, m, after walks of these lengths (m, shape [n], rising) that start at the rim."""
    points_m, lengths_m = [np.array([radius_m, 0.0])], [0.0]
    while lengths_m[-1] < walked_m[-1]:
        angle = rng.uniform(0, 2 * np.pi)
        points_m.append(radius_m * np.sqrt(rng.random()) * np.array([np.cos(angle), np.sin(angle)]))
        lengths_m.append(lengths_m[-1] + float(np.linalg.norm(points_m[-1] - points_m[-2])))
    x, y = (np.interp(walked_m, lengths_m, axis) for axis in np.array(points_m).T)
    return np.asarray(np.hypot(x, y))
