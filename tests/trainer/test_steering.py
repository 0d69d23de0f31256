"""Decisions of the shipped model under different weights, on the same states of simulated calls."""

from pathlib import Path

import numpy as np
import pytest

import weir
import weir_train
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import load_configuration
from weir_train.gym.vector import BottleneckVectorEnv

pytest.importorskip("torch", reason="needs weir-train[learning]")

WEIR_TOML = Path(weir_train.__file__).parent / "configs" / "weir.toml"
# From the preset throughput over balanced to latency.
OBJECTIVES = [(0.8, 0.1, 0.1), (0.65, 0.25, 0.1), (0.5, 0.4, 0.1), (0.3, 0.6, 0.1), (0.1, 0.8, 0.1)]
ENVIRONMENTS, STEPS = 12, 200


def rates_bps(policy, observations, objectives):
    pairs = zip(observations.tolist(), objectives, strict=True)
    return np.array([policy.run(observation, tuple(map(float, weights)))[0] for observation, weights in pairs])


def test_less_weight_on_throughput_never_raises_the_rate_that_is_decided_on_a_state(real_simulator):
    policy = weir.Policy(weir.shipped_model_path().read_bytes())
    configuration = load_configuration(WEIR_TOML).in_stages()[1]
    specification = configuration.environment.specification()
    paths = ScenarioSampler(configuration.scenarios, "held_out")
    size, decided = specification.observation_size, []
    environment = BottleneckVectorEnv(
        ENVIRONMENTS, paths, specification, objective="random", reward="challenge", simulator=real_simulator
    )
    try:
        seen, _ = environment.reset(seed=1)
        for step in range(STEPS):
            observations = seen[:, :size].copy()
            if step > 20 and step % 5 == 0:
                decided.append([rates_bps(policy, observations, [weights] * ENVIRONMENTS) for weights in OBJECTIVES])
            chosen = rates_bps(policy, observations, seen[:, size : size + 3])
            actions = specification.actions_for(chosen, seen).astype(np.float32)
            seen, *_ = environment.step(actions.reshape(environment.action_space.shape))
    finally:
        environment.close()
    rates = np.concatenate(decided, axis=1)
    assert rates.shape[1] > 400
    assert (rates[1:] <= rates[:-1] * 1.002).all()
    # Half of the states are far enough from the limits of the action for the presets to differ.
    assert np.median(rates[0] / rates[-1]) > 1.1
