"""The results of a family in one row: every controller's score, and the model compared with libwebrtc and the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_eval.measures.run_values import distinct_runs, run_values
from weir_eval.measures.statistics import compare_paired
from weir_eval.measures.summary import Means, scenario_means
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import FamilyRow, PairedComparison, WorstScenario
from weir_eval.records.record import Record
from weir_sim.controllers import LIBWEBRTC_SENDERS
from weir_traces.generate.families.families import FAMILIES
from weir_traces.schema.media import MEDIA, MediaKind

SCORE = "challenge"
GCC = "gcc"
RULE = "rule"
ORACLE = "oracle"


def family_row(name: str, media: MediaKind, records: Sequence[Record], own: str) -> FamilyRow:
    """The row of a family from its records, all with this kind of media; the differences are those of `own`."""
    means = scenario_means(records)
    scores = common_scores(means)
    better = max((name for name in LIBWEBRTC_SENDERS if name in scores), key=lambda name: scores[name], default=None)
    distinct = distinct_runs(records)

    def against(other: str) -> PairedComparison | None:
        first, second = (run_values(distinct, controller, SCORE) for controller in (own, other))
        return compare_paired(MEASURES[SCORE], first, second)

    return FamilyRow(
        name=name,
        media=media,
        description=FAMILIES[name]().description,
        scenarios=len(means),
        scores=scores,
        better=better,
        against_better=against(better) if better else None,
        against_rule=against(RULE),
        worst_score=_lowest(gains_over_best(means, own, LIBWEBRTC_SENDERS)),
        worst_utilisation=_lowest(utilisation_ratios(means, own)),
    )


def common_scores(means: Means) -> dict[str, float]:
    """Mean scores over the scenarios on which all controllers with scores have one; over all scenarios of each if none
    is common.
    """
    scores: dict[str, dict[str, float]] = {controller: {} for by_name in means.values() for controller in by_name}
    for scenario, by_name in means.items():
        for controller, measures in by_name.items():
            if SCORE in measures:
                scores[controller][scenario] = measures[SCORE]
    scores = {controller: by_scenario for controller, by_scenario in scores.items() if by_scenario}
    common = set.intersection(*map(set, scores.values())) if scores else set()
    shared = {
        controller: [score for scenario, score in by_scenario.items() if scenario in common or not common]
        for controller, by_scenario in scores.items()
    }
    return {controller: sum(values) / len(values) for controller, values in shared.items()}


def gains_over_best(means: Means, own: str, others: Sequence[str]) -> dict[str, float]:
    """A controller's mean score minus the best of the others', by scenario."""
    return {
        scenario: by_name[own][SCORE] - max(scores)
        for scenario, by_name in means.items()
        if SCORE in by_name.get(own, {})
        and (scores := [by_name[name][SCORE] for name in others if SCORE in by_name.get(name, {})])
    }


def utilisation_ratios(means: Means, own: str) -> dict[str, float]:
    """A controller's utilization divided by gcc's, by scenario; skips scenarios that either lacks or with gcc at 0."""
    return {
        scenario: by_name[own]["utilisation"] / by_name[GCC]["utilisation"]
        for scenario, by_name in means.items()
        if "utilisation" in by_name.get(own, {}) and by_name.get(GCC, {}).get("utilisation", 0.0) > 0
    }


def _lowest(values: Mapping[str, float]) -> WorstScenario | None:
    if not values:
        return None
    name = min(values, key=lambda scenario: values[scenario])
    return WorstScenario(scenario=name, value=values[name])


def summarise_families(records: Sequence[Record], own: str) -> list[FamilyRow]:
    """The row of each family with video, then with filler, with the differences of `own`. The result does not depend on
    the order of `records`, in which runs complete.
    """
    found: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: record.scenario):
        found.setdefault((record.scenario.partition("-")[0], record.scenario.rpartition("-")[2]), []).append(record)
    return [
        family_row(name, media, found[name, media], own)
        for media in MEDIA
        for name in FAMILIES
        if (name, media) in found
    ]
