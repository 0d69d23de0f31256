"""A runner: one process that drives senders with the parameters that it is given. It needs no Ray."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from weir_papers.mvfst.actor import Actor, Rewards
from weir_papers.mvfst.agent import Agent, Fragment
from weir_papers.mvfst.impala.configuration import ImpalaConfiguration
from weir_papers.mvfst.senders import STATE_WIDTH, Senders


def make_policy(configuration: ImpalaConfiguration) -> Agent:
    """See `Learner`."""
    torch.manual_seed(configuration.seed)
    return Agent(STATE_WIDTH, configuration.impala.hidden, recurrent=configuration.impala.recurrent)


@dataclass(frozen=True)
class Sample:
    """A fragment, the rewards of the episodes that ended in it, and the learner's updates before what acted."""

    fragment: Fragment
    rewards: Rewards
    update: int


class Runner:
    """`configuration.environment.environments` senders on the scenarios `documents`, which go on from fragment to
    fragment, and so does the LSTM. They start with the first fragment, so that their faults are answers to a request.
    """

    def __init__(self, configuration: ImpalaConfiguration, documents: Sequence[Mapping[str, Any]], index: int) -> None:
        self._configuration, self._documents, self._index = configuration, documents, index
        self._actor: Actor | None = None
        torch.set_num_threads(1)

    def sample(self, parameters: Mapping[str, torch.Tensor], update: int) -> Sample:
        """The next fragment, acted by these parameters, which the learner had after `update` updates.

        Raises:
            ComponentFailed: a simulator failed.
            MissingComponent: there is no `weir-sim` on this machine.
        """
        if self._actor is None:
            self._actor = self._start(update)
        self._actor.agent.load_state_dict(parameters)
        fragment = self._actor.unroll(self._configuration.impala.steps_per_fragment)
        return Sample(fragment, self._actor.take_rewards(), update)

    def _start(self, update: int) -> Actor:
        """A runner that replaces a lost one, and one of a resumed run, draw other scenarios and actions."""
        environment = self._configuration.environment
        senders = Senders(
            environment.environments,
            self._documents,
            delay_ms=self._configuration.impala.delay_ms,
            timeout_s=environment.timeout_s,
        )
        words = np.random.SeedSequence([self._configuration.seed, self._index, update]).generate_state(2)
        actor = Actor(senders, make_policy(self._configuration), int(words[0] >> 1))
        torch.manual_seed(int(words[1]))
        return actor
