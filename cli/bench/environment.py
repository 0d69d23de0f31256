"""Measures the Gymnasium environment: steps per second on all cores."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from weir.traces.schema.scenario import Scenario
from weir.trainer.gym import BottleneckVectorEnv, EnvironmentSpecification

INTERVAL_MS = 200
_STEPS = 4000


def measure_environment(simulator: Path, repetitions: int) -> list[float]:
    """Environment steps per second, one value per repetition: the vectorised environment, one process per core,
    random actions, 1 Mbps.
    """
    capacity = {"times_s": [0.0], "rates_bps": [1e6]}
    scenario = Scenario.make(name="bench", duration_s=60.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
    environment = BottleneckVectorEnv(None, scenario, EnvironmentSpecification(INTERVAL_MS), simulator=simulator)
    generator = np.random.default_rng(1)
    actions = generator.uniform(-1, 1, (_STEPS, environment.num_envs, 1)).astype(np.float32)
    speeds = []
    try:
        environment.reset(seed=1)
        for _ in range(repetitions + 1):
            begin = time.perf_counter()
            for action in actions:
                environment.step(action)
            speeds.append(_STEPS * environment.num_envs / (time.perf_counter() - begin))
    finally:
        environment.close()
    return speeds[1:]  # the first one warms up
