"""Runs controllers on the traces of a training, as references of a curriculum in the form of step records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir_cli.errors import ComponentFailed, InputError
from weir_eval.measures.flow_series import Array, read_flow_series
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.simulator_worker import SimulatorJob
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_simulator
from weir_train.gym.step import StepRecord

_TIME_LIMIT_S = 600.0
# Bisection steps that determine the bound of the media to 1 bit/s.
_HALVINGS = 60


def reference_runs(
    documents: Sequence[Mapping[str, Any]],
    controllers: Sequence[str],
    *,
    seed: int,
    interval_ms: int,
    simulator: str | os.PathLike[str] | None = None,
) -> dict[str, list[StepRecord]]:
    """Runs each controller once on every scenario, one run per core at a time.

    Args:
        documents: the scenarios.
        controllers: names of controllers that need no model.
        seed: of every run.
        interval_ms: of a record's steps; rounded to a multiple of the 100 ms of a run's series.
        simulator: path of `weir-sim`; see `find_simulator`.

    Returns:
        for each controller, a record of shape (steps,) per scenario.

    Raises:
        InputError: the simulator refuses a scenario, or a scenario has no capacity or no flow under test.
        ComponentFailed: the simulator failed.
    """
    executable = find_simulator(simulator)
    found: dict[str, list[StepRecord]] = {}
    for controller in controllers:
        common: dict[str, Any] = {
            "controller": controller,
            "objective": list(PRESETS["balanced"]),
            "seed": seed,
            "series": True,
        }
        jobs = [
            SimulatorJob(str(index), {"scenario": dict(document), **common}) for index, document in enumerate(documents)
        ]
        records: dict[int, StepRecord] = {}
        for outcome in run_jobs(executable, jobs, len(os.sched_getaffinity(0)), _TIME_LIMIT_S):
            index = int(outcome.job.name)
            if outcome.record is None:
                failure = f"{controller} on {documents[index]['name']}: {outcome.error}"
                raise InputError(failure) if outcome.refused else ComponentFailed(failure)
            records[index] = step_records(outcome.record, interval_ms)
        found[controller] = [records[index] for index in range(len(documents))]
    return found


def step_records(record: RunRecord, interval_ms: int) -> StepRecord:
    """Converts the first flow of a run with series to step records (steps,) with the fields that rewards read: rates,
    mean delay (held while nothing arrives), base delay and loss ratio (from the mean packet size).

    `achievable_bps` is the capacity, capped so that its sum is the run's `achievable_bytes`, because series do not have
    it. The fair share is the same, because traces have no competing flow.

    Raises:
        InputError: there are no series, the capacity is unlimited, or the run is shorter than an interval.
    """
    flow = record.flows[0]
    series = read_flow_series(record, flow)
    if series is None or series.capacity_bps is None:
        raise InputError(f"scenario {record.scenario}: a curriculum needs a trace with a capacity")
    together = max(1, round(interval_ms / 1000.0 / series.interval_s))
    whole = len(series.capacity_bps) // together * together
    if whole == 0:
        raise InputError(f"scenario {record.scenario}: is shorter than an interval of {interval_ms} ms")

    def steps(samples: Array) -> Array:
        return samples[:whole].reshape(-1, together)

    lost = steps(series.packets_lost).sum(axis=1)
    packet_bits = 8.0 * flow.bytes_sent / max(1, flow.packets_sent)
    arrived = steps(series.receive_rate_bps).sum(axis=1) * series.interval_s / max(packet_bits, 1.0)
    base_ms = flow.base_one_way_delay_ms
    achievable = _bounded(series.capacity_bps, 8.0 * (flow.achievable_bytes or 0.0) / series.interval_s)
    return StepRecord.of(
        capacity_bps=steps(series.capacity_bps).mean(axis=1),
        achievable_bps=steps(achievable).mean(axis=1),
        fair_share_bps=steps(achievable).mean(axis=1),
        send_rate_bps=steps(series.send_rate_bps).mean(axis=1),
        receive_rate_bps=steps(series.receive_rate_bps).mean(axis=1),
        one_way_delay_mean_ms=steps(_gaps_filled(series.one_way_delay_mean_ms, base_ms)).mean(axis=1),
        base_one_way_delay_ms=np.full(whole // together, base_ms),
        loss_ratio=lost / np.maximum(lost + arrived, 1e-9),
    )


def _gaps_filled(values: Array, first: float) -> Array:
    """Fills gaps (NaN) with the value before them."""
    filled = np.concatenate([[first], values])
    latest = np.maximum.accumulate(np.where(np.isnan(filled), 0, np.arange(len(filled))))
    return filled[latest][1:]


def _bounded(rates: Array, total: float) -> Array:
    """Caps rates so that their sum is `total`, unless it is lower anyway."""
    low, high = 0.0, float(rates.max(initial=0.0))
    for _ in range(_HALVINGS):
        bound = (low + high) / 2
        low, high = (bound, high) if np.minimum(rates, bound).sum() < total else (low, bound)
    return np.minimum(rates, high)
