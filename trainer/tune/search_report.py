"""The result of a search: `best.toml`, `summary.json` and the page with its trials."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import InputError
from weir.files.output import write_text
from weir.qoe_eval.report.chart_rows import Chart, Line, chart, line, row, thinned
from weir.qoe_eval.report.page_table import Cell, Row, Table
from weir.qoe_eval.report.page_template import REPORT, SUMMARY, Section, View, render_page
from weir.trainer.configuration.tuning import TuneSettings, with_parameters
from weir.trainer.report.training_curves import REWARD, STEPS, read_curves
from weir.trainer.tune.description import DESCRIPTION, Description, read_description
from weir.trainer.tune.toml_text import to_toml
from weir.trainer.tune.trial import TRAINING, TrialRecord, read_trials, trial_file

BEST = "best.toml"
_DECIMALS = 2
_WHOLE_TICKS = 20


def rewrite(search: Path) -> tuple[View, Path] | None:
    """Writes the result of a search so far; nothing where the folder holds none.

    Raises:
        InputError: something in it is damaged, or it cannot be written.
    """
    if not (search / DESCRIPTION).is_file():
        return None
    description, records = read_description(search), read_trials(search)
    for record in records:
        _check(search, description, record)
    best = best_trial(records)
    if best is not None:
        values = {key: value for key, value in description.configuration.items() if key != "tune"}
        write_text(search / BEST, to_toml(with_parameters(values, best.parameters)))
    summary: View = {
        "schema": "weir.tune/1",
        "name": description.base.name,
        "best": best.number if best else None,
        "trials": [record.model_dump(mode="json") for record in records],
        **description.model_dump(mode="json"),
    }
    write_text(search / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_text(search / REPORT, _render(search, description, records, best))
    return summary, search / REPORT


def _check(search: Path, description: Description, record: TrialRecord) -> None:
    """Raises an InputError for a record that no trial of the search writes."""
    assert description.base.tune is not None
    space = description.base.tune.parameters
    drawn = record.parameters.keys() == space.keys() and all(
        space[path].has(value) for path, value in record.parameters.items()
    )
    if not drawn or (record.state == "complete" and not record.scores):
        raise InputError(f"{trial_file(search, record.number)}: is no trial of this search")


def best_trial(records: Sequence[TrialRecord]) -> TrialRecord | None:
    """The complete trial with the best viewer's quality."""
    complete = [record for record in records if record.state == "complete"]
    return max(complete, key=lambda record: record.scores[-1].viewer_quality, default=None)


def _render(search: Path, description: Description, records: Sequence[TrialRecord], best: TrialRecord | None) -> str:
    tune = description.base.tune
    assert tune is not None
    counts = {state: sum(record.state == state for record in records) for state in ("complete", "pruned", "failed")}
    judged = [record for record in records if record.scores]
    lead = {
        "name": description.base.name,
        "best": best and {"number": best.number, "score": f"{best.scores[-1].viewer_quality:.{_DECIMALS}f}"},
        "over": sum(counts.values()),
        "planned": tune.trials,
        "counts": ", ".join(f"{count} {state}" for state, count in counts.items() if count),
    }
    about = {"scenarios": tune.scenarios, "duration_s": f"{tune.scenario_duration_s:g}", "best": BEST}
    sections = [
        Section("trials", "Trials", "trials", {**about, "table": _table(tune, records, best)}),
        Section("parameters", "Parameters", "parallel", {}) if judged else None,
        Section("curves", "Learning curves", "trial_curves", {}) if judged else None,
        Section(
            "origin",
            "How it was made",
            "origin",
            {"configuration": DESCRIPTION, "commands": description.commands, "entries": []},
        ),
    ]
    data = {
        "charts": [_curves(search, judged, best, description.base.steps)] if judged else [],
        "parallel": [*(_dimension(tune, path, judged) for path in tune.parameters), _quality(judged)] if judged else [],
    }
    return render_page("tune_lead", f"Weir: search for {description.base.name}", lead, sections, data)


