"""The report of a training run: learning curves, evaluations, and how it was made."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from weir.errors import InputError
from weir.files.output import write_text
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.report.chart_rows import Array, chart, line, row, thinned
from weir.qoe_eval.report.page_template import render_page
from weir.trainer.learning.configuration import TrainingConfiguration
from weir.trainer.learning.run_record import (
    CONFIGURATION,
    EVALUATIONS,
    PROGRESS_LOG,
    RunRecord,
    load_run_configuration,
    read_run_record,
)

SUMMARY = "summary.json"
REPORT = "report.html"
_STEPS = "time/total_timesteps"
_TRAINING = "in training"
# Rows of the chart and their lines: name, colour and what stable-baselines3 or the recorder logs, whichever there is.
_ROWS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "Objective's terms",
        (
            ("throughput", "--c-nada", "objectives/throughput"),
            ("latency", "--c-gcc-remb", "objectives/latency"),
            ("loss", "--c-pcc", "objectives/loss"),
        ),
    ),
    (
        "Policy loss",
        (
            ("policy loss", "--zero", "train/policy_gradient_loss"),
            ("actor loss", "--zero", "train/actor_loss"),
        ),
    ),
    (
        "Value loss",
        (("value loss", "--zero", "train/value_loss"), ("critic loss", "--zero", "train/critic_loss")),
    ),
    (
        "Exploration",
        (("standard deviation", "--zero", "train/std"), ("entropy coefficient", "--zero", "train/ent_coef")),
    ),
    ("Steps a second", (("steps a second", "--zero", "time/fps"),)),
)


def rewrite(folder: Path) -> tuple[dict[str, Any], Path] | None:
    """`summary.json` and `report.html` of a training folder; nothing where it is none.

    Raises:
        InputError: something in it is damaged, or it cannot be written.
    """
    if not (folder / CONFIGURATION).is_file():
        return None
    configuration, record = load_run_configuration(folder), read_run_record(folder)
    progress, evaluations = _read_progress(folder / PROGRESS_LOG), _read_evaluations(folder / EVALUATIONS)
    summary = _summary(configuration, record, progress, evaluations)
    page = folder / REPORT
    write_text(folder / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_text(page, _render(configuration, record, summary, progress, evaluations))
    return summary, page


def _read_progress(path: Path) -> list[dict[str, Any]]:
    """The lines that have a number of steps; a run that was killed may end in half a line."""
    if not path.is_file():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            values = json.loads(text)
        except ValueError:
            continue
        if isinstance(values, dict) and isinstance(values.get(_STEPS), int | float):
            lines.append(values)
    return lines


def _read_evaluations(path: Path) -> tuple[Array, Array]:
    """Steps (E,) and rewards a step (E, scenarios)."""
    if not path.is_file():
        return np.zeros(0), np.zeros((0, 0))
    try:
        with np.load(path, allow_pickle=False) as file:
            steps, rewards = file["timesteps"].astype(float), file["results"].astype(float)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise InputError(f"{path}: is not what `weir train --eval` writes: {error}") from None
    if rewards.ndim != 2 or steps.shape != rewards.shape[:1] or not rewards.size:
        raise InputError(f"{path}: has {steps.shape} steps and rewards of shape {rewards.shape}")
    return steps, rewards


def _column(progress: list[dict[str, Any]], name: str) -> Array:
    values = (entry.get(name) for entry in progress)
    return np.array([float(value) if isinstance(value, int | float) else np.nan for value in values])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _summary(
    configuration: TrainingConfiguration,
    record: RunRecord,
    progress: list[dict[str, Any]],
    evaluations: tuple[Array, Array],
) -> dict[str, Any]:
    """`summary.json`: the record and what the curves end in."""
    steps, rewards = evaluations
    rewards_in_training = _column(progress, "rollout/mean_reward_per_step")
    summary: dict[str, Any] = {
        "schema": "weir.training/1",
        "name": configuration.name,
        "algorithm": configuration.algorithm,
    }
    summary |= record.model_dump(mode="json")
    # While a run goes on, and when it was killed, its record is behind what it logged.
    summary["steps"] = int(max([record.steps, *(entry[_STEPS] for entry in progress)]))
    summary["mean_reward"] = _finite(rewards_in_training[-1]) if len(progress) else None
    if len(steps):
        means = rewards.mean(axis=1)
        best = int(np.argmax(means))
        summary["evaluation"] = {
            "scenarios": rewards.shape[1],
            "best": {"steps": int(steps[best]), "mean_reward": float(means[best])},
            "last": {"steps": int(steps[-1]), "mean_reward": float(means[-1])},
        }
    return summary


def _render(
    configuration: TrainingConfiguration,
    record: RunRecord,
    summary: dict[str, Any],
    progress: list[dict[str, Any]],
    evaluations: tuple[Array, Array],
) -> str:
    done, planned = summary["steps"], configuration.steps
    lead = f"{escape(configuration.algorithm.upper())}, seed {configuration.seed}: {done:,} of {planned:,} steps"
    lead += " (interrupted, or still running)" if record.interrupted and done < planned else ""
    lead += f" in {record.wall_s:,.0f} s, {record.steps_per_s:,.0f} a second." if record.wall_s else "."
    parts = [_evaluation(summary, record), _curves(progress), _origin(configuration, record)]
    links = [("evaluation", "Evaluation"), ("curves", "Learning curves"), ("origin", "How it was made")]
    charts = [_chart(record, progress, evaluations, done)] if progress else []
    return render_page(f"Weir: training of {configuration.name}", lead, parts, links, {"charts": charts}, "rows.js")


def _evaluation(summary: dict[str, Any], record: RunRecord) -> str:
    found = summary.get("evaluation")
    if found is None:
        return html.section("evaluation", "Evaluation", "None; <code>weir train --eval</code> makes it.", "")
    rows = [
        html.row([name, f"{entry['steps']:,}", f"{entry['mean_reward']:.4f}"])
        for name, entry in (("best, in best_model.zip", found["best"]), ("last", found["last"]))
    ]
    if record.rule_mean_reward is not None:
        rows.append(html.row(["the ten-line rule", "", f"{record.rule_mean_reward:.4f}"], reference=True))
    note = (
        f"Mean reward a step, without exploration, over {found['scenarios']} scenarios that stay the same and are not "
        "trained on where scenarios are drawn at random."
    )
    return html.section(
        "evaluation", "Evaluation", note, html.table(["Policy", "Steps", "Reward<small>a step</small>"], rows)
    )


def _curves(progress: list[dict[str, Any]]) -> str:
    if not progress:
        return html.section("curves", "Learning curves", f"Nothing is logged yet in {PROGRESS_LOG}.", "")
    note = (
        "Reward in training: mean a step over the latest 200 episodes, with exploration. Losses are those of "
        "stable-baselines3; steps a second count from the start of each part of a resumed run."
    )
    return html.section(
        "curves", "Learning curves", note, '<div id="chart-0" class="chart connection" data-chart="0"></div>'
    )


def _origin(configuration: TrainingConfiguration, record: RunRecord) -> str:
    code = '<p><code style="overflow-wrap: anywhere">{}</code></p>'
    commands = "".join(code.format(escape(command)) for command in record.commands)
    rows = []
    if record.configuration is not None:
        text = f"{record.configuration.name}, SHA-256 {record.configuration.sha256[:16]}"
        rows.append(html.row(["configuration", escape(text)]))
    rows += [html.row([escape(name), escape(version)]) for name, version in record.versions.items()]
    environment = configuration.environment
    rows.append(html.row(["reward, objective", escape(f"{environment.reward}, {environment.objective}")]))
    text = f"{environment.environments}, a decision every {environment.interval_ms} ms"
    rows.append(html.row(["environments", escape(text)]))
    return html.section(
        "origin",
        "How it was made",
        f"All settings are in <code>{CONFIGURATION}</code>.",
        commands + html.table(["", ""], rows),
    )


def _chart(
    record: RunRecord, progress: list[dict[str, Any]], evaluations: tuple[Array, Array], done: int
) -> dict[str, Any]:
    """The curves over thousands of steps."""
    steps = _column(progress, _STEPS) / 1000.0
    rewards = _column(progress, "rollout/mean_reward_per_step")
    x, y = thinned(steps, rewards)
    lines = [line(_TRAINING, "--zero", x, y, decimals=3)]
    means = evaluations[1].mean(axis=1) if len(evaluations[0]) else np.zeros(0)
    end = max(done / 1000.0, 0.001)
    if len(means):
        lines.append(line("evaluation", "--c-weir", evaluations[0] / 1000.0, means, decimals=3, width=2.4))
        if record.rule_mean_reward is not None:
            height = np.full(2, record.rule_mean_reward)
            lines.append(line("rule", "--c-rule", np.array([0.0, end]), height, dash="dash", decimals=3))
    shown = np.concatenate([rewards[np.isfinite(rewards)], means])
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    margin = 0.08 * max(high - low, 0.01)
    rows = [row("Reward a step", lines, share=2.0, range=(low - margin, high + margin))]
    for title, columns in _ROWS:
        drawn = []
        for name, colour, column in columns:
            x, y = thinned(steps, _column(progress, column))
            known = np.isfinite(y)
            group = _TRAINING if colour == "--zero" else ""
            decimals = 0 if column == "time/fps" else 3
            drawn.append(line(name, colour, x[known], y[known], group=group, decimals=decimals))
        rows.append(row(title, drawn))
    return chart("training", "", end, rows) | {"x_title": "Steps, thousand"}
