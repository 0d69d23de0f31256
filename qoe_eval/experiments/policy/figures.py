"""Goals whose figures other commands measure: adaptation, training, decision time. They are read from JSON files.

| file | key | meaning |
|---|---|---|
| adaptation | `steps_ratio` | steps from scratch / steps of adaptation, to 99 % of the gain on the new objective |
| | `old_objectives_loss_ratio` | part of the reward on old objectives that adaptation cost, 0 to 1 |
| training | `wall_s` | seconds from nothing to the shipped model, all phases |
| | `steps_per_s` | environment steps per second, learning included |
| bench | `estimator.decision_us_p50`, `estimator.decision_us_p99` | as `weir bench` writes them |

A key that is null was measured and never came to an end (an adaptation that does not get to 99 %): a goal missed.
A file may name its model by `model_sha256`; figures of another model are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import parse_json, printable, read_text
from weir.qoe_eval.report.goal_table import Goal, Row, measured, missed, not_measured

_ROWS = (
    ("adaptation", "steps_ratio", "adaptation_steps", "adaptation to an unseen objective: times fewer steps than from "
     "scratch to 99 % of the gain", Goal("at least", 14.2, decimals=1)),
    ("adaptation", "old_objectives_loss_ratio", "adaptation_loss", "adaptation: loss on old objectives",
     Goal("at most", 0.05, "%", strict=True, scale=100, decimals=1)),
    ("training", "wall_s", "training_time", "training the shipped model from nothing, 2 cores",
     Goal("at most", 3 * 3600.0, "h", scale=1 / 3600)),
    ("training", "steps_per_s", "training_rate", "training: rate with learning on",
     Goal("at least", 2000.0, "steps/s", decimals=0)),
    ("bench", "estimator.decision_us_p50", "decision_p50", "decision time, median", Goal("at most", 8.0, "µs")),
    ("bench", "estimator.decision_us_p99", "decision_p99", "decision time, 99th percentile",
     Goal("at most", 40.0, "µs")),
)  # fmt: skip


def read_figures(options: Mapping[str, Path | None]) -> dict[str, dict[str, Any]]:
    """The files that were named, by their option without its dashes.

    Raises:
        InputError: a file is missing, or no JSON object.
    """
    found = {}
    for name, path in options.items():
        if path is None:
            continue
        source = f"--{name} {printable(path)}"
        document = parse_json(read_text(path), source)
        if not isinstance(document, dict):
            raise InputError(f"{source}: must be a JSON object such as {{{_example(name)}}}")
        found[name] = document
    return found


def figure_rows(figures: Mapping[str, Mapping[str, Any]], model_sha256: str) -> Iterator[Row]:
    """The rows of this module; files are by option, as `read_figures` returns them."""
    for option, key, name, what, goal in _ROWS:
        document = figures.get(option)
        if document is None:
            yield not_measured(name, what, goal, f"give its file with --{option}")
            continue
        value = document.get(key)
        if document.get("model_sha256", model_sha256) != model_sha256:
            yield not_measured(name, what, goal, f"the --{option} file is about another model")
        elif key in document and value is None:
            yield missed(name, what, goal, "never")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            yield not_measured(name, what, goal, f"no number {key} in the --{option} file")
        else:
            yield measured(name, what, goal, float(value))


def _example(option: str) -> str:
    return ", ".join(f'"{key}": 1.0' for name, key, *_ in _ROWS if name == option)
