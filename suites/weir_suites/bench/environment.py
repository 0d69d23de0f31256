"""Measures the environments in steps per second: a vector of Gymnasium environments, and OpenNetLab's gym."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from weir_sim.executables import Stack
from weir_traces.schema.scenario import Scenario
from weir_train.gym import BottleneckVectorEnv, EnvironmentSpecification
from weir_train.gym.opennetlab import Gym

INTERVAL_MS = 200
OPENNETLAB_INTERVAL_MS = 60
_ENVIRONMENTS = 8  # the default of [environment]
_STEPS = 4000


def measure_environment(simulator: Path, repetitions: int) -> list[float]:
    """Environment steps per second, one value per repetition, with random actions on 1 Mbps and as many environments as
    the default of a training.
    """
    capacity = {"times_s": [0.0], "rates_bps": [1e6]}
    scenario = Scenario.make(name="bench", duration_s=60.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
    environment = BottleneckVectorEnv(
        _ENVIRONMENTS, scenario, EnvironmentSpecification(INTERVAL_MS), simulator=simulator
    )
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


def measure_opennetlab(stack: Stack, repetitions: int) -> list[float]:
    """Steps of 60 ms per second of OpenNetLab's gym, one value per repetition: one process, 1 Mbps over 3 Mbps.

    Raises:
        MissingComponent: the stack's program is not installed.
    """
    gym = Gym(stack=stack)
    speeds = []
    try:
        for _ in range(repetitions + 1):
            gym.reset(report_interval_ms=OPENNETLAB_INTERVAL_MS, duration_time_ms=_STEPS * OPENNETLAB_INTERVAL_MS)
            begin = time.perf_counter()
            while not gym.step(1_000_000)[1]:
                pass
            speeds.append(_STEPS / (time.perf_counter() - begin))
    finally:
        gym.close()
    return speeds[1:]  # the first one warms up
