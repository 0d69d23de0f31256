"""`mvfst.md`: the goals, means over emulators with intervals, and every emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weir.qoe_eval.measures.statistics import bootstrap_interval
from weir.qoe_eval.report.goal_table import Row, details_markdown, reached_text, rows_markdown
from weir.qoe_eval.report.text import markdown_table
from weir_papers.common import Case
from weir_papers.mvfst.mvfst_runs import EMULATORS, Cases
from weir_papers.mvfst.rows import shares_of_oracle


def mvfst_markdown(rows: Sequence[Row], cases: Cases, run: Mapping[str, Any]) -> str:
    """The page."""
    emulators = {name: cases[name] for name in EMULATORS if name in cases}
    everyone = list(dict.fromkeys(who for of in emulators.values() for who in of))
    means = [
        [
            who,
            _mean(list(shares_of_oracle(cases, who).values()), 2),
            _mean(_values(emulators, who, lambda case: case.p95_queueing_delay_ms), 0),
            _mean(_values(emulators, who, lambda case: 100 * case.loss_ratio), 1),
        ]
        for who in everyone
    ]
    each = [[name, *(_shown(of[who]) if who in of else "" for who in everyone)] for name, of in emulators.items()]
    return "\n".join(
        [
            "# MVFST-RL's measurements in Weir's simulator\n",
            f"{run['runs']} runs, seeds 1 to {run['seeds'][-1]}, model {run['model'].get('name', '')}; "
            f"{run['finished']}. {reached_text(rows)}\n",
            "One flow alone for 30 s (Figure 1: 60 s), filler media, or TCP. Values are means over seeds.\n",
            rows_markdown(rows),
            details_markdown(rows),
            "## All emulators\n",
            "Means and 95 % intervals over emulators.\n",
            markdown_table(["", "Throughput to the oracle's", "p95 queueing delay, ms", "Loss, %"], means),
            "## Each emulator\n",
            "Utilisation, p95 queueing delay, loss.\n",
            markdown_table(["", *everyone], each),
        ]
    )


def _values(emulators: Cases, who: str, measure: Callable[[Case], float]) -> list[float]:
    return [measure(of[who]) for of in emulators.values() if who in of]


def _mean(values: Sequence[float], decimals: int) -> str:
    low, high = bootstrap_interval(np.array(values), np.zeros(len(values)))
    interval = "" if low is None else f" [{low:.{decimals}f}, {high:.{decimals}f}]"
    return f"{np.mean(values):.{decimals}f}{interval}" if values else ""


def _shown(case: Case) -> str:
    return f"{100 * case.utilisation:.1f} %, {case.p95_queueing_delay_ms:.0f} ms, {100 * case.loss_ratio:.1f} %"
