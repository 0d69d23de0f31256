"""The scenarios of `weir experiment policy`, in sets that are judged apart.

| set | scenarios |
|---|---|
| `opennetlab`, `mahimahi` | every trace in the folder of that name, whole; 25 ms one way, queue of 300 ms of the mean |
| | capacity; faults repaired as `weir.traces` does (OpenNetLab entries above 60 Mbps are cut to that) |
| `random` | held-out scenarios of `weir.traces.generate.random_domain`, from the seed FIRST_RANDOM_SEED on |
| `more random` | those after them, for worst delays alone |
| `steady` | links of 0.3, 1, 2.5, 8 and 30 Mbps; 25 ms, 300 ms, 60 s |
| `start` | a link of 5 Mbps; 25 ms, 300 ms, 20 s |
| `halved` | 2.5 Mbps, from HALVED_AT_S on 1.25 Mbps; 25 ms, 300 ms, 60 s |
| `rfc8867` | cases 5.4, 5.5 and both of 5.6 |

Those to `steady`, but for `more random`, are compared with every controller, and decide what is said "over all sets".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weir.errors import InputError
from weir.traces.formats.convert import to_scenario
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE, scenario_from_capacity
from weir.traces.generate.random_domain import random_scenario
from weir.traces.generate.rfc8867 import competing_media, long_tcp, round_trip_time_fairness
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.scenario import Scenario

TRACE_SETS = ("opennetlab", "mahimahi")
RANDOM = "random"
MORE_RANDOM = "more random"
COMPARED_SETS = (*TRACE_SETS, RANDOM, "steady")
STEADY_MBPS = (0.3, 1.0, 2.5, 8.0, 30.0)
START_BPS = 5e6
HALVED_AT_S = 30.0
# Far from the small numbers that anyone who develops a model against the held-out split begins with.
FIRST_RANDOM_SEED = 1_000_000


@dataclass(frozen=True)
class ScenarioSet:
    """Scenarios that are judged together; `missing` says why there are none."""

    name: str
    scenarios: list[Scenario] = field(default_factory=list)
    missing: str = ""


def policy_sets(traces: Path | None, random_scenarios: int, delay_scenarios: int = 0) -> dict[str, ScenarioSet]:
    """All sets by name.

    Args:
        traces: the folder that holds `opennetlab/` and `mahimahi/`, either of which may lack.
        random_scenarios: how many.
        delay_scenarios: how many with those of `more random`, if that is more.

    Raises:
        InputError: that folder does not exist or holds neither, or a trace cannot be used.
    """
    if traces is not None and not any((traces / name).is_dir() for name in TRACE_SETS):
        raise InputError(f"--traces {traces}: no folder {' or '.join(f'{name}/' for name in TRACE_SETS)} in it")
    builders: dict[str, Callable[[], list[Scenario]]] = {
        RANDOM: lambda: _random(range(random_scenarios)),
        MORE_RANDOM: lambda: _random(range(random_scenarios, delay_scenarios)),
        "steady": lambda: [
            scenario_from_capacity(CapacityTrace.constant(rate * 1e6), f"steady-{rate:g}M") for rate in STEADY_MBPS
        ],
        "start": lambda: [scenario_from_capacity(CapacityTrace.constant(START_BPS), "start-5M", duration_s=20.0)],
        "halved": lambda: [
            scenario_from_capacity(
                CapacityTrace(np.array([0.0, HALVED_AT_S]), np.array([2.5e6, 1.25e6])), "halved-2.5M"
            )
        ],
        "rfc8867": lambda: [competing_media(), round_trip_time_fairness(), long_tcp(300.0), long_tcp(1000.0)],
    }
    sets = {name: _traces(traces, name) for name in TRACE_SETS}
    return sets | {name: ScenarioSet(name, build()) for name, build in builders.items()}


def _random(indices: range) -> list[Scenario]:
    return [random_scenario(FIRST_RANDOM_SEED + index, split="held_out") for index in indices]


def _traces(folder: Path | None, name: str) -> ScenarioSet:
    if folder is None:
        return ScenarioSet(name, missing=f"needs the {name} traces: name their folder with --traces")
    files = sorted(path for path in (folder / name).glob("*") if path.is_file() and not path.name.startswith("."))
    files = [path for path in files if path.suffix.lower() not in (".md", ".txt")]
    if not files:
        return ScenarioSet(name, missing=f"no traces in {folder.name}/{name}")
    return ScenarioSet(name, [_trace_scenario(path, name) for path in files])


def _trace_scenario(path: Path, set_name: str) -> Scenario:
    return to_scenario(
        read_trace(path, repair=True),
        name=f"{set_name}-{path.stem}",
        one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
        queue=DEFAULT_QUEUE,
    )
