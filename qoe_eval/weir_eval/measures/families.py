"""The results of a family in one row: every controller's score, and the model compared with libwebrtc and the rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weir_eval.measures.summary import Means, against, scenario_means
from weir_eval.records.comparisons import FamilyRow, WorstScenario
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
    scores = common_means(means, dict.fromkeys(controller for by in means.values() for controller in by))
    better = max((name for name in LIBWEBRTC_SENDERS if name in scores), key=lambda name: scores[name], default=None)
    return FamilyRow(
        name=name,
        media=media,
        description=FAMILIES[name]().description,
        scenarios=len(means),
        scores=scores,
        better=better,
        against_better=against(records, own, better, SCORE) if better else None,
        against_rule=against(records, own, RULE, SCORE),
        worst_score=_lowest(gains_over_best(means, own, LIBWEBRTC_SENDERS)),
        worst_utilisation=_lowest(utilisation_ratios(means, own)),
    )


def common_means(means: Means, controllers: Iterable[str]) -> dict[str, float]:
    """Mean scores over the scenarios on which all controllers with scores have one; over all scenarios of each if none
    is common.
    """
    values = {
        name: {scenario: by[name][SCORE] for scenario, by in means.items() if SCORE in by.get(name, {})}
        for name in controllers
    }
    known = {name: of for name, of in values.items() if of}
    common = set.intersection(*(set(of) for of in known.values())) if known else set()
    shared = {name: [of[one] for one in of if one in common or not common] for name, of in known.items()}
    return {name: sum(some) / len(some) for name, some in shared.items()}


def gains_over_best(means: Means, own: str, others: Sequence[str]) -> dict[str, float]:
    """A controller's mean score minus the best of the others', by scenario."""
    return {
        scenario: by[own][SCORE] - max(best)
        for scenario, by in means.items()
        if SCORE in by.get(own, {}) and (best := [by[name][SCORE] for name in others if SCORE in by.get(name, {})])
    }


def utilisation_ratios(means: Means, own: str) -> dict[str, float]:
    """A controller's utilization divided by gcc's, by scenario; skips scenarios that either lacks or with gcc at 0."""
    return {
        scenario: by[own]["utilisation"] / by[GCC]["utilisation"]
        for scenario, by in means.items()
        if "utilisation" in by.get(own, {}) and by.get(GCC, {}).get("utilisation", 0.0) > 0
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
    for record in sorted(records, key=lambda one: one.scenario):
        found.setdefault((record.scenario.partition("-")[0], record.scenario.rpartition("-")[2]), []).append(record)
    return [
        family_row(name, media, found[name, media], own)
        for media in MEDIA
        for name in FAMILIES
        if (name, media) in found
    ]
