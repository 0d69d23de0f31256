"""The report of a training run: learning curves, evaluations, and how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weir_cli.files.output import REPORT, write_text
from weir_eval.report.page_blocks import Charts, Entries, Section, Text, code, note
from weir_eval.report.page_table import Cell, Row, Table
from weir_eval.report.page_template import render_page
from weir_eval.runs.store import SUMMARY
from weir_train.configuration.training import TrainingConfiguration
from weir_train.learning.run_record import (
    EPISODES_SHOWN,
    MILESTONES,
    PROGRESS_LOG,
    TrainingRecord,
    evaluation_milestones,
    load_run_configuration,
    read_training_record,
    untrained_was_better,
)
from weir_train.model.file import BEST_MODEL, CONFIGURATION
from weir_train.report.training_curves import REWARD, STEPS, Curves, read_curves, training_chart


def rewrite(folder: Path) -> tuple[dict[str, Any], Path] | None:
    """`summary.json` and `report.html` of a training folder; nothing where it is none.

    Raises:
        InputError: something in it is damaged, or it cannot be written.
    """
    if not (folder / CONFIGURATION).is_file():
        return None
    configuration, record = load_run_configuration(folder), read_training_record(folder)
    curves = read_curves(folder)
    summary = _summary(configuration, record, curves)
    page = folder / REPORT
    write_text(folder / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_text(page, render(configuration, record, summary, curves))
    return summary, page


def _summary(configuration: TrainingConfiguration, record: TrainingRecord, curves: Curves) -> dict[str, Any]:
    """`summary.json`: the record and what the curves end in."""
    steps, rewards = curves.evaluation_steps, curves.evaluation_rewards
    rewards_in_training = curves.column(REWARD)
    summary: dict[str, Any] = {
        "schema": "weir.training/1",
        "name": configuration.name,
        "algorithm": configuration.algorithm,
    }
    summary |= record.model_dump(mode="json")
    # While a run goes on, and when it was killed, its record is behind what it logged.
    summary["steps"] = int(max([record.steps, *(entry[STEPS] for entry in curves.progress)]))
    summary["mean_reward"] = _finite(rewards_in_training[-1]) if len(rewards_in_training) else None
    if len(steps):
        summary["evaluation"] = {"scenarios": rewards.shape[1], **evaluation_milestones(steps, rewards)}
    return summary


def render(
    configuration: TrainingConfiguration, record: TrainingRecord, summary: Mapping[str, Any], curves: Curves
) -> str:
    """The page as text."""
    done, planned = summary["steps"], configuration.steps
    interrupted = " (interrupted, or still running)" if record.interrupted and done < planned else ""
    speed = f" in {record.wall_s:,.0f} s, {record.steps_per_s:,.0f} a second" if record.wall_s else ""
    steps = f"{done:,} of {planned:,} steps{interrupted}{speed}"
    lead = Text(f"{configuration.algorithm.upper()}, seed {configuration.seed}: {steps}.")
    sections = [_evaluation(summary, record), _curves(record, curves, done), _origin(configuration, record)]
    return render_page(f"Weir: training of {configuration.name}", [lead], sections)


def _curves(record: TrainingRecord, curves: Curves, done: int) -> Section:
    if not curves.progress:
        return Section("curves", "Learning curves", [note(f"Nothing is logged yet in {PROGRESS_LOG}.")])
    about = note(
        f"Reward in training: mean a step over the latest {EPISODES_SHOWN} episodes, with exploration; points over "
        "fewer are dotted, because short episodes end first. Losses are those of stable-baselines3; steps a second "
        "count from the start of each part of a resumed run."
    )
    return Section("curves", "Learning curves", [about, Charts([training_chart(record, curves, done)])])


def _evaluation(summary: Mapping[str, Any], record: TrainingRecord) -> Section:
    found = summary.get("evaluation")
    if found is None:
        return Section("evaluation", "Evaluation", [note("None; `weir train --eval` makes it.")])
    names = MILESTONES | {"best": f"{MILESTONES['best']}, in {BEST_MODEL}"}
    named = [(name, found[key]) for key, name in names.items() if key in found]
    rows = [Row([name, f"{entry['steps']:,}", f"{entry['mean_reward']:.4f}"]) for name, entry in named]
    warning = untrained_was_better({key: found[key] for key in names if key in found})
    if record.rule_mean_reward is not None:
        rows.append(Row(["the ten-line rule", "", f"{record.rule_mean_reward:.4f}"], is_marked=True))
    about = note(
        f"Mean reward a step, without exploration, over {found['scenarios']} scenarios that stay the same and are not "
        "trained on where scenarios are drawn at random."
    )
    table = Table(["Policy", "Steps", Cell("Reward", "a step")], rows)
    return Section("evaluation", "Evaluation", [about, table, *([note(warning)] if warning else [])])


def _origin(configuration: TrainingConfiguration, record: TrainingRecord) -> Section:
    environment, file = configuration.environment, record.configuration
    entries = [("configuration", f"{file.name}, SHA-256 {file.sha256[:16]}")] if file is not None else []
    entries += [
        *(("part", part.text) for part in record.parts),
        *(record.parts[-1].versions.items() if record.parts else ()),
        ("reward, objective", f"{environment.reward}, {environment.objective}"),
        ("environments", f"{environment.environments}, a decision every {environment.interval_ms} ms"),
    ]
    commands = [Text([code(part.command)]) for part in record.parts if part.command]
    blocks = [note(f"All settings are in `{CONFIGURATION}`."), *commands, Entries(entries)]
    return Section("origin", "How it was made", blocks)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
