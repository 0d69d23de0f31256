"""Measures the Gymnasium environment: steps per second on all cores, and against OpenNetLab's published speed."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from weir.traces.schema.scenario import Scenario
from weir.trainer.gym import BottleneckVectorEnv, EnvironmentSpecification
from weir.trainer.gym.opennetlab import Gym

# The fastest training speed in ReCoCo's published TensorBoard files: one OpenNetLab environment, 200 ms steps, path
# of about 3 Mbps.
PEER_STEPS_PER_S = 86.0
INTERVAL_MS = 200
_STEPS = 4000
_PEER_DURATION_MS = 200_000


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


def measure_peer_ratio(simulator: Path, repetitions: int) -> list[float]:
    """Speed of one environment behind OpenNetLab's calls, packet records included, over PEER_STEPS_PER_S."""
    gym = Gym(simulator=simulator)
    generator = np.random.default_rng(1)
    ratios = []
    try:
        for _ in range(repetitions):
            gym.reset("", report_interval_ms=INTERVAL_MS, duration_time_ms=_PEER_DURATION_MS)
            rates = np.exp(generator.uniform(np.log(100e3), np.log(8e6), _PEER_DURATION_MS // INTERVAL_MS))
            begin, steps, done = time.perf_counter(), 0, False
            for rate in rates:
                _, done = gym.step(int(rate))
                steps += not done
            ratios.append(steps / (time.perf_counter() - begin) / PEER_STEPS_PER_S)
    finally:
        gym.close()
    return ratios
