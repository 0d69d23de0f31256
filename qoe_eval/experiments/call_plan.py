"""Calls as experiments make them: objective balanced, VP8, with all else of `weir call`'s own defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir.errors import InputError
from weir.qoe_eval.call.plan import DEFAULT_MAX_BITRATE_BPS, SIZES, CallPlan
from weir.registry import PRESETS
from weir.traces.schema.scenario import Scenario


def call_plan(size: str, seeds: Sequence[int], model: Path, scenarios: Sequence[Scenario] = ()) -> CallPlan:
    """A plan of Chromium's calls without controllers yet, which `dataclasses.replace` names.

    Raises:
        InputError: `size` is none of SIZES.
    """
    if size not in SIZES:
        raise InputError(f"--size {size}: use {', '.join(SIZES)}")
    width, height = SIZES[size]
    return CallPlan(
        scenarios=scenarios,
        sender="chromium",
        controllers=(),
        objective=PRESETS["balanced"],
        seeds=seeds,
        width=width,
        height=height,
        codec="VP8",
        max_bitrate_bps=DEFAULT_MAX_BITRATE_BPS,
        model=model,
    )
