"""The runners of a training: requests to them, and a new one in the place of each that is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ray
import torch
from ray.exceptions import RayError, RayTaskError

from weir_papers.mvfst.impala.runner import Sample
from weir_sim.cluster import ClusterError


class RunnerPool:
    """Runners that always have something to do: each gets its next request before its fragment is learned from, so that
    fragments are late by about as many updates as there are runners. Synchronous ones get their requests together,
    once all fragments of the last ones are learned from.

    A request carries the newest parameters, so a runner needs no state and may be replaced at any time. The place of a
    lost one gets a new one, which Ray starts as soon as a machine has a free core; only synchronous ones wait for it.

    Args:
        count: number of runners.
        make: starts the runner of a place, an actor.
        synchronous: see above.
    """

    def __init__(self, count: int, make: Callable[[int], Any], *, synchronous: bool = False) -> None:
        self._make = make
        self._synchronous = synchronous
        self._actors = [make(index) for index in range(count)]
        self._working = [False] * count
        self._requests: dict[ray.ObjectRef[Sample], int] = {}
        self._round: list[Sample] = []
        self._parameters: ray.ObjectRef[Any] | None = None
        self._update = 0
        self.lost = 0

    @property
    def working(self) -> int:
        """How many runners have sent a fragment since they started."""
        return sum(self._working)

    def set_parameters(self, parameters: Mapping[str, torch.Tensor], update: int) -> None:
        """The parameters of all requests from now on, and the number of updates that made them."""
        if self._parameters is None or update != self._update:
            self._parameters, self._update = ray.put(dict(parameters)), update

    def next_samples(self, timeout_s: float) -> list[Sample]:
        """One that has come, waited for until the time is over; of synchronous runners those of all, or none.

        Raises:
            ClusterError: a runner failed, and would fail again.
        """
        if not self._requests:
            for index in range(len(self._actors)):
                self._request(index)
        ready, _ = ray.wait(list(self._requests), num_returns=1, timeout=timeout_s)
        if not ready:
            return []
        index = self._requests.pop(ready[0])
        try:
            sample: Sample = ray.get(ready[0])
        except RayTaskError as error:
            reason = " ".join(str(error.cause).split())[:500]
            raise ClusterError(f"a runner on machine {error.ip} failed: {reason}; continue with --resume") from None
        except RayError:
            self._replace(index)
            return []
        self._working[index] = True
        if not self._synchronous:
            self._request(index)
            return [sample]
        self._round.append(sample)
        if self._requests:
            return []
        samples, self._round = self._round, []
        return samples

    def close(self) -> None:
        """Ends the runners."""
        self._requests.clear()
        for actor in self._actors:
            ray.kill(actor)

    def _request(self, index: int) -> None:
        request = self._actors[index].sample.remote(parameters=self._parameters, update=self._update)
        self._requests[request] = index

    def _replace(self, index: int) -> None:
        self._working[index] = False
        self.lost += 1
        ray.kill(self._actors[index])
        self._actors[index] = self._make(index)
        self._request(index)
