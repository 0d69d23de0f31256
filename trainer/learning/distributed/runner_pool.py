"""The runners of a training: requests to them, and a new one in the place of each that is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ray
import torch
from ray.exceptions import RayActorError, RayError, RayTaskError

from weir.cluster import ClusterError
from weir.trainer.learning.distributed.fragment import Fragment

# While the answer to one is learned from, the runner works on the other.
REQUESTS_IN_FLIGHT = 2


class RunnerPool:
    """Runners that always have something to do.

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

    def fragments(self, timeout_s: float) -> list[Fragment]:
        """Those that have come; if there are none, waits for one until the time is over.

        Raises:
            ClusterError: a runner failed, and would fail again.
        """
        for index in range(len(self._actors)):
            self._request(index)
        ready, _ = ray.wait(list(self._requests), num_returns=1, timeout=timeout_s)
        if len(self._requests) > 1 and ready:
            ready, _ = ray.wait(list(self._requests), num_returns=len(self._requests), timeout=0)
        found = []
        for reference in ready:
            # Removed with the others of a lost runner.
            if reference not in self._requests:
                continue
            index = self._requests.pop(reference)
            try:
                found.append(ray.get(reference))
                self._working[index] = True
            except RayTaskError as error:
                why = " ".join(str(error.cause).split())[:500]
                raise ClusterError(f"a runner on machine {error.ip} failed: {why}; continue with --resume") from None
            except RayError:
                self._replace(index)
        return found

    def close(self) -> None:
        """Ends the runners."""
        self._requests.clear()
        for actor in self._actors:
            ray.kill(actor)

    def _request(self, index: int) -> None:
        in_flight = list(self._requests.values()).count(index)
        for _ in range(in_flight, REQUESTS_IN_FLIGHT):
            try:
                request = self._actors[index].sample.remote(parameters=self._parameters, update=self._update)
            except RayActorError:
                self._replace(index)
                return
            self._requests[request] = index

    def _replace(self, index: int) -> None:
        self._requests = {request: place for request, place in self._requests.items() if place != index}
        self._working[index] = False
        self.lost += 1
        ray.kill(self._actors[index])
        self._actors[index] = self._make(index)
