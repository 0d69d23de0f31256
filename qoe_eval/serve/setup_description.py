"""What the page is told when it opens: what can be chosen, between which bounds, and how measures are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.qoe_eval.call.settings import SIZES
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.serve.call_folders import IN_LIST, SHOWN
from weir.qoe_eval.serve.call_request import DURATION_S, SENDERS
from weir.qoe_eval.serve.sketch import sketch
from weir.registry import CONTROLLERS, IN_CALLS, PRESETS, uses_model
from weir.traces.schema.scenario import Scenario
from weir.trainer.gym import MINIMUM_RANDOM_WEIGHT

_OF_A_MEASURE = ("label", "unit", "scale", "decimals", "better", "meaning")


def describe_setup(scenarios: Mapping[str, Sequence[Scenario]], out: Path) -> dict[str, Any]:
    """The description as JSON values.

    Args:
        scenarios: by the heading under which they are shown.
        out: the folder of calls.
    """
    return {
        "scenarios": [sketch(one, group) for group, found in scenarios.items() for one in found],
        "presets": {name: list(weights) for name, weights in PRESETS.items()},
        "minimum_weight": MINIMUM_RANDOM_WEIGHT,
        "senders": SENDERS,
        "controllers": [
            {"name": name, "summary": CONTROLLERS[name].summary, "follows_objective": uses_model(name)}
            for name in IN_CALLS
        ],
        "sizes": list(SIZES),
        "duration_s": DURATION_S,
        "measures": [
            {"name": name, "in_list": name in IN_LIST}
            | {field: getattr(MEASURES[name], field) for field in _OF_A_MEASURE}
            for name in SHOWN
        ],
        "folder": str(out),
    }
