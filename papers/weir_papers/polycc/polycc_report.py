"""`polycc.md`: the goals, and the two figures of the paper as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir_eval.report.goal_table import GoalRow, details_markdown, reached_text, rows_markdown
from weir_eval.report.text import markdown_table
from weir_papers.common import mean_of
from weir_papers.polycc.demonstrations import HALVED_CONTROLS, JITTER_CONTROLS, halved_name
from weir_papers.polycc.rows import PolyccResults, jitter_means, shown_time

_METHOD = """\
- One TCP flow of ns-3 alone, 20 Mbps, 100 ms of mean round trip, a queue of one bandwidth-delay product (250 kB). The
  paper's testbed is Chromium's gQUIC on two hosts; it names neither bottleneck nor kind of jitter of its first figure.
- Jitter: the feedback path adds a delay uniform over twice the deviation, drawn every 100 ms;
  packets keep their order. 60 s.
- Goodput: payload handed to the application, in order. A seed draws the jitter and the phases of BBR, alike for all.
- Converged: the beginning of the first second from which on, in every second, the mean of what is in flight (the most
  in each 100 ms) is at most 1.25 (2.1) of the new bandwidth-delay product. Where BBR never is, it counts as if it were
  at the end. Means of ratios seed by seed; intervals: 95 %, Student's t over seeds.
- Apart: without the paper's step 4. The connection has what is fused, and each control goes on from its own window.
- While BBR as pilot measures the round trip time its window is four packets, and what is fused is not handed back:
  gQUIC's BBR bounds what is in flight then and leaves its window as it is.
- BBR is ns-3's BBRv1 with five of its faults fixed (`simulator/flows/tcp_controls.h`); as it comes, it sends a packet
  now and then after the losses of its start, even on a path without any jitter.
"""


def polycc_markdown(rows: Sequence[GoalRow], results: PolyccResults, run: Mapping[str, Any]) -> str:
    """`polycc.md`."""
    means = jitter_means(results)
    jittered = markdown_table(
        ["Jitter, ms", *JITTER_CONTROLS],
        [
            [
                f"± {jitter_ms}",
                *(by_control[name].show(2, 1e-6) if name in by_control else "" for name in JITTER_CONTROLS),
            ]
            for jitter_ms, by_control in means.items()
        ],
    )
    return "\n".join(
        [
            "# PolyCC's demonstrations with ns-3's TCP\n",
            f"Seeds {run['seeds'][0]} to {run['seeds'][-1]}, {run['runs']} runs, {run['finished']}. "
            f"{reached_text(rows)}\n",
            rows_markdown(rows),
            details_markdown(rows),
            "## Goodput under jitter, Mbps (Figure 3a)\n",
            jittered,
            "## 20 to 10 Mbps at 5 s (Figure 3b)\n",
            markdown_table(
                ["", "0 to 5 s, Mbps", "10 to 20 s, Mbps", "In flight within 1.25 new BDP"],
                [
                    [
                        control,
                        *(_mean_mbps(rates, control) for rates in (results.before_bps, results.after_bps)),
                        shown_time(results.converged_s, control),
                    ]
                    for control in HALVED_CONTROLS
                ],
            ),
            "## How it is measured\n\n" + _METHOD,
        ]
    )


def _mean_mbps(rates_bps: Mapping[str, Mapping[int, float]], control: str) -> str:
    found = rates_bps.get(halved_name(control), {})
    return mean_of(list(found.values())).show(2, 1e-6) if found else ""
