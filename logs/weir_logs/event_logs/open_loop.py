"""Computes targets of controllers on recorded packets and feedback with `weir-sim open-loop`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.input import printable
from weir_eval.measures.flow_series import Array
from weir_logs.event_logs.event_file import EventFile
from weir_logs.event_logs.event_log import EventLog
from weir_sim.executables import find_simulator

DEFAULT_START_BPS = 300_000
DEFAULT_MIN_BPS = 30_000
_MAX_BPS = 50_000_000
_LONGEST_RUN_S = 600
STEP_S = 0.1
"""The interval at which targets are compared and averaged."""


@dataclass(frozen=True)
class Targets:
    """The targets of a controller, in bit/s, each valid from its time, in s; shape [n] each."""

    controller: str
    time_s: Array
    bps: Array

    def at(self, times_s: Array) -> Array:
        """The target at each time; NaN before the first."""
        place = np.searchsorted(self.time_s, times_s, side="right") - 1
        return np.where(place >= 0, self.bps[np.maximum(place, 0)], np.nan) if len(self.bps) else times_s * np.nan

    def first_bps(self) -> float:
        """The first target, at which a controller started; the default if there is none."""
        return float(self.bps[0]) if len(self.bps) else DEFAULT_START_BPS

    def floor_bps(self) -> float | None:
        """The minimum set by the application: the lowest target, if the target fell to exactly this value twice."""
        if not len(self.bps):
            return None
        is_lowest = self.bps == self.bps.min()
        visits = np.count_nonzero(is_lowest[1:] & ~is_lowest[:-1])
        return float(self.bps.min()) if visits >= 2 else None


def logged_targets(log: EventLog) -> Targets:
    """The targets of the controller of a recorded call."""
    return Targets("logged", *log.target())


@dataclass(frozen=True)
class TargetDifference:
    """The difference of two targets over time, in percent of the second: median and 95th percentile of its absolute
    value over time, and the signed difference of the means.
    """

    median_percent: float
    p95_percent: float
    mean_percent: float


@dataclass(frozen=True)
class OpenLoop:
    """The settings shared by all controllers of a log. `model`: for controllers that run one; `objective`: weights or
    the name of a preset; rates in bit/s.
    """

    model: Path
    objective: str
    start_bps: int
    min_bps: int

    @classmethod
    def like(cls, logged: Targets, model: Path, objective: str) -> OpenLoop:
        """Controllers begin where the log's own did, and go no lower than the minimum that it had."""
        lowest_bps = min(logged.floor_bps() or DEFAULT_MIN_BPS, _MAX_BPS)
        return cls(model, objective, round(logged.first_bps()), round(lowest_bps))

    def run(self, events: EventFile, controller: str, source: str) -> Targets:
        """The targets of a controller on the events; times are those of the events.

        Raises:
            InputError: there are no packets of the controller's side, or it does not exist.
            MissingComponent: weir-sim, or the controller in it, is missing.
        """
        command = [
            str(find_simulator()), "open-loop", "--controller", controller, "--model", str(self.model),
            "--start-bps", str(min(max(self.start_bps, self.min_bps), _MAX_BPS)),
            "--min-bps", str(self.min_bps), "--max-bps", str(_MAX_BPS),
            "--objective", self.objective,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, stdin=events.for_process(), capture_output=True, timeout=_LONGEST_RUN_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"{source}: {controller} takes over {_LONGEST_RUN_S} s; give a shorter log") from None
        if done.returncode:
            message = printable(done.stderr.decode(errors="replace").strip().removeprefix("weir-sim: "))
            fault = MissingComponent if done.returncode == 3 else InputError
            raise fault(f"{source}: {message or f'weir-sim failed under {controller}'}")
        table = [json.loads(text) for text in done.stdout.splitlines()]
        return Targets(
            controller,
            np.array([1e-6 * row["time_us"] for row in table]),
            np.array([float(row["target_bps"]) for row in table]),
        )


def difference(found: Targets, logged: Targets, end_s: float) -> TargetDifference | None:
    """The difference of targets from logged ones, every 100 ms; None if they have no time in common."""
    if not len(found.bps) or not len(logged.bps):
        return None
    times = np.arange(max(found.time_s[0], logged.time_s[0]), end_s, STEP_S)
    if not len(times):
        return None
    logged_bps = logged.at(times)
    found_bps = found.at(times)
    size = 100 * np.abs(found_bps - logged_bps) / np.maximum(logged_bps, 1)
    of_means = 100 * float(found_bps.mean() / max(float(logged_bps.mean()), 1) - 1)
    return TargetDifference(float(np.median(size)), float(np.percentile(size, 95)), of_means)
