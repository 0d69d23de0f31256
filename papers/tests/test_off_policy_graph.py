"""The exported graphs of TD3 and SAC: torch, ONNX Runtime and the library give the same, whatever the observation."""

import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from policy_agreement import check_agreement, random_policy, with_truths  # noqa: E402

from weir import FEATURES  # noqa: E402
from weir_papers.off_policy.policies import (  # noqa: E402
    PreferenceFeatures,
    SacPreferencePolicy,
    Td3PreferencePolicy,
)
from weir_train.gym.specification import DEFAULT_FEATURES  # noqa: E402

CASES = [
    (Td3PreferencePolicy, "around_rule", DEFAULT_FEATURES),
    (Td3PreferencePolicy, "log_rate", ("loss_ratio", "delay_gradient", "delay_ratio", "video_share")),
    (SacPreferencePolicy, "around_rule", tuple(FEATURES)),
    (SacPreferencePolicy, "relative", DEFAULT_FEATURES),
]


def make(policy, kind, features):
    def with_features(observations, actions, schedule, specification):
        return policy(
            observations,
            actions,
            schedule,
            net_arch=[12, 8],
            features_extractor_class=PreferenceFeatures,
            features_extractor_kwargs={"specification": specification, "preference_size": 4},
        )

    return random_policy(with_features, kind, features)


@pytest.mark.parametrize(("policy", "kind", "features"), CASES)
def test_torch_onnx_runtime_and_the_library_agree(tmp_path, policy, kind, features):
    check_agreement(*make(policy, kind, features), tmp_path)


@pytest.mark.parametrize("policy", [Td3PreferencePolicy, SacPreferencePolicy])
def test_the_critic_sees_what_the_actor_does_not(policy):
    made, specification = make(policy, "around_rule", DEFAULT_FEATURES)
    with torch.no_grad():
        values = [
            made.critic(inputs, torch.zeros(len(inputs), 1))[0] for inputs in with_truths(specification, (2e6, 6e6))
        ]
    assert not torch.equal(*values)
