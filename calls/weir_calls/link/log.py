"""The log of `weir-sim link`, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from weir_eval.json_lines import number, read_objects
from weir_eval.measures.flow_series import Array

DELAY_ERROR_BOUNDS_MS = (*(2.0**power for power in range(-4, 7)), float("inf"))
"""Upper bounds of the bins of delay errors."""
# Number of points that represent the packets of an interval.
_PLACES = 20


@dataclass(frozen=True)
class LinkLog:
    """One direction of the link, one sample per interval of the log; every array has shape [n], NaN if unknown.

    `time_us`, `queue_bytes` and `queueing_delay_ms` are those at the interval's end; `carried_bytes`, which have left
    the bottleneck, and the queue include cross traffic. `packets` and `bytes` (delivered), dropped packets and one-way
    delays, from device to device, count real packets only.
    """

    time_us: Array
    scenario_time_s: Array
    capacity_bps: Array
    carried_bytes: Array
    queue_bytes: Array
    queueing_delay_ms: Array
    packets: Array
    bytes: Array
    dropped_packets: Array
    dropped_while_down_packets: Array
    one_way_delay_ms_mean: Array
    one_way_delay_ms_p95: Array
    cross_traffic_bytes: Array
    delay_error_ms_p95: Array
    delay_error_ms_counts: Array
    """Packets per bin of delay error, shape [n, len(DELAY_ERROR_BOUNDS_MS)]; 0 if unknown."""

    @property
    def interval_s(self) -> Array:
        """Length of each interval, shape [n]; the first is assumed to be as long as the second."""
        if len(self.time_us) < 2:
            return np.zeros(len(self.time_us))
        steps = np.diff(self.time_us) / 1e6
        return np.concatenate((steps[:1], steps))

    def between(self, start_us: float, end_us: float) -> LinkLog:
        """The intervals that end in (`start_us`, `end_us`]."""
        kept = (self.time_us > start_us) & (self.time_us <= end_us)
        return LinkLog(**{name: getattr(self, name)[kept] for name in (*_COLUMNS, "delay_error_ms_counts")})

    @property
    def lost_packets(self) -> Array:
        """Packets lost to the queue, to the loss model, or while the link was down; shape [n]."""
        return np.nan_to_num(self.dropped_packets) + np.nan_to_num(self.dropped_while_down_packets)

    @property
    def _achievable_bits(self) -> Array:
        """Capacity minus cross traffic of each interval, shape [n]; infinite or NaN without a limit."""
        cross_bits = 8 * np.nan_to_num(self.cross_traffic_bytes)
        return np.maximum(0, self.capacity_bps * self.interval_s - cross_bits)

    @property
    def achievable_bps(self) -> float | None:
        """Mean capacity minus cross traffic; None if the capacity is unlimited."""
        achievable_bits = self._achievable_bits
        limited = np.isfinite(achievable_bits)
        seconds = float(self.interval_s[limited].sum())
        return float(achievable_bits[limited].sum()) / seconds if seconds > 0 else None

    @property
    def utilisation(self) -> float | None:
        """Bytes delivered / (capacity minus cross traffic); None if the capacity is unlimited."""
        achievable_bits = self._achievable_bits
        limited = np.isfinite(achievable_bits)
        achievable = float(achievable_bits[limited].sum())
        return 8 * float(np.nansum(self.bytes[limited])) / achievable if achievable > 0 else None

    def one_way_delay_percentile_ms(self, percent: float, above_ms: Array | None = None) -> float | None:
        """A percentile of the one-way delays of packets; None without a packet.

        The log has the mean and 95th percentile of an interval; its packets are assumed to be uniform around the mean.

        Args:
            percent: 0 to 100.
            above_ms: subtracted from the delays, shape [n]; NaN excludes an interval.
        """
        mean, p95 = self.one_way_delay_ms_mean, self.one_way_delay_ms_p95
        if above_ms is not None:
            mean, p95 = mean - above_ms, p95 - above_ms
        known = np.isfinite(mean) & (self.packets > 0)
        if not known.any():
            return None
        half_width = np.nan_to_num(np.maximum(0, p95 - mean)[known]) / 0.9
        places = (np.arange(_PLACES) + 0.5) / _PLACES * 2 - 1
        delays = (mean[known][:, None] + half_width[:, None] * places[None, :]).ravel()
        weights = np.repeat(self.packets[known], _PLACES)
        return float(np.quantile(delays, percent / 100, method="inverted_cdf", weights=weights))

    @property
    def scenario_start_us(self) -> float | None:
        """The time of the scenario's second 0; None if it never began."""
        began = np.flatnonzero(self.scenario_time_s > 0)
        return float(self.time_us[began[0]] - 1e6 * self.scenario_time_s[began[0]]) if len(began) else None


_COLUMNS = tuple(column.name for column in fields(LinkLog) if column.name != "delay_error_ms_counts")


def read_link_log(path: Path, direction: str) -> LinkLog:
    """Reads a direction (`forward` or `reverse`); empty if there is no file.

    Raises:
        InputError: the file cannot be read, or is too large for a call.
    """
    rows: list[list[float]] = []
    for line in read_objects(path):
        if line.get("direction") != direction or number(line.get("time_us"), lowest=0) is None:
            continue
        values = [number(line.get(name)) for name in _COLUMNS]
        rows.append([float("nan") if value is None else float(value) for value in values] + _counts(line))
    table = np.array(sorted(rows), dtype=np.float64).reshape(-1, len(_COLUMNS) + len(DELAY_ERROR_BOUNDS_MS))
    columns = {name: table[:, column] for column, name in enumerate(_COLUMNS)}
    return LinkLog(**columns, delay_error_ms_counts=table[:, len(_COLUMNS) :])


def _counts(line: dict[str, Any]) -> list[float]:
    counts = line.get("delay_error_ms_counts")
    if not isinstance(counts, list) or len(counts) != len(DELAY_ERROR_BOUNDS_MS):
        return [0.0] * len(DELAY_ERROR_BOUNDS_MS)
    return [float(number(count, lowest=0) or 0) for count in counts]
