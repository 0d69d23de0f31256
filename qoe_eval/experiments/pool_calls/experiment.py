"""`weir experiment pool-calls`, without its command line: which calls are made.

Scenarios are those that `weir experiment calls` compares. On each, with every seed, one after the other:

| controller | what |
|---|---|
| `weir`, `gcc` | to compare with |
| WITH_GCC | transport-cc stays in the answer: Chromium takes the smaller of REMB and its own GCC |
| BY_TRUST | at BROKEN_AT_S the pilot's model is replaced by one that always asks for its maximum |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from weir.qoe_eval.call.plan import CallPlan, CallSettings, plan_calls

WITH_GCC: Final = "pilot=weir copilots=gcc fusion=min"
BY_TRUST: Final = "pilot=weir copilots=nada,rule policy=by_trust"
ALONE: Final = ("weir", "gcc")
BROKEN_AT_S: Final = 30.0


def pool_calls(
    base: CallPlan, seeds: Sequence[int], broken: Path, out: Path, programs: Sequence[Path]
) -> dict[str, CallSettings]:
    """All calls by their key, seeds outermost, and the calls on a scenario one after the other, so that they see the
    same machine.

    Args:
        base: says everything but seeds, controllers and orders.
        seeds: of the calls.
        broken: the model that replaces the pilot's.
        out: the folder that holds a folder for every call.
        programs: executables that take part.
    """
    order = (BROKEN_AT_S, {"type": "model", "path": str(broken)})
    calls: dict[str, CallSettings] = {}
    for seed in seeds:
        for scenario in base.scenarios:
            of_one = replace(base, seeds=(seed,), scenarios=(scenario,))
            calls |= plan_calls(replace(of_one, controllers=(*ALONE, WITH_GCC)), out, programs)
            calls |= plan_calls(replace(of_one, controllers=(BY_TRUST,), orders=(order,)), out, programs)
    return calls
