"""`muses.md`: the goals, and the paper's tables beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from weir_eval.report.goal_table import GoalRow, details_markdown, reached_text, rows_markdown
from weir_eval.report.text import markdown_table
from weir_papers.muses.flow_rows import PAPERS_CUBIC_JAIN, PAPERS_JAIN, jain_by_flows
from weir_papers.muses.muses_measures import ellipse_area
from weir_papers.muses.muses_runs import MusesResults
from weir_papers.muses.network_rows import means_of, shown_area
from weir_papers.muses.sets import FLUCTUATING, LTE, SHARING, STEADY, TABLE_III

_PAPERS_NETWORKS = {
    STEADY: "the paper: 99.7 % of the capacity, p95 queueing delay 2.29 times lower than Cubic's",
    FLUCTUATING: "the paper: 97.8 % of the capacity, more than twice less delay than Cubic",
    LTE: "the paper, on Verizon's: above 90 %; 1.26 times Verus' utilisation and 1.29 times less delay",
}


def networks_document(results: MusesResults) -> dict[str, Any]:
    """By set of Table III and who ran it: the means of `Case`, the number of cases, the area of the ellipse in ms times
    points.
    """
    document: dict[str, Any] = {}
    for name in TABLE_III:
        cases = results.cases(name)
        document[name] = {
            controller: asdict(mean)
            | {
                "cases": len(cases[controller]),
                "ellipse": ellipse_area(cases[controller]) if len(cases[controller]) > 1 else 0,
            }
            for controller, mean in means_of(cases).items()
        }
    return document


def muses_markdown(results: MusesResults, rows: Sequence[GoalRow], run: Mapping[str, Any]) -> str:
    """`muses.md`."""
    parts = [
        "# Muses' measurements in Weir's simulator\n",
        f"{run['runs']} runs, {run['networks']} networks of each kind, seeds 1 to {run['seeds'][-1]}, model "
        f"{run['model'].get('name', '')}; {run['finished']}. {reached_text(rows)}\n",
        "The bounds are the paper's figures. Its flows are senders with a window; these are calls. The means over "
        "networks or seeds decide.\n",
        rows_markdown(rows),
        details_markdown(rows),
    ]
    for name in TABLE_III:
        cases = results.cases(name)
        table = [
            [controller, f"{100 * mean.utilisation:.1f}", f"{mean.p95_queueing_delay_ms:.1f}",
             f"{100 * mean.loss_ratio:.2f}",
             shown_area(ellipse_area(cases[controller])) if len(cases[controller]) > 1 else ""]
            for controller, mean in sorted(means_of(cases).items(), key=lambda item: -item[1].utilisation)
        ]  # fmt: skip
        if table:
            head = ["", "Utilisation, %", "p95 queueing delay, ms", "Loss, %", "Ellipse, ms points"]
            parts += [f"## {name} (Figure 3)\n", f"{_PAPERS_NETWORKS[name]}\n", markdown_table(head, table)]
    controllers = list(results.records.get(SHARING, {}))
    table = [
        [f"{flows}", *(f"{by_controller[name]:.3f}" if name in by_controller else "" for name in controllers),
         f"{PAPERS_JAIN[flows]:.3f}", f"{PAPERS_CUBIC_JAIN[flows]:.3f}"]
        for flows, by_controller in jain_by_flows(results).items()
    ]  # fmt: skip
    parts += [
        "## Sharing (Table IV)\n",
        "Jain's index on 36 Mbps, one more flow every 20 s, each for 80 s; of the received rates in the second half of "
        "each period with the same flows.\n",
        markdown_table(["Flows", *controllers, "The paper's Muses", "The paper's Cubic"], table),
    ]
    return "\n".join(parts)
