"""`muses.json`: the goals, and on each network of Table III the means of everyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from weir.qoe_eval.experiments.muses.measures import ellipse_area
from weir.qoe_eval.experiments.muses.network_rows import means_of
from weir.qoe_eval.experiments.muses.results import MusesResults
from weir.qoe_eval.experiments.muses.sets import TABLE_III
from weir.qoe_eval.report.goal_table import Row, rows_document


def muses_document(
    rows: Sequence[Row], results: MusesResults, f1: Mapping[str, Mapping[float, float]], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Schema, run and rows; `networks`: by set of Table III and who, the means of `Case`, how many cases, the area of
    the ellipse in ms times points; `f1`: by model and largest delay in ms.
    """
    return rows_document("weir.muses/1", rows, run) | {
        "networks": {name: _networks(results, name) for name in TABLE_III},
        "f1": {who: {f"{largest_ms:g}": score for largest_ms, score in of.items()} for who, of in f1.items()},
    }


def _networks(results: MusesResults, name: str) -> dict[str, Any]:
    cases = results.cases(name)
    return {
        who: asdict(mean)
        | {"cases": len(cases[who]), "ellipse": ellipse_area(cases[who]) if len(cases[who]) > 1 else 0}
        for who, mean in means_of(cases).items()
    }
