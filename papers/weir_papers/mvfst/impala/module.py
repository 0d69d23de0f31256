"""The policy network of PPO as an RLlib module, so that checkpoints and export are the same."""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule

from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_train.learning.ppo import make_policy
from weir_train.policies.networks import PreferencePolicy

VALUES = "values"
ENTROPY = "entropy"


def module_specification(configuration: ImpalaConfiguration) -> RLModuleSpec:
    """Makes the module, in the learner and in runners."""
    observations, actions = configuration.environment.specification().spaces()
    return RLModuleSpec(
        module_class=PolicyModule,
        observation_space=observations,
        action_space=actions,
        model_config={"configuration": configuration.model_dump(mode="json")},
    )


class PolicyModule(TorchRLModule):
    """`model_config` has the training configuration."""

    policy: PreferencePolicy

    def setup(self) -> None:
        """Makes the policy; called by RLlib."""
        self.policy = make_policy(ImpalaConfiguration.model_validate(self.model_config["configuration"]))

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Observations (N, width) to actions (N, 1) and their log probabilities (N,); the critic is not computed."""
        with torch.no_grad():
            distribution = self.policy.get_distribution(batch[Columns.OBS])
            actions = distribution.get_actions()
            return {Columns.ACTIONS: actions, Columns.ACTION_LOGP: distribution.log_prob(actions)}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Observations (B, width) and actions (B, 1) to values, log probabilities and entropy (B,)."""
        values, log_probabilities, entropy = self.policy.evaluate_actions(batch[Columns.OBS], batch[Columns.ACTIONS])
        assert entropy is not None
        return {VALUES: values.flatten(), Columns.ACTION_LOGP: log_probabilities, ENTROPY: entropy}

    def values(self, observations: torch.Tensor) -> torch.Tensor:
        """The critic's values (B,) of observations (B, width), without gradient."""
        with torch.no_grad():
            return self.policy.predict_values(observations).flatten()
