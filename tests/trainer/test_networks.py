"""The scaling inside the graph is the same at every scale of rates, and an untrained policy is the rule."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

import gymnasium  # noqa: E402

from weir import FEATURES  # noqa: E402
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification  # noqa: E402
from weir_train.model.golden_inputs import golden_inputs  # noqa: E402
from weir_train.policies.feature_scaling import FeatureScaling  # noqa: E402
from weir_train.policies.networks import DeployedPolicy, PreferencePolicy  # noqa: E402

SPECIFICATION = EnvironmentSpecification(
    100, tuple(FEATURES), 4, ActionSpecification("around_rule", span=4.0), privileged=True
)


def spaces():
    low, high = SPECIFICATION.observation_limits()
    return gymnasium.spaces.Box(low, high, dtype=np.float32), gymnasium.spaces.Box(-1, 1, (1,), np.float32)


def test_rates_enter_relative_to_the_rule():
    scaling = FeatureScaling(spaces()[0], SPECIFICATION)
    history, objective = golden_inputs(SPECIFICATION)
    privileged = np.tile(np.array([[1e6, 1e6, 25.0, 10.0, 0.0]]), (len(history), 1))
    observation = np.concatenate([history, objective, privileged], axis=1).astype(np.float32)
    names = SPECIFICATION.observed
    # No queue: the rule then grows the target, bounded by twice the receive rate (50 kbps are small beside these).
    observation[:, names.index("queueing_delay_min_s")] = 0.0
    rates = [index for index, name in enumerate(names) if FEATURES[name].unit == "bit/s"]
    observation[:, rates] = 20e6
    observation[:, [index for index, name in enumerate(names) if name == "last_estimate_bps"]] = 25e6
    tenfold = observation.copy()
    tenfold[:, rates] *= 10.0
    scaled, scaled_tenfold = (scaling(torch.from_numpy(values)).numpy() for values in (observation, tenfold))
    size = SPECIFICATION.observation_size
    np.testing.assert_allclose(scaled[:, :size], scaled_tenfold[:, :size], atol=1e-5)
    np.testing.assert_allclose(scaled_tenfold[:, size] - scaled[:, size], 0.3 * np.log(10.0), rtol=1e-4)


def test_an_untrained_policy_is_the_rule():
    policy = PreferencePolicy(*spaces(), lambda remaining: 1e-3, specification=SPECIFICATION)
    with torch.no_grad():
        policy.action_net.weight.zero_()
        policy.action_net.bias.zero_()
        history, objective = golden_inputs(SPECIFICATION)
        rates = DeployedPolicy(policy, SPECIFICATION)(torch.from_numpy(history), torch.from_numpy(objective)).numpy()
    expected = SPECIFICATION.wire_actions(np.zeros(len(history)), history)
    np.testing.assert_allclose(rates[:, 0], expected, rtol=1e-5)
