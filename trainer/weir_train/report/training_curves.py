"""The learning curves of a training run: what its logs hold, and the chart of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_TEXT_BYTES
from weir_eval.json_lines import number, read_objects
from weir_eval.measures.flow_series import Array
from weir_eval.report.chart_rows import Chart, chart, line, row, thinned
from weir_train.learning.run_record import (
    EPISODES,
    EPISODES_SHOWN,
    EVALUATIONS,
    PROGRESS_LOG,
    TrainingRecord,
    read_evaluations,
)

STEPS = "time/total_timesteps"
REWARD = "rollout/mean_reward_per_step"
_TRAINING = "in training"
# Rows of the chart and their lines: name, colour and what stable-baselines3 or the recorder logs, whichever there is.
_ROWS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "Objective's terms",
        (
            ("throughput", "--series-5", "objectives/throughput"),
            ("latency", "--series-3", "objectives/latency"),
            ("loss", "--series-4", "objectives/loss"),
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


@dataclass(frozen=True)
class Curves:
    """Reads the training log.

    Attributes:
        progress: lines of stable-baselines3's log that have a number of steps.
        evaluation_steps: after how many steps the policy was evaluated, shape [n].
        evaluation_rewards: rewards a step, shape [n, scenarios].
    """

    progress: list[dict[str, float]]
    evaluation_steps: Array
    evaluation_rewards: Array

    def column(self, name: str) -> Array:
        """A number of every line of the log, shape [lines]; NaN where it has none."""
        return np.array([entry.get(name, np.nan) for entry in self.progress], dtype=np.float64)


def read_curves(folder: Path) -> Curves:
    """The logs of a training folder; empty where there are none.

    Raises:
        InputError: the evaluations are damaged.
    """
    return Curves(_read_progress(folder / PROGRESS_LOG), *read_evaluations(folder / EVALUATIONS))


def _read_progress(path: Path) -> list[dict[str, float]]:
    """The finite numbers of the lines that have a number of steps; a run that was killed may end in half a line."""
    if not path.is_file():
        return []
    if path.stat().st_size > LARGEST_TEXT_BYTES:
        raise InputError(f"{path}: over {LARGEST_TEXT_BYTES >> 20} MiB; this is not the log of a training")
    lines = ({name: finite for name, value in entry.items() if (finite := number(value)) is not None}
             for entry in read_objects(path))  # fmt: skip
    return [line for line in lines if line.get(STEPS, -1) >= 0]


def training_chart(record: TrainingRecord, curves: Curves, done: int) -> Chart:
    """The curves over thousands of steps, of `done` steps in all."""
    steps, rewards = curves.column(STEPS) / 1000.0, curves.column(REWARD)
    is_early = curves.column(EPISODES) < EPISODES_SHOWN
    lines = [line(_TRAINING, "--zero", *thinned(steps, np.where(is_early, np.nan, rewards)), decimals=3)]
    if is_early.any():
        early = thinned(steps, np.where(is_early, rewards, np.nan))
        lines.append(line("fewer episodes", "--zero", *early, dash="dot", decimals=3))
    means = curves.evaluation_rewards.mean(axis=1) if len(curves.evaluation_steps) else np.zeros(0)
    end = max(done / 1000.0, 0.001)
    if len(means):
        lines.append(line("evaluation", "--c-weir", curves.evaluation_steps / 1000.0, means, decimals=3, width=2.4))
        if record.rule_mean_reward is not None:
            height = np.full(2, record.rule_mean_reward)
            lines.append(line("rule", "--c-rule", np.array([0.0, end]), height, dash="dash", decimals=3))
    shown = np.concatenate([rewards[np.isfinite(rewards)], means])
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    margin = 0.08 * max(high - low, 0.01)
    rows = [row("Reward a step", lines, share=2.0, range=(low - margin, high + margin))]
    for title, columns in _ROWS:
        column_lines = []
        for name, colour, column in columns:
            values = curves.column(column)
            x, y = thinned(steps, np.where(is_early, np.nan, values) if column.startswith("objectives/") else values)
            known = np.isfinite(y)
            group = _TRAINING if colour == "--zero" else ""
            decimals = 0 if column == "time/fps" else 3
            column_lines.append(line(name, colour, x[known], y[known], group=group, decimals=decimals))
        rows.append(row(title, column_lines))
    return {**chart("training", "", end, rows), "x_title": "Steps, thousand"}
