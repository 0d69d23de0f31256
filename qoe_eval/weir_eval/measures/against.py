"""Compares the results of two folders: every controller with itself, paired by scenario and seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_eval.measures.command_options import differing_options
from weir_eval.measures.run_values import distinct_runs, run_values
from weir_eval.measures.statistics import compare_paired
from weir_eval.measures.table import MEASURES, Kind, Measure
from weir_eval.records.against import Against, Both
from weir_eval.records.call_record import CallRecord
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.record import Record
from weir_eval.records.summary import Summary

AnyRecord = TypeVar("AnyRecord", bound=Record)
_THERE = "\n there"
"""Behind the names of controllers of the other folder; no name has a line break."""
_MOST_NAMED = 5
_LONGEST_NAME = 60
_OF_OBJECTIVE = ("utility",)
"""The measures that an objective defines: under another one, they are other measures."""
_SETTINGS = {
    "objective", "versions", "duration_s", "path", "media", "model_sha256", "decision_delay_ms", "stack",
    "virtual_call",
}  # fmt: skip
_CALL_SETTINGS = {
    "sender", "receiver", "codec", "audio_codec", "width", "height", "frames_per_second", "max_bitrate_bps",
    "decision_delay_ms", "lip_sync", "playout", "transport_cc",
}  # fmt: skip


def compare_with(
    summary: Summary, records: Sequence[AnyRecord], others: Sequence[AnyRecord], folder: Path, command: str, kind: Kind
) -> Against:
    """The comparison of `records`, which are those of `summary`, with those of another folder.

    Raises:
        InputError: no run pairs.
    """
    here, there = _by_run(records), _by_run(others)
    keys = [key for key in here if key in there]
    if not keys:
        raise InputError(f"--against '{printable(folder)}': {_nothing_pairs(records, others)}")
    pairs = [(here[key], there[key]) for key in keys]
    controllers = [name for name in summary.controllers if any(name == key[0] for key in keys)]
    # Runs that repeat another one at both ends are counted once, as within a folder.
    renamed = [other.model_copy(update={"controller": other.controller + _THERE}) for _, other in pairs]
    distinct = distinct_runs([*(own for own, _ in pairs), *renamed])

    def row(name: str, measure: Measure) -> PairedRow | None:
        own, other = (run_values(distinct, shown, measure.name) for shown in (name, name + _THERE))
        found = compare_paired(measure, own, other, summary.run.near_copies)
        return PairedRow.of(name, name, measure.name, found) if found else None

    measures: dict[str, Measure] = dict(MEASURES.of(kind))
    if any(own.objective != other.objective for own, other in pairs):
        measures = {name: measure for name, measure in measures.items() if name not in _OF_OBJECTIVE}
    options = differing_options(summary.run.command, command)
    return Against(
        folder=str(folder),
        command=command,
        runs=len(pairs),
        unpaired_here=len(here) - len(pairs),
        unpaired_there=len(there) - len(pairs),
        equal=sum(all(own.measures.get(name) == other.measures.get(name) for name in measures) for own, other in pairs),
        differing={name: _here_and_there(*both) for name, both in options.items()} | _differing(pairs),
        paired=[found for name in controllers for measure in measures.values() if (found := row(name, measure))],
        scenarios=_means(pairs, measures),
    )


def _by_run(records: Sequence[AnyRecord]) -> dict[tuple[str, str, int], AnyRecord]:
    return {(record.controller, record.scenario, record.seed): record for record in records}


def _means(
    pairs: Sequence[tuple[Record, Record]], measures: Mapping[str, Measure]
) -> dict[str, dict[str, dict[str, Both]]]:
    values: dict[str, dict[str, dict[str, list[tuple[float, float]]]]] = {}
    for own, other in pairs:
        by_measure = values.setdefault(own.scenario, {}).setdefault(own.controller, {})
        for name in measures:
            first, second = own.measures.get(name), other.measures.get(name)
            if first is not None and second is not None:
                by_measure.setdefault(name, []).append((first, second))
    return {
        scenario: {
            controller: {
                name: (fmean(first for first, _ in both), fmean(second for _, second in both))
                for name, both in by_measure.items()
            }
            for controller, by_measure in by_controller.items()
        }
        for scenario, by_controller in values.items()
    }


def _differing(pairs: Sequence[tuple[Record, Record]]) -> dict[str, str]:
    """The settings that differ, with their values where these are the same in all pairs that differ."""
    found: dict[str, set[tuple[str, str]]] = {}
    counts: dict[str, int] = {}
    for pair in pairs:
        first, second = (dict(_settings(record)) for record in pair)
        for name in dict.fromkeys([*first, *second]):
            both = first.get(name, "none"), second.get(name, "none")
            if both[0] != both[1]:
                found.setdefault(name, set()).add(both)
                counts[name] = counts.get(name, 0) + 1
    return {
        name: _here_and_there(*next(iter(values)))
        if len(values) == 1
        else f"{_range(own for own, _ in values)} here, {_range(other for _, other in values)} there"
        f" (in {counts[name]} of {len(pairs)} pairs)"
        for name, values in found.items()
    }


def _range(values: Iterable[str]) -> str:
    """Lowest and highest of numbers; other texts in their order."""
    distinct = sorted(set(values))
    try:
        numbers = sorted(map(float, distinct))
    except ValueError:
        return _named(distinct)
    return " to ".join(f"{number:g}" for number in dict.fromkeys((numbers[0], numbers[-1])))


def _here_and_there(own: str, other: str) -> str:
    return f"{own} here, {other} there"


def _settings(record: Record) -> Iterator[tuple[str, str]]:
    """The settings of a record by name, as texts; values of objects by `object.name`."""
    yield from _flat("", record.model_dump(mode="json", include=_SETTINGS))
    if isinstance(record, CallRecord):
        yield from _flat("", record.call.model_dump(mode="json", include=_CALL_SETTINGS))


def _flat(prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        elif isinstance(value, list):
            yield prefix + name, ", ".join(map(str, value))
        elif value not in (None, ""):
            yield prefix + name, str(value)


def _nothing_pairs(records: Sequence[Record], others: Sequence[Record]) -> str:
    """Why no run pairs, and the way to have pairs."""
    names = {
        "controller": [[record.controller for record in some] for some in (records, others)],
        "scenario": [[record.scenario for record in some] for some in (records, others)],
    }
    for what, (first, second) in names.items():
        if not set(first) & set(second):
            return (
                f"nothing pairs: no {what} is in both (here {_named(first)}; there {_named(second)}); a controller is "
                "compared with itself, on scenarios of the same names and seeds"
            )
    seeds = "; ".join(
        f"{where} {_named([str(record.seed) for record in some])}"
        for where, some in (("here", records), ("there", others))
    )
    return (
        f"nothing pairs: no controller ran on the same scenario with the same seed in both (seeds {seeds}); replay "
        "one of them with the seeds of the other"
    )


def _named(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMED} more" if len(distinct) > _MOST_NAMED else ""
    shown = (name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…" for name in distinct[:_MOST_NAMED])
    return ", ".join(map(printable, shown)) + more
