"""What each part of a pool by trust is worth: pools that lack it, with every model in the pilot's seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.experiments.trust.experiment import HEALTHY, TrustResults
from weir.qoe_eval.report.markdown_table import markdown_table


def ablations_document(by_variant: Mapping[str, TrustResults]) -> dict[str, Any]:
    """By variant and model: `worst`, the score against the better of nada and rule in the worst set (a share); and of
    the healthy one its `score` and `seat_lost`, means over sets.

    Args:
        by_variant: results by the names of VARIANTS; the lines of each are that variant's pools.
    """
    found: dict[str, Any] = {}
    for variant, results in by_variant.items():
        found[variant] = {}
        for model, line in results.lines.items():
            ratios = results.against_better(line)
            found[variant][model] = {
                "worst": min(ratios.values()) if ratios else None,
                "score": _mean([results.score(name, line) for name in results.records]),
                "seat_lost": None if variant == "the model alone" else
                             _mean([results.seat_lost(name, line) for name in results.records]),
            }  # fmt: skip
    return found


def ablations_markdown(document: Mapping[str, Any]) -> str:
    """The table: a variant in each row, a model in each column."""
    broken = [model for model in next(iter(document.values())) if model != HEALTHY]
    rows = [
        [
            variant,
            _text(by[HEALTHY]["score"], ".2f"),
            _text(by[HEALTHY]["seat_lost"], ".2%"),
            *(_text(by[model]["worst"], "+.1%") for model in broken),
        ]
        for variant, by in document.items()
    ]
    return markdown_table(["pool", "healthy: score", "healthy: seat lost", *broken], rows)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _text(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
