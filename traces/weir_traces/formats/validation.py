"""Faults of measured traces: their detection, their positions, and their repairs.

An *error* makes a trace unusable as it is: the trace is refused, or repaired on request (``--repair``). A *warning* is
shown; if it has a repair, the trace is repaired, or refused on request (``--strict``). Thresholds (units in the names)
are the module's constants::

  | code | severity | found when | repair |
  |---|---|---|---|
  | `non_monotone_time` | error | a time is not later than the one before it | the entry is dropped |
  | `unsorted` | warning | a Mahimahi delivery, or every row of a table, is earlier than the one above | sorted |
  | `bad_duration` | error | an entry lasts 0 ms or less | the entry is dropped |
  | `negative_rate` | error | a rate is below 0 | 0 bit/s; where all such rates are -1: as missing, see below |
  | `spike` | warning | a rate is far above the others, a timer artefact of a measuring tool: see below | cut |
  | `outlier` | warning | of 20 or more, a rate above 20 times the median and 10 times the 95th percentile | none |
  | `unit_error` | error | the whole trace is implausible in its unit | too low: scaled; too high: refused |
  | `rate_unit` | warning | the median is above 1 Gbps (60 Mbps without named units): a fast link, or bit/s | none |
  | `gap` | error | a regularly sampled CSV lacks samples | the rate before it holds |
  | `all_zero` | error | the trace carries nothing at all | none: refused |
  | `bad_loss`, `bad_rtt` | error | loss outside 0..1, round trip outside 0..20 s | percent scaled, else cut |
  | `zero_run` | warning | no capacity for 1 s or more | none: an outage is a fair test |
  | `zero_share` | warning | no capacity for more than 5 % of the time | none |
  | `tiny_capacity` | warning | a rate above 0 and below 10 kbps: one packet takes a second | none |
  | `ignored`, `shifted`, `time_unit`, `fractions`, `sent` | warning | found by the importer | as in the message |
  | `missing`, `same_time`, `uneven`, `counter`, `empty_bins` | warning | found in a table | as in the message |

A spike is a rate above 10 Gbps, or above 1 Gbps and 50 times the median; it is cut to the largest non-spike rate.
-1 is a usual sign for no reading: the rate before it holds, or at the start the one after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from weir_traces.formats.units import unit_name
from weir_traces.schema.capacity import MAX_RATE_BPS

UNNAMED_USUAL_BPS = 60e6
ARTEFACT_BPS = 1e9
ARTEFACT_RATIO = 50.0
OUTLIER_OF_MEDIAN = 20.0
OUTLIER_SAMPLES = 20
OUTLIER_OF_P95 = 10.0
TINY_BPS = 10e3
ZERO_RUN_S = 1.0
ZERO_SHARE = 0.05
SMALLEST_PLAUSIBLE_PEAK_BPS = 30e3
GAP_STEPS = 5.0


@dataclass(frozen=True)
class Finding:
    """One fault: ``position`` is a line or entry of ``source``; ``repair`` is None if there is none."""

    code: str
    severity: Literal["error", "warning"]
    source: str
    position: str
    message: str
    repair: str | None = None

    def located(self) -> str:
        """The finding without its file."""
        text = f"{self.position}: {self.severity} ({self.code}): {self.message}"
        return text + (f"; repair: {self.repair}" if self.repair else "")

    def __str__(self) -> str:
        return f"{self.source}: {self.located()}"


@dataclass(frozen=True)
class Samples:
    """A trace as read, before validation. All arrays have shape [n].

    ``positions`` name lines or entries for messages; ``durations_s`` is how long each rate holds; ``regular_s`` is the
    usual step in seconds if the trace has one sample per step, else None. ``rate_unit_bps`` is the supposed unit of the
    file's numbers, None if it cannot be wrong; a median above ``usual_bps`` makes it doubtful.
    """

    source: str
    positions: list[str]
    durations_s: NDArray[np.float64]
    rates_bps: NDArray[np.float64]
    usual_bps: float = MAX_RATE_BPS
    rate_unit_bps: float | None = None
    regular_s: float | None = None

    def at(self, index: SupportsIndex) -> str:
        """The place of an entry in its file."""
        return self.positions[index]


def check(samples: Samples) -> tuple[list[Finding], Samples]:
    """All findings on the rates, grouped by kind, and the repaired samples."""
    findings: list[Finding] = []
    rates = samples.rates_bps.copy()
    scale = _unit_scale(samples)
    findings += _unit(samples, scale)
    rates *= scale
    findings += _negative(samples, rates)
    rates = _without_missing(samples, rates)
    findings += _spikes(samples, rates)
    findings += _outliers(samples, rates)
    findings += _tiny(samples, rates)
    findings += _zero_runs(samples, rates)
    findings += _gaps(samples)
    if not np.any(rates > 0):
        findings.append(Finding("all_zero", "error", samples.source, samples.at(0), "no entry has any capacity"))
    rates = np.minimum(rates, _spike_limit(rates))
    return findings, replace(samples, rates_bps=rates)


def _unit_scale(samples: Samples) -> float:
    """The factor that makes rates that are too low for their unit plausible; 1 for all others."""
    peak_bps = float(samples.rates_bps.max())
    if samples.rate_unit_bps is None or not 0 < peak_bps < SMALLEST_PLAUSIBLE_PEAK_BPS:
        return 1.0
    # Try larger units in ascending order.
    for scale in (1e3, 1e6):
        if peak_bps * scale >= SMALLEST_PLAUSIBLE_PEAK_BPS and samples.rate_unit_bps * scale <= 1e6:
            return scale
    return 1.0


def _unit(samples: Samples, scale: float) -> list[Finding]:
    unit_bps = samples.rate_unit_bps
    positive = samples.rates_bps[samples.rates_bps > 0]
    if unit_bps is None or positive.size == 0:
        return []
    peak, median_bps = _rate(positive.max()), _median(positive)
    unit = unit_name(unit_bps)
    read_as = f"the largest rate reads as {peak} and the median as {_rate(median_bps)}"
    if scale != 1.0:
        text, repair = (
            f"{read_as}: the numbers are hardly {unit}; a link that is so slow needs a scenario file",
            f"every rate taken as {unit_name(unit_bps * scale)}",
        )
        return [Finding("unit_error", "error", samples.source, samples.at(0), text, repair)]
    slow_kind = samples.usual_bps < ARTEFACT_BPS
    if median_bps >= (ARTEFACT_BPS if slow_kind else MAX_RATE_BPS):
        text = f"{read_as}: the numbers are hardly {unit}; if they are bit/s, divide them by {unit_bps:g}"
        return [Finding("unit_error", "error", samples.source, samples.at(0), text)]
    if unit_bps > 1 and median_bps > min(samples.usual_bps, ARTEFACT_BPS):
        text = f"the median is {_rate(median_bps)}; if the numbers are bit/s, divide them by {unit_bps:g}"
        return [Finding("rate_unit", "warning", samples.source, samples.at(0), text)]
    return []


def _negative(samples: Samples, rates: NDArray[np.float64]) -> list[Finding]:
    missing = _are_missing(samples, rates)
    about, repair = (" (-1: no reading?)", "missing: the rate before it holds") if missing else ("", "0 bit/s")
    return [
        Finding(
            "negative_rate", "error", samples.source, samples.at(i), f"capacity is {_rate(rates[i])}{about}", repair
        )
        for i in np.flatnonzero(rates < 0)
    ]


def _are_missing(samples: Samples, rates: NDArray[np.float64]) -> bool:
    """True if all rates below 0 are -1 in the unit of the file."""
    below = rates[rates < 0]
    return samples.rate_unit_bps is not None and below.size > 0 and bool(np.all(below == -samples.rate_unit_bps))


def _without_missing(samples: Samples, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rates with repaired ones in place of those below 0."""
    known = np.flatnonzero(rates >= 0)
    if not known.size or not _are_missing(samples, rates):
        return np.maximum(rates, 0.0)
    before = np.searchsorted(known, np.arange(len(rates)), side="right") - 1
    return rates[known[np.maximum(before, 0)]]


