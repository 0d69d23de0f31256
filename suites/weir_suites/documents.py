"""The documents of an evaluation: the complete JSON document, and the record of results of a suite.

Keys of a record: SET/CONTROLLER/MEASURE for the mean over runs, SET/CONTROLLER/MEASURE/median for end-to-end delays,
SET/OWN-OTHER/MEASURE for the difference of two controllers, SET/worst for the lowest score against the better of
libwebrtc's senders, goals/NAME, and goals/NAME/FIGURE for the numbers behind a goal. Calls whose answers exclude
transport-cc appear as controller "weir-remb-alone" in the set of the same paths.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weir_eval.fingerprint import fingerprint
from weir_eval.measurement import Measurement, Value, commit, today
from weir_eval.measures.run_values import common_runs, distinct_runs, run_values
from weir_eval.measures.statistics import compare_paired, spread
from weir_eval.measures.summary import ordered_controllers, scenario_means
from weir_eval.measures.table import MEASURES
from weir_eval.records.call_record import CallRecord
from weir_eval.records.record import Record
from weir_eval.report.goal_table import rows_document
from weir_eval.runs.scenario_sets import REMB_ALONE, base_name
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model
from weir_suites.results import undisturbed
from weir_suites.runner import Evaluated

SCHEMA = "weir.evaluation/1"
_KEPT = ("call_quality", "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95", "challenge", "utilisation",
         "p95_queueing_delay_ms", "loss_ratio", "recoco", "viewer_quality", "jain_index", "tcp_share")  # fmt: skip
_END_TO_END = "end_to_end_delay_ms_p95"
_LEADING = ("call_quality", "end_to_end_delay_ms_p50", _END_TO_END, "viewer_quality")
_MEASURES = (*_LEADING, "freeze_count", "frame_delay_ms_p95", "p95_queueing_delay_ms", "utility", "challenge")
_OF_VIRTUAL_CALLS = (
    *_LEADING, "receive_rate_bps", "network_delay_ms_p95", "frozen_share", "freeze_count", "qp_mean", "challenge",
)  # fmt: skip
_OF_CALLS = (*_LEADING, "received_bitrate_bps", "frozen_share", "network_delay_ms_p95", "vmaf_mean", "call_score")
_REMB_ALONE = f"{POLICY}-remb-alone"
_OWN = (POLICY, _REMB_ALONE, "weir-send", "weir-send-ccfb")
_OTHERS = (*LIBWEBRTC_SENDERS, "scream-ccfb", "rule", POLICY)


def evaluation_document(evaluated: Sequence[Evaluated], run: Mapping[str, Any]) -> dict[str, Any]:
    """The document: `run`, the numbers of goals `reached` and `decided`, and by suite the rows, families, means by set,
    scenario and controller, and measures of calls.
    """
    suites = {of_suite.planned.suite.name: _suite_document(of_suite) for of_suite in evaluated}
    totals = {name: sum(document[name] for document in suites.values()) for name in ("reached", "decided")}
    return {"schema": SCHEMA, "run": dict(run), **totals, "suites": suites}


def _suite_document(evaluated: Evaluated) -> dict[str, Any]:
    results = evaluated.results
    run = {"seeds": list(evaluated.planned.seeds), "runs": len(evaluated.records)}
    document = rows_document(SCHEMA, evaluated.rows, run)
    return {key: value for key, value in document.items() if key != "schema"} | {
        "families": [row.model_dump() for row in evaluated.families],
        "sets": {
            name: {
                "missing": scenarios.missing,
                "scenarios": {
                    scenario: {c: {m: values[m] for m in _KEPT if m in values} for c, values in by_controller.items()}
                    for scenario, by_controller in scenario_means(results.replays_of(name)).items()
                },
            }
            for name, scenarios in results.sets.items()
            if name in results.replays or scenarios.missing
        },
        "calls": {
            name: [
                {
                    "scenario": record.scenario,
                    "controller": record.controller,
                    "seed": record.seed,
                    "disturbed": record.call.disturbed,
                    "metrics": record.measures,
                }
                for record in records
            ]
            for name, records in results.calls.items()
        },
    }


def evaluation_measurement(
    evaluated: Evaluated, run: Mapping[str, Any], seeds: int, parts: Sequence[str] = ()
) -> Measurement:
    """The record of a suite's replays and calls. `run`: that of the evaluation document; `parts`: options that selected
    a part of the suite.
    """
    suite, calls = evaluated.planned.suite, any(evaluated.results.calls.values())
    values: dict[str, Value] = {}
    for replays in evaluated.planned.compared:
        records = evaluated.results.replays_of(replays.name)
        measures = _OF_VIRTUAL_CALLS if replays.call else _MEASURES
        values |= {f"{replays.name}/{key}": value for key, value in _set(records, measures)}
    for name, of_calls in _of_calls(evaluated.results.calls).items():
        values |= {f"{name}/{key}": value for key, value in _set(of_calls, _OF_CALLS)}
    for family in evaluated.families:
        if family.worst_score:
            suffix = "" if family.media == "video" else f", {family.media}"
            values[f"{family.name}{suffix}/worst"] = Value(family.worst_score.value)
    for row in evaluated.rows:
        if row.value is not None:
            values[f"goals/{row.name}"] = Value(row.value * (row.goal.scale if row.goal else 1.0))
        numbers = {key: value for key, value in row.figures.items() if isinstance(value, float)}
        values |= {f"goals/{row.name}/{key}": Value(value) for key, value in numbers.items()}
    return Measurement(
        measured="calls" if calls else "replays",
        about=suite.about,
        command=" ".join(["weir evaluate --suite", suite.name, *parts, f"--seeds {seeds}"]),
        model_sha256=run["model"]["sha256"],
        subject=suite.subject,
        simulator="" if calls else fingerprint(find_simulator(), shipped_model()),
        libwebrtc=evaluated.libwebrtc,
        date=today(),
        commit=commit(),
        values=values,
    )


def _of_calls(calls: Mapping[str, Sequence[CallRecord]]) -> Mapping[str, Sequence[CallRecord]]:
    """The undisturbed calls by set, and as "SET, all sizes" those of sets that differ only in the picture size, in
    which a scenario has the seeds of all sizes.
    """
    comparable = {name: undisturbed(records) for name, records in calls.items()}
    by_set = {name: records for name, records in comparable.items() if not name.endswith(REMB_ALONE)}
    for base in dict.fromkeys(map(base_name, by_set)):
        sizes = [records for name, records in by_set.items() if base_name(name) == base]
        if len(sizes) > 1:
            by_set[f"{base}, all sizes"] = [
                record.model_copy(update={"seed": record.seed + 1000 * index})
                for index, records in enumerate(sizes)
                for record in records
            ]
    for name, records in comparable.items():
        if name.endswith(REMB_ALONE):
            renamed = [record.model_copy(update={"controller": _REMB_ALONE}) for record in records]
            by_set[base_name(name)] = [*by_set.get(base_name(name), []), *renamed]
    return by_set


def _set(records: Sequence[Record], measures: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """The means of each controller over the common runs, and the differences of Weir's controllers to others."""
    controllers = ordered_controllers(record.controller for record in records)
    runs = distinct_runs(records)
    for name in measures:
        values = {controller: run_values(runs, controller, name) for controller in controllers}
        common = common_runs(values.values())
        for controller, by_run in values.items():
            shared = {run: value for run, value in by_run.items() if run in common}
            if mean := spread(MEASURES[name], shared):
                yield f"{controller}/{name}", Value(mean.mean, *mean.ci95)
                # A few paths on which video is seconds late determine the mean.
                if name == _END_TO_END:
                    yield f"{controller}/{name}/median", Value(statistics.median(shared.values()))
        for own in filter(values.get, _OWN):
            for other in filter(values.get, _OTHERS):
                if own != other and (pair := compare_paired(MEASURES[name], values[own], values[other])):
                    yield f"{own}-{other}/{name}", Value(pair.mean, *pair.ci95)
