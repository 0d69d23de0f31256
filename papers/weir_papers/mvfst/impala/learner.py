"""RLlib's learner with Weir's loss and the policy's own optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.torch.torch_learner import TorchLearner
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch

from weir_cli.errors import InputError
from weir_papers.mvfst.impala.configuration import ImpalaConfiguration, ImpalaSettings
from weir_papers.mvfst.impala.fragment import Fragment
from weir_papers.mvfst.impala.loss import impala_loss, scaled_vtrace
from weir_papers.mvfst.impala.module import ENTROPY, VALUES, PolicyModule, module_specification


def rllib_configuration(configuration: ImpalaConfiguration) -> AlgorithmConfig:
    """The settings of learner and runners as RLlib has them."""
    return (
        AlgorithmConfig()
        .framework("torch")
        .training(
            grad_clip=configuration.impala.maximum_gradient_norm,
            grad_clip_by="global_norm",
        )
        .learners(learner_config_dict={"settings": configuration.impala})
    )


def make_learner(configuration: ImpalaConfiguration) -> VtraceLearner:
    """A learner with fresh parameters."""
    modules = MultiRLModuleSpec(rl_module_specs={DEFAULT_MODULE_ID: module_specification(configuration)})
    learner = VtraceLearner(config=rllib_configuration(configuration), module_spec=modules)
    learner.build()
    return learner


class VtraceLearner(TorchLearner):
    """Learns in the process of the command. `entropy_coefficient` may change between updates."""

    entropy_coefficient = 0.0

    @property
    def policy_module(self) -> PolicyModule:
        """The module that learns."""
        module = self.module[DEFAULT_MODULE_ID]
        assert isinstance(module, PolicyModule)
        return module

    def configure_optimizers_for_module(self, module_id: str, config: AlgorithmConfig | None = None) -> None:
        """Registers the policy's optimizer, whose learning rate the caller sets."""
        policy = self.policy_module.policy
        optimizer = policy.optimizer
        self.register_optimizer(module_id=module_id, optimizer=optimizer, params=list(policy.parameters()))

    def learn(self, fragment: Fragment) -> None:
        """All updates from a fragment: for each epoch V-trace by the parameters of then, and batches of single steps.

        Raises:
            InputError: the training has diverged.
        """
        settings: ImpalaSettings = self.config.learner_config_dict["settings"]
        for _ in range(settings.epochs):
            order = torch.randperm(fragment.steps).numpy()
            columns = {name: values[order] for name, values in self._columns(settings, fragment).items()}
            batch = MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(columns)}, fragment.steps)
            self.update(batch=batch, minibatch_size=min(settings.batch_size, fragment.steps))

    def _columns(self, settings: ImpalaSettings, fragment: Fragment) -> dict[str, np.ndarray]:
        """The steps of a fragment one below the other, with targets and advantages."""
        module, ended = self.policy_module, fragment.terminated | fragment.truncated
        final_values = np.zeros_like(fragment.rewards)
        if fragment.final_observations.size:
            final_values[fragment.truncated] = module.values(_tensor(fragment.final_observations)).numpy()
        observations = fragment.observations[:, :-1].reshape(fragment.steps, -1)
        actions = fragment.actions.reshape(fragment.steps, 1)
        with torch.no_grad():
            present = module.forward_train({Columns.OBS: _tensor(observations), Columns.ACTIONS: _tensor(actions)})
            last = module.values(_tensor(fragment.observations[:, -1]))
            shape = fragment.rewards.shape
            found = scaled_vtrace(
                settings,
                log_ratios=present[Columns.ACTION_LOGP].view(shape) - _tensor(fragment.log_probabilities),
                rewards=_tensor(fragment.rewards),
                values=torch.cat([present[VALUES].view(shape), last[:, None]], dim=1),
                final_values=_tensor(final_values),
                ended=_tensor(ended),
            )
        return {
            Columns.OBS: observations,
            Columns.ACTIONS: actions,
            Columns.ACTION_LOGP: fragment.log_probabilities.flatten(),
            Columns.VALUE_TARGETS: found.targets.flatten().numpy(),
            Columns.ADVANTAGES: found.advantages.flatten().numpy(),
        }

    def compute_loss_for_module(
        self, *, module_id: str, config: AlgorithmConfig, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """The loss of a batch; see `impala_loss`."""
        loss = impala_loss(
            config.learner_config_dict["settings"],
            log_probabilities=fwd_out[Columns.ACTION_LOGP],
            acted_log_probabilities=batch[Columns.ACTION_LOGP],
            entropy=fwd_out[ENTROPY],
            values=fwd_out[VALUES],
            targets=batch[Columns.VALUE_TARGETS],
            advantages=batch[Columns.ADVANTAGES],
            entropy_coefficient=self.entropy_coefficient,
        )
        # RLlib would skip the update and go on.
        if not loss.isfinite():
            raise InputError("the training has diverged: its loss is no longer finite; lower learning_rate")
        return loss


def _tensor(values: np.ndarray) -> torch.Tensor:
    """A copy: Ray's arrays are read-only, which torch does not know."""
    return torch.from_numpy(values.copy())
