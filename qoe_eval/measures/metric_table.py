"""The registry of the quality measures: name, title, unit, which way is better, precision and meaning of each.

The names are those of `results.jsonl`; summary, tables, pages and CSV read names and all the rest here.
Those of calls are in `weir.qoe_eval.call.metric_table`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One quality measure.

    `scale` multiplies a value for display (0.01 in a record is "1 %" on the page); `decimals` is the display precision.
    `over_flows`: what a run of several flows under test has, the mean of theirs or the worst.
    """

    name: str
    label: str
    unit: str
    better: Literal["higher", "lower"]
    meaning: str
    scale: float = 1.0
    decimals: int = 1
    over_flows: Literal["mean", "worst"] = "mean"

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def arrow(self) -> str:
        """Which way is better."""
        return "↑" if self.better == "higher" else "↓"

    def best(self, values: Iterable[float]) -> float:
        """The value at the good end. `values` must not be empty."""
        return max(values) if self.better == "higher" else min(values)

    def worst(self, values: Iterable[float]) -> float:
        """The value at the bad end. `values` must not be empty."""
        return min(values) if self.better == "higher" else max(values)

    def difference_favours_first(self, difference: float) -> bool:
        """Whether first - second = `difference` means that the first is strictly better."""
        return difference > 0 if self.better == "higher" else difference < 0

    def display(self, value: float | None) -> str:
        """The value for people, without its unit; a dash where it is undefined."""
        if value is None or not math.isfinite(value):
            return "–"
        return f"{value * self.scale:,.{self.decimals}f}"


class MetricTable(dict[str, Metric]):
    """Metrics by name, in the order of tables. An unknown one is a KeyError that names it and those there are."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        super().__init__((metric.name, metric) for metric in metrics)

    def __missing__(self, name: str) -> Metric:
        raise KeyError(f"metric {name!r}: one of {', '.join(self)}")

    def check(self, names: Iterable[str]) -> None:
        """A KeyError for the first name that is not in the table."""
        for name in names:
            self[name]


_ALL = (
    Metric(
        "utility",
        "Utility",
        "of 100",
        "higher",
        "MOCC Eq. 2 on fixed scales, under the run's objective: its weights of throughput, latency and loss times the "
        "rate, delay and loss part of the challenge score. Told for every controller, also those that know no "
        "objective.",
    ),
    Metric(
        "challenge",
        "Challenge score",
        "of 100",
        "higher",
        "Network part of the MMSys 2021 score: (0.2 delay + 0.2 rate + 0.3 loss) / 0.7, on fixed scales.",
    ),
    Metric(
        "challenge_delay",
        "Challenge, delay part",
        "of 100",
        "higher",
        "100 max(0, (400 - d95) / (400 - base)); d95 is the 95th percentile of one-way delay in ms.",
    ),
    Metric("challenge_rate", "Challenge, rate part", "of 100", "higher", "100 min(1, received / carriable bytes)."),
    Metric("challenge_loss", "Challenge, loss part", "of 100", "higher", "100 (1 - lost / sent packets)."),
    Metric(
        "viewer_quality",
        "Viewer's quality",
        "of 100",
        "higher",
        "Video quality over the viewer's time: while the picture is frozen it counts as 0.",
    ),
    Metric(
        "video_quality",
        "Video quality",
        "of 100, estimate",
        "higher",
        "What VMAF would be, by the bitrate of each second alone: a line through the logarithm of the bitrate, fitted "
        "to real calls of VP8 at 1280x720. Mean over the time in which the picture moves.",
    ),
    Metric(
        "frozen_share",
        "Frozen",
        "%",
        "lower",
        "Time in freezes / time measured. A freeze (webrtc-stats): the time between two rendered frames is at least "
        "max(3 d, d + 150 ms), d being the mean of the 30 before; so is the time from the last frame to the end.",
        100,
        2,
    ),
    Metric("freeze_count", "Freezes", "", "lower", "How many of them.", 1, 1),
    Metric("total_freezes_duration_s", "Freezes, together", "s", "lower", "How long they lasted together.", 1, 2),
    Metric(
        "frames_per_second", "Frame rate", "per s", "higher", "Frames rendered by the receiver / time measured.", 1, 1
    ),
    Metric(
        "frame_delay_ms_p50",
        "Frame delay, median",
        "ms",
        "lower",
        "From the capture of a frame to its last packet, and that of all frames before it; of filler, a lost packet "
        "is taken to come again one round trip after the gap shows. Without encoder, jitter buffer and decoder.",
        1,
        0,
    ),
    Metric("frame_delay_ms_p95", "Frame delay, p95", "ms", "lower", "Its 95th percentile.", 1, 0),
    Metric(
        "recoco",
        "ReCoCo score",
        "of 99.9",
        "higher",
        "Equations 7 to 10 of the ReCoCo paper on 200 ms steps. Its delay term is normalised by the run itself: "
        "compare it with that paper's table only.",
    ),
    Metric(
        "utilisation",
        "Utilisation",
        "%",
        "higher",
        "Bytes received / bytes the path could have carried of media that waits for 100 ms at most.",
        100,
    ),
    Metric("receive_rate_bps", "Receive rate", "kbps", "higher", "Mean over the active time of the flow.", 1e-3, 0),
    Metric(
        "p95_queueing_delay_ms",
        "Queueing delay, p95",
        "ms",
        "lower",
        "95th percentile of one-way packet delay, less the path's own.",
        1,
        0,
    ),
    Metric("max_queueing_delay_ms", "Queueing delay, max", "ms", "lower", "The worst packet.", 1, 0, "worst"),
    Metric("loss_ratio", "Loss", "%", "lower", "Packets lost / sent; those that a queue dropped count.", 100, 2),
    Metric(
        "seconds_above_400_ms", "Above 400 ms", "s", "lower", "Time with one-way delay above 400 ms.", 1, 1, "worst"
    ),
    Metric(
        "oscillation",
        "Oscillation",
        "%/s",
        "lower",
        "Mean change of the target from one second to the next, as a share of its mean. Changing paths demand some.",
        100,
        1,
    ),
    Metric(
        "convergence_time_s",
        "Convergence",
        "s",
        "lower",
        "After a step of the capacity by 20 % or more that holds for 5 s: time until, for one second, the receive "
        "rate is at least 80 % of the capacity and the send rate at most 110 %. A step never converged to counts "
        "with its whole length.",
        1,
        2,
    ),
    Metric(
        "jain_index",
        "Jain's index",
        "",
        "higher",
        "Fairness among the RTP flows of one direction while all are active; 1 is equal shares.",
        1,
        3,
    ),
    Metric(
        "tcp_share",
        "TCP's share",
        "%",
        "higher",
        "Share of the TCP flows in the bytes received while both kinds are active; what TCP is left with.",
        100,
        1,
    ),
    Metric(
        "guard_interventions",
        "Guard interventions",
        "per 100 decisions",
        "lower",
        "How often the guard overruled the model.",
        100,
        2,
    ),
    Metric(
        "fallback_ratio",
        "Fallback decisions",
        "%",
        "lower",
        "Share of decisions that the rule-based fallback took because the model had failed.",
        100,
        2,
    ),
)

METRICS = MetricTable(_ALL)
