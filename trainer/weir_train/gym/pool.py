"""A pool of simulator processes that are stepped together, the base of the single and the vectorized environment.

Replies are read directly into one numpy array of packed records; a step of N environments costs N writes, N reads and
at most a few polls.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from weir_cli.errors import ComponentFailed
from weir_sim.executables import find_stack
from weir_train.gym.episode import Episode
from weir_train.gym.process import FRAME_HEADER, SimulatorProcess, SimulatorRefusal
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.gym.step import PRIVILEGED_COLUMNS


class SimulatorPool:
    """N environments with one simulator process each; a process starts when it is first needed, and after a failure.

    After `reset` or `step`, row i of `observations` (float32, (N, width): history newest first, then the objective,
    then the privileged fields if requested) is the latest of environment i; `objectives` are the three columns of the
    objective. After `step`, `steps` (float64, (N, len(specification.step_fields))) and `flags` (uint8, 0 unless it
    ended an episode) describe the interval just run, and `final_observations` holds the last observation of episodes
    that ended. The next step overwrites all of them.
    """

    def __init__(
        self,
        count: int,
        specification: EnvironmentSpecification,
        executable: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        """
        Args:
            count: number of environments, and of processes.
            specification: shared by all environments.
            executable: the program of the specification's stack; see `weir_sim.executables`.
            timeout_s: time limit for one answer.
        """
        size = specification.observation_size
        self.count = count
        self.specification = specification
        self.observations = np.zeros((count, specification.width), dtype=np.float32)
        self.objectives = self.observations[:, size : size + 3]
        self.final_observations = np.zeros_like(self.observations)
        self._executable = executable or find_stack(specification.stack)
        self._timeout_s = timeout_s
        self._processes: list[SimulatorProcess | None] = [None] * count
        low, high = specification.observation_limits()
        self._low, self._high = low[:size], high[:size]
        self._histories = self.observations[:, :size]

        reply = np.dtype(
            [
                ("length", "<u4"),
                ("type", "u1"),
                ("flags", "u1"),
                ("observation", "<f4", (size,)),
                ("step", "<f8", (len(specification.step_fields),)),
            ]
        )
        self._replies = np.zeros(count, dtype=reply)
        self._reply_header = FRAME_HEADER.pack(reply.itemsize - FRAME_HEADER.size, ord("O"))
        self._reply_views = [self._replies[i : i + 1].view(np.uint8).data for i in range(count)]
        self._first_reply = np.zeros(1, dtype=reply)
        # Column-major, because rewards compute with columns.
        self.steps = np.zeros((len(specification.step_fields), count)).T
        self.flags = self._replies["flags"]

        request = np.dtype([("length", "<u4"), ("type", "u1"), ("action", "<f4"), ("objective", "<f4", (3,))])
        self._requests = np.zeros(count, dtype=request)
        self._requests["length"] = request.itemsize - FRAME_HEADER.size
        self._requests["type"] = ord("S")
        self._request_views = [self._requests[i : i + 1].view(np.uint8).data for i in range(count)]

    def reset(self, episodes: Mapping[int, Episode]) -> None:
        """Starts an episode in each of the given environments, all at once, and reads their first observations.

        Raises:
            ComponentFailed: a process failed.
            SimulatorRefusal: a simulator does not run its scenario or specification.

        After an error none of these environments has an episode; the next reset starts new processes as needed.
        """
        processes = {index: self._process(index) for index in episodes}
        try:
            for index, episode in episodes.items():
                self._begin_reset(processes[index], episode)
            for index, episode in episodes.items():
                self._finish_reset(index, processes[index], episode)
        except BaseException as error:
            # A single process that refused can be used again; of several, others may have unread answers.
            if not isinstance(error, SimulatorRefusal) or len(processes) > 1:
                for process in processes.values():
                    process.close()
            raise

    def step(self, actions: np.ndarray, next_episode: Callable[[int], Episode] | None = None) -> list[int]:
        """Runs one interval in every environment: sends all actions, then reads the replies.

        Args:
            actions: in [-1, 1], shape (N,) or (N, 1).
            next_episode: returns the episode to start at once in an environment whose episode has just ended, while the
                others still run. None: the caller resets.

        Returns:
            the environments in which `next_episode` started an episode.

        Raises:
            ComponentFailed: a process failed. All processes are ended, and every environment must be reset.
        """
        try:
            processes = self._running()
            self._requests["action"] = self.specification.wire_actions(actions, self.observations)
            self._requests["objective"] = self.objectives
            for process, view in zip(processes, self._request_views, strict=True):
                process.send(view)
            restarted = self._collect(processes, next_episode)
        except BaseException:
            self.close()
            raise
        self.steps[:] = self._replies["step"]
        received = self._replies["observation"]
        if not np.isfinite(received).all():
            index = int(np.flatnonzero(~np.isfinite(received).all(axis=1))[0])
            self.close()
            raise ComponentFailed(f"the simulator of environment {index} failed: its observation is not finite")
        size = received.shape[1]
        if not restarted:
            np.minimum(received, self._high, out=self._histories)  # np.clip costs more
            np.maximum(self._histories, self._low, out=self._histories)
            if self.specification.privileged:
                self.observations[:, size + 3 :] = self.steps[:, PRIVILEGED_COLUMNS]
            return restarted
        fresh = np.setdiff1d(np.arange(self.count), restarted)
        self.final_observations[restarted, :size] = np.clip(received[restarted], self._low, self._high)
        self.observations[fresh, :size] = np.clip(received[fresh], self._low, self._high)
        if self.specification.privileged:
            self.final_observations[restarted, size + 3 :] = self.steps[restarted][:, PRIVILEGED_COLUMNS]
            self.observations[fresh, size + 3 :] = self.steps[fresh][:, PRIVILEGED_COLUMNS]
        return restarted

    def close(self) -> None:
        """Ends all processes."""
        for process in self._processes:
            if process is not None:
                process.close()
        self._processes = [None] * self.count

    def _process(self, index: int) -> SimulatorProcess:
        """Returns the process of an environment, and starts it if there is none."""
        process = self._processes[index]
        if process is None or not process.alive:
            process = SimulatorProcess(self._executable, self._timeout_s)
            self._processes[index] = process
        return process

    def _running(self) -> list[SimulatorProcess]:
        running = [process for process in self._processes if process is not None and process.alive]
        if len(running) < self.count:
            index = next(i for i, process in enumerate(self._processes) if process not in running)
            raise ComponentFailed(f"environment {index} has no episode: reset it first")
        return running

    def _collect(
        self, processes: Sequence[SimulatorProcess], next_episode: Callable[[int], Episode] | None
    ) -> list[int]:
        """Reads one reply from every process, and starts the next episode of ended ones; returns their indices."""
        resetting: dict[int, Episode] = {}
        # The last process to receive its request usually replies last; after waiting for it, the others have replied.
        for index in reversed(range(self.count)):
            view = self._reply_views[index]
            self._read_reply(processes[index], view)
            if view[FRAME_HEADER.size] and next_episode is not None:
                size = self.specification.observation_size
                self.final_observations[index, size : size + 3] = self.objectives[index]
                resetting[index] = next_episode(index)
                self._begin_reset(processes[index], resetting[index])
        for index, episode in resetting.items():
            self._finish_reset(index, processes[index], episode)
        return list(resetting)

    def _read_reply(self, process: SimulatorProcess, view: memoryview) -> None:
        header = FRAME_HEADER.size
        count = process.receive_into(view, header)
        if view[:header] != self._reply_header:
            raise process.unexpected_frame(bytes(view[:count]))
        if count < len(view):
            process.receive_into(view[count:])

    def _begin_reset(self, process: SimulatorProcess, episode: Episode) -> None:
        request = self.specification.reset_request(episode.scenario, episode.seed, episode.objective)
        payload = json.dumps(request, separators=(",", ":"), allow_nan=False).encode()
        process.send(FRAME_HEADER.pack(len(payload), ord("R")) + payload)

    def _finish_reset(self, index: int, process: SimulatorProcess, episode: Episode) -> None:
        kind, payload = process.receive_frame()
        size = self.specification.observation_size
        try:
            description = json.loads(payload) if kind == b"C" else {}
        except ValueError:
            description = {}
        fields = tuple(description.get("step_fields", ()))
        if description.get("observation_size") != size or fields != self.specification.step_fields:
            raise process.failure(
                f"it answered a reset with {bytes(payload[:200])!r}; expected are {size} observations and the step "
                "fields of this version of weir"
            )
        kind, payload = process.receive_frame()
        first = self._first_reply.view(np.uint8).data
        if kind != b"O" or len(payload) != len(first) - FRAME_HEADER.size:
            raise process.failure(f"its first observation is a frame of type {kind!r} and {len(payload)} bytes")
        first[FRAME_HEADER.size :] = payload
        observation = self._first_reply["observation"][0]
        if not np.isfinite(observation).all():
            raise process.failure("its first observation is not finite")
        np.clip(observation, self._low, self._high, out=self.observations[index, :size])
        self.objectives[index] = episode.objective
        if self.specification.privileged:
            self.observations[index, size + 3 :] = self._first_reply["step"][0, PRIVILEGED_COLUMNS]
