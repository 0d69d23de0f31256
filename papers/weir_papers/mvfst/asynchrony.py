"""How long a training takes whose actors do not wait for the learner, and one whose actors do (section 4), on Ray."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch

from weir_papers.mvfst.impala.configuration import ImpalaConfiguration, ImpalaSettings, SendersSettings
from weir_papers.mvfst.impala.training import learn_on_cluster, make_learner, make_policy
from weir_papers.mvfst.mvfst_runs import TRAINED_ON
from weir_sim.cluster import connected, core_count
from weir_train.configuration.scenarios import ScenarioSampler, ScenarioSettings

SENDERS_OF_A_RUNNER: Final = 8


def asynchrony(steps: int, seeds: int, on_progress: Callable[[str, int], None]) -> list[dict[str, Any]]:
    """For each seed an asynchronous and a synchronous training, one after the other, of so many steps on the paper's
    emulators with a runner on each core: the seconds of 1,000 steps, and how many updates late fragments were in the
    mean. Time counts from the moment at which all runners have sent a fragment. `on_progress` gets a title and all
    steps so far.

    Raises:
        MissingComponent: Ray is not installed.
        ClusterError: Ray does not start, or a training failed.
    """
    # As in `learn`.
    torch.set_num_threads(1)
    results, done = [], 0
    with connected(None):
        for seed in range(1, seeds + 1):
            result: dict[str, Any] = {"seed": seed, "runners": core_count(), "steps": steps}
            for name in ("asynchronous", "synchronous"):
                configuration = _configuration(steps, seed, synchronous=name == "synchronous")
                result[name] = _timed(configuration, partial(on_progress, f"{name}, seed {seed}"), done)
                done += steps
            results.append(result)
    return results


def _timed(configuration: ImpalaConfiguration, on_progress: Callable[[int], None], done: int) -> dict[str, float]:
    learner = make_learner(configuration, make_policy(configuration))
    runners, late = core_count(), list[int]()
    began_s, before = time.monotonic(), 0
    for update in learn_on_cluster(configuration, learner, ScenarioSampler(configuration.scenarios).documents):
        on_progress(done + learner.steps)
        if before:
            late.append(update.late)
        elif update.working == runners:
            began_s, before = time.monotonic(), learner.steps
    seconds, learned = time.monotonic() - began_s, learner.steps - before
    return {"seconds": 1e3 * seconds / max(1, learned), "updates_late": sum(late) / max(1, len(late))}


def _configuration(steps: int, seed: int, *, synchronous: bool) -> ImpalaConfiguration:
    emulators = tuple(Path(f"catalogue/{name}") for name in TRAINED_ON)
    return ImpalaConfiguration(
        algorithm="impala",
        steps=steps,
        seed=seed,
        environment=SendersSettings(environments=SENDERS_OF_A_RUNNER),
        scenarios=ScenarioSettings(source="files", files=emulators),
        impala=ImpalaSettings(synchronous=synchronous),
    )
