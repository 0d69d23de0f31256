"""`guard.json` and `guard.md`: what each rule does, by set and by model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.experiments.guard.experiment import HEALTHY, SWITCHED, GuardResults, RuleEffect
from weir.qoe_eval.report.markdown_table import markdown_table

_METHOD = """\
- A rule's share is that of the decisions that it changed, with all rules on.
- Gains: all rules on less all but this one, paired by scenario and seed, means over runs; objective balanced, score
  `challenge`; the delay is the 95th percentile of a run's one-way delays.
- The other models are those of `weir experiment trust`, without a pool: directly behind the guard.
- random: the held-out split from seed 1,000,000 on; traces as in `weir experiment policy`; the other sets are the
  families of `weir experiment robust`, the small grid or with `--full` all.
"""


def guard_document(results: GuardResults, run: Mapping[str, Any]) -> dict[str, Any]:
    """Schema, run, and by set, model and rule the effects."""
    return {"schema": "weir.guard/1", "run": dict(run), "sets": results.to_dict()}


def guard_markdown(results: GuardResults, run: Mapping[str, Any]) -> str:
    """The page."""
    broken = [model for model in results.models if model != HEALTHY]
    parts = ["# The guard, rule by rule\n"]
    for in_set in results.records:
        parts += [f"## {in_set}\n", _healthy_table(results, in_set)]
        if broken:
            parts += ["Score that each rule gains behind broken models:\n", _broken_table(results, in_set, broken)]
    parts.append(f"## What was run\n\n`{run['command']}`, {run['runs']} runs.\n\n{_METHOD}")
    return "\n".join(parts)


def _healthy_table(results: GuardResults, in_set: str) -> str:
    rows = []
    for rule in SWITCHED:
        effect = results.effect(in_set, rule, HEALTHY)
        rows.append([rule, *_cells(effect)])
    return markdown_table(["rule", "share", "score", "p95 delay, ms", "utilisation, points", "runs"], rows)


def _cells(effect: RuleEffect | None) -> list[str]:
    if effect is None:
        return ["–"] * 5
    return [
        f"{effect.share:.2%}",
        f"{effect.challenge:+.2f}",
        f"{effect.p95_one_way_delay_ms:+.1f}",
        f"{100 * effect.utilisation:+.2f}",
        str(effect.runs),
    ]


def _broken_table(results: GuardResults, in_set: str, broken: list[str]) -> str:
    rows = []
    for rule in SWITCHED:
        effects = [results.effect(in_set, rule, model) for model in broken]
        rows.append([rule, *("–" if one is None else f"{one.challenge:+.1f} ({one.share:.0%})" for one in effects)])
    return markdown_table(["rule", *broken], rows)
