"""The choice of a kind of path by a mixture of trees (section III-F), from the file of its model."""

from __future__ import annotations

import json
from pathlib import Path

from weir import Model
from weir_cli.errors import InputError
from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import goal_row


def nearest_row(nearest: float | None) -> GoalRow:
    """The goal of the choice. `nearest` is the share of held-out flows whose kind is among the true two nearest."""
    goal = Bound("at least", 0.97, "%", scale=100, decimals=1)
    description = "held-out flows: chosen kind among the true two nearest"
    return goal_row("nearest", description, goal, nearest, reason="the model is no mixture")


def nearest_share(file: Path) -> float | None:
    """The share of held-out flows whose chosen kind is among the true two nearest, from the model's provenance; None:
    it has none.

    Raises:
        InputError: the model cannot be read.
    """
    try:
        provenance = json.loads(Model.load(file).description["provenance"] or "{}")
        share = provenance["muses"]["held_out"]["chosen_among_two_nearest"]
    except (KeyError, TypeError):
        return None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    is_share = isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
    return float(share) if is_share else None