def _table(tune: TuneSettings, records: Sequence[TrialRecord], best: TrialRecord | None) -> Table:
    """Best first, those without a score last."""
    order = sorted(
        records, key=lambda record: (record.state != "complete", -(record.viewer_quality or 0.0), record.number)
    )
    heads: list[Cell | str] = [
        "Trial", "State", "Steps", Cell("Viewer’s quality", "of 100 ↑"), Cell("Challenge", "of 100 ↑"),
        Cell("Time", "s"), *tune.parameters,
    ]  # fmt: skip
    rows = []
    for record in order:
        last = record.scores[-1] if record.scores else None
        scores = [f"{last.steps:,}", f"{last.viewer_quality:.2f}", f"{last.challenge:.2f}"] if last else ["", "", ""]
        state = Cell(record.state, title=record.error)
        values = [_text(record.parameters.get(path)) for path in tune.parameters]
        rows.append(Row([str(record.number), state, *scores, f"{record.wall_s:,.0f}", *values], record is best))
    return Table(heads, rows)


def _curves(search: Path, judged: Sequence[TrialRecord], best: TrialRecord | None, steps: int) -> Chart:
    """Scores and rewards of each trial over thousands of steps; the best one in Weir's colour, above the others."""
    scores, rewards = [], []
    for record in sorted(judged, key=lambda record: record is best):
        colour = "--c-weir" if record is best else "--zero"
        style: dict[str, Any] = {"group": "the best trial" if record is best else "other trials", "decimals": 3}
        x = np.array([score.steps for score in record.scores]) / 1000.0
        scores.append(line(record.name, colour, x, np.array([one.viewer_quality for one in record.scores]), **style))
        curves = read_curves(trial_file(search, record.number).parent / TRAINING)
        x, y = thinned(curves.column(STEPS) / 1000.0, curves.column(REWARD))
        rewards.append(line(record.name, colour, x, y, **style))
    rows = [
        row(title, lines, range=_range(lines))
        for title, lines in (("Viewer's quality", scores), ("Reward a step", rewards))
    ]
    return {**chart("trials", "", steps / 1000.0, rows), "x_title": "Steps, thousand"}


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    values = [value for one in lines if one is not None for value in one["y"] if value is not None] or [0.0]
    margin = 0.08 * max(max(values) - min(values), 0.01)
    return min(values) - margin, max(values) + margin


def _dimension(tune: TuneSettings, path: str, judged: Sequence[TrialRecord]) -> View:
    """An axis of the parallel coordinates: positions of the trials, and ticks. A logarithmic one has decades."""
    space = tune.parameters[path]
    values = [record.parameters[path] for record in judged]
    if space.choices is not None:
        texts = [_text(choice) for choice in space.choices]
        return {
            "label": path, "values": [texts.index(_text(value)) for value in values],
            "range": [0, len(texts) - 1], "tickvals": list(range(len(texts))), "ticktext": texts,
        }  # fmt: skip
    low, high = space.bounds
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if not space.log:
        ticks = list(range(int(low), int(high) + 1)) if space.is_whole and high - low <= _WHOLE_TICKS else None
        return {"label": path, "values": numbers, "range": [low, high], "tickvals": ticks}
    ends = [math.log10(low), math.log10(high)]
    decades = [*ends, *range(math.ceil(ends[0] + 0.1), math.ceil(ends[1] - 0.1))]
    return {
        "label": path, "values": [math.log10(number) for number in numbers], "range": ends,
        "tickvals": decades, "ticktext": [f"{10**tick:.3g}" for tick in decades],
    }  # fmt: skip


def _quality(judged: Sequence[TrialRecord]) -> View:
    return {"label": "viewer’s quality", "values": [record.scores[-1].viewer_quality for record in judged]}


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)
