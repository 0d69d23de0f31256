"""Estimates capacity and jitter of the link that packets crossed.

s_i, a_i: times at which packet i was sent and left the link, which is modeled as a FIFO queue; b_i: its bits.

1. Packet i was on the link from max(s_i, a_(i-1)) to a_i. The link was filled then if the packet waited, or is large
   and took long; it carried b_i in that time.
2. The capacity of a bin of 0.1 s is that of the filled time in it, or also around it if that is too short.
3. Elsewhere it is interpolated between the nearest filled bins, and at least its bound: packets j to i were all carried
   between s_j and a_i.
4. A queue drains evenly. If many packets waited and arrived in clumps, the link has jitter: packets wait for an earlier
   packet, not for the link. Then the capacity is the highest rate of a second nearby, and the jitter is the delay of
   packets that this capacity does not explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.flow_series import Array

BIN_S = 0.1
_CLOCK_STEP_S = 0.001
"""Send times have a resolution of 1 ms."""
_LEAST_WAIT_S = 0.002
_LARGE_PACKET_BYTES = 600
_LEAST_SERVICE_S = 0.01
_LONGEST_SERVICE_S = 0.1
_LEAST_FILLED_S = 0.05
_MOST_NEIGHBOURS = 5
_LONGEST_TRAIN_S = 0.1
_TRAIN_PACKETS = range(1, 60)
_LEAST_RATE_BPS = 1e5
# Clumps: numbers of neighbors in the queue; the smallest mean and largest median, as a share of the mean, of their time
# on the link, scaled to 1000 bytes; and the share of packets in clumps above which the link has jitter.
_CLUMP_NEIGHBOURS = (9, 27, 81)
_LEAST_CLUMP_GAP_S = 0.0015
_MOST_IN_CLUMP = 0.1
_CLUMPED_SHARE = 0.3
_NEARBY_S = 15.0
_JITTER_WINDOW_S = 2.0


@dataclass(frozen=True)
class Packets:
    """Packets in the order of sending, shape [n] each; times in s since the first. `left_s`: time at which each left
    the link; NaN if it was lost.
    """

    sent_s: Array
    left_s: Array
    bits: Array

    def received(self) -> Packets:
        """The packets that arrived, in the same order; their `left_s` never falls."""
        kept = np.isfinite(self.left_s)
        return Packets(self.sent_s[kept], np.maximum.accumulate(self.left_s[kept]), self.bits[kept])

    def later(self, by_s: float | Array) -> Packets:
        """The packets with `left_s` later by a time, or by one time each."""
        return Packets(self.sent_s, self.left_s + by_s, self.bits)


@dataclass(frozen=True)
class LinkEstimate:
    """The capacity of each bin in bit/s, and `filled`, true if it is measured, shape [n] each; the largest jitter."""

    filled: NDArray[np.bool_]
    rates_bps: Array
    jitter_ms: float = 0.0

    def jitter(self) -> dict[str, Any]:
        """Scenario fields of the jitter."""
        return {"kind": "uniform", "maximum_ms": round(self.jitter_ms, 1)} if self.jitter_ms else {"kind": "none"}


def estimate_link(packets: Packets, duration_s: float) -> LinkEstimate:
    """Estimates the link from packets that all arrived."""
    bins = int(np.ceil(duration_s / BIN_S))
    if _clumped_share(packets) > _CLUMPED_SHARE:
        return _with_jitter(packets, bins)
    measured, full = _measured(packets, bins)
    bound = _bound(packets, bins)
    filled = np.isfinite(measured)
    index = np.arange(bins)
    if not filled.any():
        return LinkEstimate(filled, np.full(bins, max(float(bound.max()), _LEAST_RATE_BPS)))
    between = np.interp(index, index[filled], measured[filled])
    width = 2 * _MOST_NEIGHBOURS + 1
    near = np.lib.stride_tricks.sliding_window_view(np.pad(bound, _MOST_NEIGHBOURS), width).max(1)
    least = np.where(bound > 0, bound, np.where(filled, 0.0, near))
    return LinkEstimate(filled, np.where(full, between, np.maximum(between, least)))


def least_service_s(packets: Packets, duration_s: float) -> float:
    """The time on the link of the fastest packet; 0 if the link was never filled."""
    measured, _ = _measured(packets, int(np.ceil(duration_s / BIN_S)))
    fastest = int(np.argmin(packets.left_s - packets.sent_s))
    rates = measured[measured > 0]
    # The packet was fast because the link was.
    return min(float(packets.bits[fastest] / np.percentile(rates, 90)), _LONGEST_SERVICE_S) if len(rates) else 0.0


def _measured(packets: Packets, bins: int) -> tuple[Array, NDArray[np.bool_]]:
    """The rate of each bin, NaN if it is not filled, and true for bins that are filled for half of their time."""
    edges = np.linspace(0.0, bins * BIN_S, bins + 1)
    before = np.concatenate(([-np.inf], packets.left_s[:-1]))
    begins = np.maximum(packets.sent_s, before)
    service_s = packets.left_s - begins
    slow = (packets.bits > 8 * _LARGE_PACKET_BYTES) & (service_s > _LEAST_SERVICE_S)
    kept = (before - packets.sent_s > _LEAST_WAIT_S) | slow
    if not kept.any():
        return np.full(bins, np.nan), np.zeros(bins, bool)
    # Cumulative filled time, and bits in it, at both ends of each filled interval.
    ends = np.column_stack((begins[kept], packets.left_s[kept])).ravel()

    def until_edges(of_packets: Array) -> Array:
        total = np.cumsum(of_packets[kept])
        return np.interp(edges, ends, np.column_stack((total - of_packets[kept], total)).ravel())

    spent_s, carried = until_edges(service_s), until_edges(packets.bits)
    measured = np.full(bins, np.nan)
    index = np.arange(bins)
    for neighbours in range(_MOST_NEIGHBOURS + 1):
        low, high = np.maximum(index - neighbours, 0), np.minimum(index + neighbours + 1, bins)
        filled_s = spent_s[high] - spent_s[low]
        enough = np.isnan(measured) & (filled_s >= _LEAST_FILLED_S)
        measured[enough] = (carried[high] - carried[low])[enough] / filled_s[enough]
    return measured, np.diff(spent_s) >= BIN_S / 2


def _bound(packets: Packets, bins: int) -> Array:
    """A lower bound of the capacity in bit/s, from packet trains that left the link in each bin; 0 without trains."""
    total = np.concatenate(([0.0], np.cumsum(packets.bits)))
    place = np.clip((packets.left_s / BIN_S).astype(int), 0, bins - 1)
    bound = np.zeros(bins)
    for count in _TRAIN_PACKETS:
        last = np.arange(count - 1, len(packets.bits))
        last = last[packets.sent_s[last] - packets.sent_s[last - count + 1] < _LONGEST_TRAIN_S]
        first = last - count + 1
        took_s = packets.left_s[last] - packets.sent_s[first] + _CLOCK_STEP_S
        np.maximum.at(bound, place[last], (total[last + 1] - total[first]) / took_s)
    return bound


def _clumped_share(packets: Packets) -> float:
    """The share of packets, 0 to 1, that waited and left the link in clumps."""
    waited = 1 + np.flatnonzero(packets.left_s[:-1] - packets.sent_s[1:] > _LEAST_WAIT_S)
    per_byte_s = (packets.left_s[waited] - packets.left_s[waited - 1]) * 8 / packets.bits[waited]
    most = 0.0
    for neighbours in _CLUMP_NEIGHBOURS:
        if len(waited) < neighbours:
            break
        near = np.lib.stride_tricks.sliding_window_view(1000 * per_byte_s, neighbours)
        mean_s = near.mean(1)
        clumped = (mean_s > _LEAST_CLUMP_GAP_S) & (np.median(near, axis=1) < _MOST_IN_CLUMP * mean_s)
        most = max(most, float(clumped.sum() / len(packets.bits)))
    return most


def _with_jitter(packets: Packets, bins: int) -> LinkEstimate:
    edges = np.linspace(0.0, bins * BIN_S, bins + 1)
    carried = np.interp(edges, packets.left_s, np.cumsum(packets.bits))
    a_second = round(1 / BIN_S)
    rates = np.convolve(np.diff(carried), np.ones(a_second), "valid")
    around = round(_NEARBY_S / BIN_S)
    padded = np.pad(rates, (around, around + bins - len(rates)))
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1).max(1)
    rates_bps = np.maximum(highest, _LEAST_RATE_BPS)
    late_s = packets.left_s - _first_in_first_out(packets, edges, rates_bps)
    # Within a window, errors of the queue model are similar and cancel.
    begins = np.flatnonzero(np.diff(packets.sent_s // _JITTER_WINDOW_S, prepend=-1.0))
    spread_s = np.maximum.reduceat(late_s, begins) - np.minimum.reduceat(late_s, begins)
    return LinkEstimate(np.zeros(bins, bool), rates_bps, 1e3 * float(np.median(spread_s)))


def _first_in_first_out(packets: Packets, edges_s: Array, rates_bps: Array) -> Array:
    """The time at which each packet leaves a FIFO link of this capacity."""
    # Measure time in bits that the link could have carried: each packet takes its size.
    could = np.concatenate(([0.0], np.cumsum(np.maximum(rates_bps, 1.0) * np.diff(edges_s))))
    total = np.cumsum(packets.bits)
    leaves = total + np.maximum.accumulate(np.interp(packets.sent_s, edges_s, could) - (total - packets.bits))
    return np.interp(leaves, could, edges_s)
