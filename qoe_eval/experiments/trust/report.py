"""`trust.json` and `trust.md`: the goals, and every model's score and seat by set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.experiments.trust.experiment import ALONE, TrustResults
from weir.qoe_eval.report.goal_table import Row, details_markdown, reached_text, rows_markdown
from weir.qoe_eval.report.markdown_table import markdown_table

_METHOD = """\
- Each model has the pilot's seat of `pilot=MODEL copilots=nada,rule policy=by_trust`; score `challenge`, objective
  balanced, means over the runs of a set. Of a set the better of NADA alone and the rule alone is what counts.
- random: the held-out split from seed 1,000,000 on; the other sets are the families of `weir experiment robust`.
- Trust was fitted on 120 scenarios of the training split, seeds 5,000 to 5,119, and on the small grid of families.
"""


def trust_document(results: TrustResults, rows: Sequence[Row], run: Mapping[str, Any]) -> dict[str, Any]:
    """Schema, run, rows, and by set each controller's mean score and, of pools, how often the model lost the seat."""
    controllers = {name: name for name in ALONE} | dict(results.lines)
    return {
        "schema": "weir.trust/1",
        "run": dict(run),
        "rows": [row.to_dict() for row in rows],
        "sets": {
            in_set: {
                name: {"challenge": results.score(in_set, controller)}
                | ({"seat_lost": results.seat_lost(in_set, controller)} if name in results.lines else {})
                for name, controller in controllers.items()
            }
            for in_set in results.records
        },
    }


def trust_markdown(document: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """The page."""
    run, sets = document["run"], document["sets"]
    models = [name for name in next(iter(sets.values())) if name not in ALONE]
    scores = [
        [in_set, *(_number(by[name]["challenge"], ".1f") for name in (*ALONE, *models))] for in_set, by in sets.items()
    ]
    seats = [[in_set, *(_number(by[name]["seat_lost"], ".1%") for name in models)] for in_set, by in sets.items()]
    return (
        f"# Trust\n\n{reached_text(rows)}\n\n{rows_markdown(rows)}\n"
        f"## Scores\n\n{markdown_table(['set', *ALONE, *models], scores)}\n"
        f"## Seat lost\n\n{markdown_table(['set', *models], seats)}\n"
        f"{details_markdown(rows)}\n"
        f"## What was run\n\n`{run['command']}`, {run['runs']} runs.\n\n{_METHOD}"
    )


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
