"""The running episodes of a vector environment as arrays, so that another process can continue them.

The simulator is deterministic: an episode that gets the same requests again is in the same state.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from weir_cli.files.input import parse_json
from weir_sim.objectives import checked_objective
from weir_train.gym.episode import Episode, scenario_document

REQUEST_WIDTH: Final = 4
"""A request is an action and an objective."""
# An episode of a day with a decision every 100 ms.
_MOST_STEPS: Final = 1_000_000


class RequestLog:
    """The requests that each environment's running episode has received.

    Attributes:
        lengths: number of requests of each environment, int64 of shape (environments,).
    """

    def __init__(self, environments: int) -> None:
        self._rows: deque[np.ndarray] = deque()
        self.lengths = np.zeros(environments, dtype=np.int64)

    def add(self, actions: np.ndarray, objectives: np.ndarray) -> None:
        """Adds a request of every environment: actions (environments,) and objectives (environments, 3)."""
        self._rows.append(np.column_stack([actions, objectives]).astype(np.float32, copy=False))
        self.lengths += 1
        while len(self._rows) > self.lengths.max():
            self._rows.popleft()

    def begin(self, index: int) -> None:
        """Begins an episode in an environment."""
        self.lengths[index] = 0

    def restart(self, rows: np.ndarray, lengths: np.ndarray) -> None:
        """Replaces the log by rows and lengths of another."""
        self._rows = deque(rows)
        self.lengths[:] = lengths

    def rows(self) -> np.ndarray:
        """Returns the latest requests, float32 of shape (longest, environments, REQUEST_WIDTH); the last `lengths[i]`
        of environment i are its episode's.
        """
        longest = int(self.lengths.max())
        shape = (longest, len(self.lengths), REQUEST_WIDTH)
        return np.array(list(self._rows)[len(self._rows) - longest :], dtype=np.float32).reshape(shape)


def episode_arrays(
    episodes: Sequence[Episode], generators: Sequence[np.random.Generator], log: RequestLog
) -> dict[str, np.ndarray]:
    """Returns the running episodes, their requests so far, and the generators that draw the next ones."""
    documents = {id(episode.scenario): episode.scenario for episode in episodes}
    place = {key: index for index, key in enumerate(documents)}
    text = json.dumps(
        {
            "scenarios": list(documents.values()),
            "episodes": [[place[id(one.scenario)], one.seed, list(one.objective)] for one in episodes],
            "generators": [generator.bit_generator.state for generator in generators],
        },
        allow_nan=False,
    )
    return {
        "episodes": np.frombuffer(text.encode(), dtype=np.uint8),
        "requests": log.rows(),
        "lengths": log.lengths.copy(),
    }


def read_episodes(
    arrays: Mapping[str, np.ndarray], environments: int
) -> tuple[list[Episode], list[dict[str, Any]], np.ndarray, np.ndarray]:
    """Returns what `episode_arrays` had: the episodes, the states of the generators, the requests and the lengths.

    Raises:
        ValueError, TypeError, KeyError, IndexError, InputError: the arrays are damaged, or of another number of
            environments.
    """
    found = parse_json(arrays["episodes"].astype(np.uint8).tobytes().decode(), "episodes")
    documents = [scenario_document(document) for document in found["scenarios"]]
    episodes = [
        Episode(documents[int(index)], int(seed), checked_objective(objective))
        for index, seed, objective in found["episodes"]
    ]
    if not all(0 <= episode.seed < 2**31 for episode in episodes):
        raise ValueError("a seed is out of range")
    requests, lengths = arrays["requests"], arrays["lengths"]
    shape = (len(requests), environments, REQUEST_WIDTH)
    if not len(episodes) == len(found["generators"]) == environments or requests.shape != shape:
        raise ValueError(f"{len(episodes)} episodes and requests of shape {requests.shape} for {environments}")
    if lengths.shape != (environments,) or (lengths < 0).any() or (lengths > len(requests)).any():
        raise ValueError(f"lengths of shape {lengths.shape} for {environments} environments")
    if len(requests) > _MOST_STEPS:
        raise ValueError(f"an episode of {len(requests)} steps")
    return episodes, found["generators"], requests, lengths
