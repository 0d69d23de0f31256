"""Scaled observations: bounded wherever raw ones lie in their space, and what a trained network sees."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from weir import FEATURES
from weir_train.gym import BottleneckEnv, ScaledObservation, ScaledVectorObservation
from weir_train.gym.scaling import scaled_inputs, scaling_vectors
from weir_train.gym.specification import DEFAULT_FEATURES, ActionSpecification, EnvironmentSpecification
from weir_train.model.golden_inputs import golden_inputs

FEATURE_SETS = {
    "default": DEFAULT_FEATURES,
    "all": tuple(FEATURES),
    "without the rule's": ("loss_ratio", "delay_gradient"),
}


@pytest.mark.parametrize("privileged", [False, True])
@pytest.mark.parametrize("features", FEATURE_SETS.values(), ids=FEATURE_SETS)
def test_every_raw_observation_becomes_one_of_the_space(fake_simulator, steady, features, privileged):
    specification = EnvironmentSpecification(features=features, privileged=privileged)
    raw = BottleneckEnv(steady(), specification, simulator=fake_simulator)
    scaled = ScaledObservation(raw)
    space = scaled.observation_space
    assert max(-space.low.min(), space.high.max()) <= 8
    vectors = scaling_vectors(raw.specification)
    generator = np.random.default_rng(1)
    low, high = raw.observation_space.low, raw.observation_space.high
    corners = np.where(generator.random((500, len(low))) < 0.5, low, high)
    for observation in [*corners, low, high, np.zeros_like(low)]:
        # Without cutting, as in `observation`.
        assert space.contains(scaled_inputs(np, raw.specification, vectors, observation[None])[0])
    raw.close()


def test_it_is_what_the_network_sees():
    torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
    feature_scaling = pytest.importorskip("weir_train.policies.feature_scaling", reason="needs weir-train[learning]")
    specification = EnvironmentSpecification(
        100, tuple(FEATURES), 4, ActionSpecification("around_rule", span=4.0), privileged=True
    )
    low, high = specification.observation_limits()
    network = feature_scaling.FeatureScaling(gymnasium.spaces.Box(low, high, dtype=np.float32), specification)
    history, objective = golden_inputs(specification)
    privileged = np.tile(np.array([[1e6, 2e6, 25.0, 10.0, 0.1]]), (len(history), 1))
    raw = np.concatenate([history, objective, privileged], axis=1).astype(np.float32)
    inputs = scaled_inputs(np, specification, scaling_vectors(specification), raw)
    np.testing.assert_allclose(inputs, network(torch.from_numpy(raw)).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version:UserWarning")
@pytest.mark.parametrize("simulator", ["fake_simulator", "real_simulator"])
def test_gymnasium_takes_the_wrapped_environment(simulator, steady, request):
    path = request.getfixturevalue(simulator)
    env = ScaledObservation(gymnasium.make("weir/Bottleneck-v0", scenario=steady(), simulator=path))
    check_env(env, skip_render_check=True)
    observation, _ = env.reset(seed=1)
    largest = 0.0
    for _ in range(20):
        assert observation in env.observation_space
        observation, *_ = env.step(env.action_space.sample())
        largest = max(largest, float(np.abs(observation).max()))
    assert 0.1 < largest <= 4
    env.close()


def test_a_vector_is_scaled_as_single_environments_are(fake_simulator, steady):
    options = {"scenario": steady(duration_s=1.0), "simulator": fake_simulator}
    vector = ScaledVectorObservation(gymnasium.make_vec("weir/Bottleneck-v0", 2, **options))
    singles = [ScaledObservation(BottleneckEnv(**options)) for _ in range(2)]
    assert vector.single_observation_space == singles[0].observation_space
    observations, _ = vector.reset(seed=3)
    expected = [single.reset(seed=3 + index)[0] for index, single in enumerate(singles)]
    actions = np.array([[0.5], [-0.5]], np.float32)
    ended = False
    while not ended:
        assert observations in vector.observation_space
        np.testing.assert_array_equal(observations, expected)
        observations, _, _, truncations, infos = vector.step(actions)
        stepped = [single.step(action) for single, action in zip(singles, actions, strict=True)]
        expected, ended = [step[0] for step in stepped], truncations.all()
    np.testing.assert_array_equal(list(infos["final_obs"]), expected)
    # The next episode has begun.
    np.testing.assert_array_equal(observations, [single.reset()[0] for single in singles])
    vector.close()
    for single in singles:
        single.close()
