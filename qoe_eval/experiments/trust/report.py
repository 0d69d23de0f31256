"""`trust.json` and `trust.md`: the goals, every model's score and seat by set, what each part is worth, and peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.experiments.trust.ablations import ablations_document, ablations_markdown
from weir.qoe_eval.experiments.trust.experiment import ALONE, TrustResults
from weir.qoe_eval.experiments.trust.peer import peer_markdown, peer_means
from weir.qoe_eval.experiments.trust.worth import conclusion
from weir.qoe_eval.report.goal_table import Row, details_markdown, reached_text, rows_document, rows_markdown
from weir.qoe_eval.report.markdown_table import markdown_table

_NO_PEER = "Not run: name a model from elsewhere with --peer.\n"
_METHOD = """\
- Each model has the pilot's seat of `pilot=MODEL copilots=nada,rule policy=by_trust`; score `challenge`, objective
  balanced, means over the runs of a set. Of a set the better of NADA alone and the rule alone is what counts.
- random: the held-out split from seed 1,000,000 on; opennetlab: the traces of that name, without broken models; the
  other sets are the families of `weir experiment robust`, all together `robust`.
- Trust was fitted on 120 scenarios of the training split, seeds 5,000 to 5,119, on the small grid of families, and,
  starvation, on every other two scenarios of each family, with the healthy model and `minimum`. The details tell the
  worst set without those.
- The worst tenth of scenarios is each controller's own.
- What a part is worth: 24 random scenarios and the small grid of families. Of broken models the score against the
  better of nada and rule in the worst set; of the healthy one means over sets. `the model alone` is behind the guard.
- The geometric mean of several trained models: not measured, there is one.
"""


def trust_document(
    results: TrustResults,
    by_variant: Mapping[str, TrustResults],
    peers: Sequence[str],
    rows: Sequence[Row],
    run: Mapping[str, Any],
) -> dict[str, Any]:
    """Schema, run, rows; by set each controller's mean score and, of pools, how often the model lost the seat; what
    each part is worth; peers.
    """
    controllers = {name: name for name in ALONE} | dict(results.lines)
    sets = {
        in_set: {
            name: {"challenge": results.score(in_set, controller)}
            | ({"seat_lost": results.seat_lost(in_set, controller)} if name in results.lines else {})
            for name, controller in controllers.items()
        }
        for in_set in results.records
    }
    return rows_document("weir.trust/1", rows, run) | {
        "conclusion": conclusion(rows),
        "sets": sets,
        "parts": ablations_document(by_variant),
        "peers": peer_means(results.records, peers) if peers else {},
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
        f"# Trust\n\n{reached_text(rows)} {document['conclusion']}\n\n{rows_markdown(rows)}\n"
        f"## Scores\n\n{markdown_table(['set', *ALONE, *models], scores)}\n"
        f"## Seat lost\n\n{markdown_table(['set', *models], seats)}\n"
        f"## What each part is worth\n\n{ablations_markdown(document['parts'])}\n"
        f"## A model from elsewhere\n\n{peer_markdown(document['peers']) if document['peers'] else _NO_PEER}\n"
        f"{details_markdown(rows)}\n"
        f"## What was run\n\n`{run['command']}`, {run['runs']} runs.\n\n{_METHOD}"
    )


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
