"""A baseline's run on a trace, as step records: what a policy's gap to it is measured by."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.errors import InputError
from weir.executables import find_simulator
from weir.traces.schema.scenario import Scenario
from weir.trainer.gym.process import SimulatorError
from weir.trainer.gym.step import StepRecord

_HIGHEST_RATE_BPS = 1e11


def run_baseline(
    documents: Sequence[Mapping[str, Any]],
    controller: str,
    *,
    seed: int,
    interval_ms: int,
    timeout_s: float = 600.0,
    simulator: str | os.PathLike[str] | None = None,
) -> list[StepRecord]:
    """Runs `controller` once on every scenario with `weir-sim run`.

    Args:
        documents: the scenarios.
        controller: `gcc`, `rule` or any other that needs no model.
        seed: of every run.
        interval_ms: length of a record's intervals, in effect the nearest multiple of the 100 ms of a result's series.
        timeout_s: for all runs together.
        simulator: path of `weir-sim`; see `find_simulator`.

    Raises:
        InputError: the simulator refuses a scenario.
        SimulatorError: it failed, or took too long.
    """
    jobs = [
        {"job": index, "scenario": document, "controller": controller, "seed": seed, "series": True}
        for index, document in enumerate(documents)
    ]
    text = "".join(json.dumps(job) + "\n" for job in jobs)
    try:
        ended = subprocess.run(
            [find_simulator(simulator), "run", "-"],
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SimulatorError(f"the baseline {controller} took longer than {timeout_s:g} s") from None
    try:
        results = [json.loads(line) for line in ended.stdout.splitlines()]
    except ValueError:
        results = []
    for result in results:
        if "error" in result:
            raise InputError(
                f"the baseline {controller} cannot run {documents[result['job']]['name']}: {result['error']}"
            )
    if ended.returncode or len(results) != len(jobs):
        last = ended.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise SimulatorError(f"the simulator failed to run the baseline {controller}: {last[0]}")
    return [
        step_records(result, Scenario.from_dict(dict(document)), interval_ms)
        for result, document in zip(results, documents, strict=True)
    ]


def step_records(result: Mapping[str, Any], scenario: Scenario, interval_ms: int) -> StepRecord:
    """The first flow of a result record with series, as step records of shape (intervals,).

    Filled are what rewards are made of: capacity, achievable rate (also of the whole episode), send and receive rate,
    mean delay (held while nothing arrives), base delay and loss ratio, the latter from the mean size of a packet.
    """
    flow, series = result["flows"][0], result["flows"][0]["series"]
    together = max(1, round(interval_ms / 1000.0 / result["series"]["interval_s"]))
    whole = len(series["receive_rate_bps"]) // together * together
    if whole == 0:
        raise InputError(f"scenario {result['scenario']}: is shorter than an interval of {interval_ms} ms")

    def column(values: Sequence[float | None], missing: float) -> np.ndarray:
        filled = [missing if value is None else float(value) for value in values[:whole]]
        return np.array(filled).reshape(-1, together)

    interval_s = result["series"]["interval_s"]
    capacity = column(result["series"]["capacity_bps"], _HIGHEST_RATE_BPS)
    starts_s = interval_s * np.arange(whole).reshape(-1, together)
    achievable = _achievable(capacity, _active(starts_s, interval_s, scenario), interval_s, flow["achievable_bytes"])
    received = column(series["receive_rate_bps"], 0.0)
    lost = column(series["packets_lost"], 0.0).sum(axis=1)
    packet_bits = 8.0 * flow["bytes_sent"] / max(1, flow["packets_sent"])
    arrived = received.sum(axis=1) * interval_s / max(packet_bits, 1.0)
    base_ms = flow["base_one_way_delay_ms"]
    return StepRecord.of(
        capacity_bps=capacity.mean(axis=1),
        achievable_bps=achievable.mean(axis=1),
        send_rate_bps=column(series["send_rate_bps"], 0.0).mean(axis=1),
        receive_rate_bps=received.mean(axis=1),
        one_way_delay_mean_ms=column(_held(series["one_way_delay_mean_ms"], base_ms), base_ms).mean(axis=1),
        base_one_way_delay_ms=base_ms,
        loss_ratio=lost / np.maximum(lost + arrived, 1e-9),
    )


def _held(values: Sequence[float | None], first: float) -> list[float]:
    held, last = [], first
    for value in values:
        last = last if value is None else value
        held.append(last)
    return held


def _active(starts_s: np.ndarray, interval_s: float, scenario: Scenario) -> np.ndarray:
    """Which part of every interval the flow under test is active in."""
    flow = next(flow for flow in scenario.flows if flow.kind == "rtp")
    stop_s = scenario.duration_s if flow.stop_s is None else flow.stop_s

    def overlap(begin_s: float, end_s: float) -> np.ndarray:
        common = np.minimum(starts_s + interval_s, end_s) - np.maximum(starts_s, begin_s)
        return np.clip(common / interval_s, 0.0, 1.0)

    # Of what a video call may send, audio is next to nothing.
    pauses_s = [*flow.pauses_s, *getattr(flow.media, "video_pauses_s", [])]
    paused = sum((overlap(max(begin_s, flow.start_s), min(end_s, stop_s)) for begin_s, end_s in pauses_s), 0.0)
    return np.maximum(overlap(flow.start_s, stop_s) - paused, 0.0)


def _achievable(capacity: np.ndarray, active: np.ndarray, interval_s: float, achievable_bytes: int) -> np.ndarray:
    """Capacity while active, bounded by what the media may send: by the bound that gives the flow's own total."""
    wanted = 8.0 * achievable_bytes / interval_s
    low, high = 0.0, float(capacity.max(initial=0.0))
    for _ in range(60):
        bound = (low + high) / 2
        low, high = (bound, high) if (np.minimum(capacity, bound) * active).sum() < wanted else (low, bound)
    return np.minimum(capacity, high) * active
