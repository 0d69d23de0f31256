"""The runners of a training: requests to them, and a new one in the place of each that is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ray
import torch
from ray.exceptions import RayError, RayTaskError

from weir_papers.mvfst.impala.fragment import Fragment
from weir_sim.cluster import ClusterError


class RunnerPool:
    """Runners that always have something to do: each gets its next request before its fragment is learned from, so that
    fragments are late by about as many updates as there are runners.

    A request carries the newest parameters, so a runner needs no state and may be replaced at any time. The place of a
    lost one gets a new one, which Ray starts as soon as a machine has a free core; the others are not waited for.

    Args:
        count: number of runners.
        make: starts the runner of a place, an actor.
    """

    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self._make = make
        self._actors = [make(index) for index in range(count)]
        self._working = [False] * count
        self._requests: dict[ray.ObjectRef[Fragment], int] = {}
        self._parameters: ray.ObjectRef[Any] | None = None
        self._update = 0
        self.lost = 0

    @property
    def working(self) -> int:
        """How many runners have sent a fragment since they started."""
        return sum(self._working)

    def set_parameters(self, parameters: Mapping[str, torch.Tensor], update: int) -> None:
        """The parameters of all requests from now on, and the number of updates that made them."""
        self._parameters = ray.put({name: values.detach().clone() for name, values in parameters.items()})
        self._update = update

    def next_fragment(self, timeout_s: float) -> Fragment | None:
        """One that has come, waited for until the time is over.

        Raises:
            ClusterError: a runner failed, and would fail again.
        """
        for index in set(range(len(self._actors))) - set(self._requests.values()):
            self._request(index)
        ready, _ = ray.wait(list(self._requests), num_returns=1, timeout=timeout_s)
        if not ready:
            return None
        index = self._requests.pop(ready[0])
        try:
            fragment: Fragment = ray.get(ready[0])
        except RayTaskError as error:
            reason = " ".join(str(error.cause).split())[:500]
            raise ClusterError(f"a runner on machine {error.ip} failed: {reason}; continue with --resume") from None
        except RayError:
            self._replace(index)
            return None
        self._working[index] = True
        self._request(index)
        return fragment

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