def _spike_limit(rates: NDArray[np.float64]) -> float:
    """The rate above which an entry is an artefact, and to which a repair cuts it."""
    positive = rates[rates > 0]
    if positive.size == 0:
        return MAX_RATE_BPS
    median_bps = _median(positive)
    artefact = max(ARTEFACT_BPS, ARTEFACT_RATIO * median_bps)
    if np.all(positive <= artefact):
        return MAX_RATE_BPS
    return min(MAX_RATE_BPS, float(positive[positive <= artefact].max(initial=median_bps)))


def _median(rates: NDArray[np.float64]) -> float:
    """The median; the lower of the two middle values of an even count."""
    return float(np.quantile(rates, 0.5, method="lower"))


def _spikes(samples: Samples, rates: NDArray[np.float64]) -> list[Finding]:
    limit = _spike_limit(rates)
    return [
        Finding(
            "spike", "warning", samples.source, samples.at(i),
            f"capacity is {_rate(rates[i])}, a timer artefact", f"cut to {_rate(limit)}",
        )
        for i in np.flatnonzero(rates > limit)
    ]  # fmt: skip


def _outliers(samples: Samples, rates: NDArray[np.float64]) -> list[Finding]:
    positive = rates[rates > 0]
    if len(positive) < OUTLIER_SAMPLES:
        return []
    median_bps = _median(positive)
    limit = max(OUTLIER_OF_MEDIAN * median_bps, OUTLIER_OF_P95 * float(np.quantile(positive, 0.95, method="lower")))
    return [
        Finding(
            "outlier", "warning", samples.source, samples.at(i),
            f"capacity is {_rate(rates[i])}, {rates[i] / median_bps:.0f} times the median; kept, and in the mean, of "
            "which the default queue is 300 ms: if it is an error, correct or delete it, or give --queue",
        )
        for i in np.flatnonzero((rates > limit) & (rates <= _spike_limit(rates)))
    ]  # fmt: skip


