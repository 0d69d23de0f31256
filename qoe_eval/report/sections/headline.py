"""The section of every controller's means: the measure of the objective first, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.report.display import colour, interval_mark
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.paired_text import sample_text

Summary = Mapping[str, Any]

HEADLINE = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms")


def headline(summary: Summary) -> Section:
    """Every controller by its mean utility, with the interval, the challenge score and the other main measures."""
    # Results from before there was a utility have the challenge score alone.
    has_utility = any("utility" in values for values in summary["controllers"].values())
    leading = METRICS["utility" if has_utility else "challenge"]
    controllers = {name: values for name, values in summary["controllers"].items() if leading.name in values}
    ordered = sorted(controllers, key=lambda name: -controllers[name][leading.name]["mean"])
    domain = _domain([controllers[name][leading.name] for name in ordered])
    view = {
        "leading": leading,
        "domain": domain,
        "metrics": [METRICS[name] for name in HEADLINE],
        "weights": summary["run"].get("objective"),
        "sample": _sample(summary),
        "rows": [_row(name, controllers[name], leading, domain) for name in ordered],
        "all_measures": all_measures(summary["controllers"], METRICS),
    }
    return Section("headline", "Controllers", "replay/headline.html", view)


def means(values: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The means of some measures of a controller, from a summary."""
    return [METRICS[name].display(values[name]["mean"]) if name in values else "–" for name in names]


def all_measures(controllers: Summary, table: Mapping[str, Metric]) -> dict[str, Any]:
    """What `all_measures` of parts.html shows: every measure that a controller has, with its values (None: it has not),
    and the meanings of all.
    """
    measured = [metric for metric in table.values() if any(metric.name in values for values in controllers.values())]
    return {
        "controllers": list(controllers),
        "rows": [(metric, [values.get(metric.name) for values in controllers.values()]) for metric in measured],
        "meanings": list(table.values()),
    }


def _row(name: str, values: Mapping[str, Any], leading: Metric, domain: tuple[float, float]) -> dict[str, Any]:
    score = values[leading.name]
    return {
        "controller": name,
        "is_reference": name == REFERENCE,
        "score": score,
        "mark": interval_mark(score["mean"], score["ci95"], domain, colour(name)),
        "means": means(values, HEADLINE),
    }


def _domain(scores: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """What the line of marks spans: multiples of 5 around all means and intervals."""
    known = [end for score in scores for end in (*score["ci95"], score["mean"]) if end is not None]
    return (max(0.0, 5 * (min(known) // 5)), min(100.0, 5 * (max(known) // 5 + 1))) if known else (0.0, 100.0)


def _sample(summary: Summary) -> str:
    """Of how many independent scenarios the means are, of the controller that has most."""
    scores = [values["challenge"] for values in summary["controllers"].values() if "challenge" in values]
    most = max(scores, key=lambda score: score["n"], default={"independent": 0, "n": 0})
    return sample_text(most["independent"], most["n"])