def _tiny(samples: Samples, rates: NDArray[np.float64]) -> list[Finding]:
    return [
        Finding(
            "tiny_capacity", "warning", samples.source, samples.at(i),
            f"capacity is {_rate(rates[i])}: a 1200-byte packet alone would take {9600 / float(rates[i]):.3g} s; kept",
        )
        for i in np.flatnonzero((rates > 0) & (rates < TINY_BPS))
    ]  # fmt: skip


def _zero_runs(samples: Samples, rates: NDArray[np.float64]) -> list[Finding]:
    zero = np.concatenate(([False], rates == 0, [False]))
    starts = np.flatnonzero(zero[1:] & ~zero[:-1])
    stops = np.flatnonzero(~zero[1:] & zero[:-1])
    begin = np.concatenate(([0.0], np.cumsum(samples.durations_s)))
    findings = []
    for start, stop in zip(starts, stops, strict=True):
        length = begin[stop] - begin[start]
        if length >= ZERO_RUN_S:
            last = samples.at(stop - 1)
            position = samples.at(start) if last == samples.at(start) else f"{samples.at(start)} to {last}"
            message = f"no capacity for {length:.1f} s from {begin[start]:.1f} s on; kept as an outage"
            findings.append(Finding("zero_run", "warning", samples.source, position, message))
    share = float(np.sum(samples.durations_s[rates == 0]) / np.sum(samples.durations_s))
    if ZERO_SHARE < share < 1:
        message = f"no capacity for {share:.0%} of the whole time; kept as outages"
        findings.append(Finding("zero_share", "warning", samples.source, samples.at(int(starts[0])), message))
    return findings


def _gaps(samples: Samples) -> list[Finding]:
    if samples.regular_s is None:
        return []
    return [
        Finding(
            "gap", "error", samples.source, samples.at(i),
            f"the next sample is {samples.durations_s[i]:g} s away, the usual step is {samples.regular_s:g} s",
            "this entry's rate holds until the next sample (--rate-holds before: the next entry's; step: none)",
        )
        for i in np.flatnonzero(samples.durations_s > GAP_STEPS * samples.regular_s)
    ]  # fmt: skip


def _rate(bps: float) -> str:
    for unit, name in ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")):
        if abs(bps) >= unit:
            return f"{bps / unit:.4g} {name}"
    return f"{bps:.4g} bit/s"
