"""How far an estimator's arrival statistics are from the truth, which the simulator knows.

    python -m weir.qoe_eval.experiments.robust.arrival_truth --scenarios 40

Held-out scenarios of `weir.traces.generate.random_domain`, as drawn and in families where the path or a clock does one
thing by itself. The controller gcc-remb measures the path itself: under it every estimator sees the same packets,
whatever its statistics say. Under weir it acts on them.

A true queueing delay is what packets waited in the bottleneck, beyond what an empty path takes; jitter, a longer route
and a clock are no queue. Its error is taken over intervals of 200 ms, in ms. The truth of `loss_at_short_queue_10s` is
what was lost by chance: neither at a queue nor at a policer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from weir.errors import InputError
from weir.executables import find_simulator
from weir.qoe_eval.experiments.policy.sets import FIRST_RANDOM_SEED
from weir.qoe_eval.runs.shipped_model import model_to_run
from weir.qoe_eval.runs.simulator import run_jobs
from weir.qoe_eval.runs.simulator_worker import Outcome, SimulatorFailed, SimulatorJob
from weir.registry import uses_model
from weir.traces.generate.drawing import log_uniform
from weir.traces.generate.random_domain import random_scenario

Array = NDArray[np.float64]
Document = dict[str, Any]

# A queue of this is where controllers begin to yield; to miss one, or to see one that is not there, matters.
NOTICEABLE_MS = 15.0
CONTROLLERS = ("gcc-remb", "weir")
_TIME_LIMIT_S = 300.0
_COLUMNS = (
    "queueing_delay_mean_ms",
    "queueing_delay_min_ms",
    "true_queueing_delay_mean_ms",
    "true_queueing_delay_min_ms",
    "base_delay_error_mean_ms",
    "loss_at_short_queue_10s",
    "true_random_loss_10s",
)
_CAUSES = ("chance", "policer", "queue")


@dataclass(frozen=True)
class ArrivalTruth:
    """Errors over the intervals of all runs of one family and controller, estimate less truth.

    Of queueing delay, the mean over an interval's packets and the smallest: median and 95th percentile of the absolute
    error in ms; `over` and `under`, the shares of intervals where the estimate is more than NOTICEABLE_MS above or
    below the truth. Of the base delay: median and 95th percentile of the absolute error of its mean in ms. Of the loss
    at a short queue in 10 s against that by chance: median and 95th percentile of the absolute error, 0 to 1, and the
    mean error. `lost_by_`: shares of the packets sent, by what took them.
    """

    family: str
    controller: str
    intervals: int
    mean_error_p50_ms: float
    mean_error_p95_ms: float
    mean_over: float
    mean_under: float
    min_error_p50_ms: float
    min_error_p95_ms: float
    min_over: float
    min_under: float
    base_error_p50_ms: float
    base_error_p95_ms: float
    loss_error_p50: float
    loss_error_p95: float
    loss_error_mean: float
    lost_by_chance: float
    lost_by_policer: float
    lost_by_queue: float


def _first_delay_ms(link: Document) -> float:
    """What a link's delay is at the start, whether it changes or not."""
    delay = link["one_way_delay_ms"]
    return float(delay["values_ms"][0] if isinstance(delay, dict) else delay)


def _as_drawn(_: Document, __: np.random.Generator) -> None:
    pass


def _route(document: Document, rng: np.random.Generator) -> None:
    """5 to 150 ms more from some time in the first half on, to the end."""
    link = document["forward"]
    before, duration_s = _first_delay_ms(link), document["duration_s"]
    change_s = float(rng.uniform(0.2, 0.5) * duration_s)
    link["one_way_delay_ms"] = {"times_s": [0.0, change_s], "values_ms": [before, before + log_uniform(rng, 5, 150)]}


def _wander(document: Document, rng: np.random.Generator) -> None:
    """Another level of 0 to 40 ms more every 15 s."""
    link = document["forward"]
    times = np.arange(0.0, document["duration_s"], 15.0)
    values = _first_delay_ms(link) + rng.uniform(0, 40, len(times))
    link["one_way_delay_ms"] = {"times_s": times.tolist(), "values_ms": values.tolist()}


def _clock(document: Document, rng: np.random.Generator) -> None:
    """A sender's clock that is wrong by 100 to 1000 ppm, either way."""
    document["flows"][0]["sender_clock_ppm"] = float(rng.choice([-1, 1])) * log_uniform(rng, 100, 1000)


def _jitter(document: Document, rng: np.random.Generator) -> None:
    """Truncated Gaussian, in order, of 10 to 40 ms."""
    deviation_ms = log_uniform(rng, 10, 40)
    document["forward"]["jitter"] = {
        "kind": "truncated_gaussian",
        "standard_deviation_ms": deviation_ms,
        "maximum_ms": 3 * deviation_ms,
        "reorder": False,
    }


def _loss(document: Document, rng: np.random.Generator) -> None:
    """Independent, of 1 to 12 %."""
    document["forward"]["loss"] = {"kind": "bernoulli", "ratio": log_uniform(rng, 0.01, 0.12)}


def _everything(document: Document, rng: np.random.Generator) -> None:
    for change in (_route, _clock, _jitter):
        change(document, rng)


# What is done to a scenario as drawn, in place.
FAMILIES: Mapping[str, Callable[[Document, np.random.Generator], None]] = {
    "as drawn": _as_drawn,
    "route": _route,
    "wander": _wander,
    "clock": _clock,
    "jitter": _jitter,
    "loss": _loss,
    "everything": _everything,
}


@dataclass(frozen=True)
class TruthJob(SimulatorJob):
    """A run of a family under a controller."""

    family: str
    controller: str


def arrival_truth_jobs(
    scenarios: int, controllers: Sequence[str], families: Sequence[str], model: Path | None
) -> Iterator[TruthJob]:
    """The runs of every family and controller."""
    for index in range(scenarios):
        for family in families:
            document = random_scenario(FIRST_RANDOM_SEED + index, split="held_out").to_dict()
            FAMILIES[family](document, np.random.default_rng([FIRST_RANDOM_SEED, index]))
            for controller in controllers:
                chosen = str(model) if model and uses_model(controller) else None
                request = {"scenario": document, "controller": controller, "model": chosen, "seed": 1}
                yield TruthJob(f"{document['name']}, {family}", request, family, controller)


def interval_errors(record: Mapping[str, Any]) -> Array:
    """Shape [intervals, 4]: estimate less truth of the first flow's mean and smallest queueing delay and of its base
    delay, in ms, and of its random loss, 0 to 1. Intervals without packets are left out.

    Raises:
        InputError: the flow has no estimator at its receiver, or the run was made without series.
    """
    flow = record["flows"][0]
    series = flow.get("series", {}).get("arrival_statistics")
    if series is None:
        raise InputError(f"result of {record['scenario']}, flow {flow['id']}: no series arrival_statistics")
    mean, smallest, true_mean, true_smallest, base_error, loss, true_loss = (
        np.array(series[name], dtype=float) for name in _COLUMNS
    )
    errors = np.stack([mean - true_mean, smallest - true_smallest, base_error, loss - true_loss], axis=1)
    kept: Array = errors[~np.isnan(errors).any(axis=1)]
    return kept


def arrival_truth(outcomes: Iterable[Outcome[TruthJob]]) -> list[ArrivalTruth]:
    """A row for each family and controller, in the order of FAMILIES; none where nothing ever arrived.

    Raises:
        SimulatorFailed: a run failed.
    """
    errors: dict[tuple[str, str], list[Array]] = {}
    fates: dict[tuple[str, str], list[Array]] = {}
    for outcome in outcomes:
        if outcome.record is None:
            raise SimulatorFailed(outcome.describe())
        key = outcome.job.family, outcome.job.controller
        errors.setdefault(key, []).append(interval_errors(outcome.record))
        flow = outcome.record["flows"][0]
        lost = [flow["packets_lost_by_cause"][cause] for cause in _CAUSES]
        fates.setdefault(key, []).append(np.array([flow["packets_sent"], *lost], dtype=float))
    joined = {key: np.concatenate(some) for key, some in errors.items()}
    rows = [_row(*key, some, np.sum(fates[key], axis=0)) for key, some in joined.items() if len(some)]
    return sorted(rows, key=lambda row: (list(FAMILIES).index(row.family), row.controller))


def _row(family: str, controller: str, errors: Array, fates: Array) -> ArrivalTruth:
    lost = fates[1:] / fates[0]
    middle, high = np.percentile(np.abs(errors), [50, 95], axis=0)
    over, under = np.mean(errors > NOTICEABLE_MS, axis=0), np.mean(errors < -NOTICEABLE_MS, axis=0)
    return ArrivalTruth(
        family=family,
        controller=controller,
        intervals=len(errors),
        mean_error_p50_ms=float(middle[0]),
        mean_error_p95_ms=float(high[0]),
        mean_over=float(over[0]),
        mean_under=float(under[0]),
        min_error_p50_ms=float(middle[1]),
        min_error_p95_ms=float(high[1]),
        min_over=float(over[1]),
        min_under=float(under[1]),
        base_error_p50_ms=float(middle[2]),
        base_error_p95_ms=float(high[2]),
        loss_error_p50=float(middle[3]),
        loss_error_p95=float(high[3]),
        loss_error_mean=float(errors[:, 3].mean()),
        lost_by_chance=float(lost[0]),
        lost_by_policer=float(lost[1]),
        lost_by_queue=float(lost[2]),
    )


def _print(rows: Sequence[ArrivalTruth]) -> None:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for title in ("family", "controller"):
        table.add_column(title)
    parts = [f"{what} {part}" for what in ("mean", "min") for part in ("p50", "p95", "over", "under")]
    losses = ("loss p50", "loss p95", "loss mean", *_CAUSES)
    for title in ("intervals", *parts, "base p50", "base p95", *losses):
        table.add_column(title, justify="right")
    for row in rows:
        cells = [row.family, row.controller, str(row.intervals)]
        for name, value in list(asdict(row).items())[3:]:
            cells.append(f"{value:.1f}" if name.endswith("_ms") else f"{value:.1%}")
        table.add_row(*cells)
    Console(width=200).print(table)


def main(
    scenarios: Annotated[int, typer.Option(min=1, metavar="N", help="Random scenarios.")] = 40,
    controller: Annotated[list[str] | None, typer.Option(help="Default: gcc-remb and weir. Repeatable.")] = None,
    family: Annotated[list[str] | None, typer.Option(help="Default: all. Repeatable.")] = None,
    model: Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX model. Default: the one shipped.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Simulators at once.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Prints how far the arrival statistics are from the truth."""
    controllers, families = controller or list(CONTROLLERS), family or list(FAMILIES)
    chosen = model_to_run(model) if any(uses_model(name) for name in controllers) else None
    lines = arrival_truth_jobs(scenarios, controllers, families, chosen)
    rows = arrival_truth(run_jobs(find_simulator(), lines, jobs or os.cpu_count() or 1, _TIME_LIMIT_S))
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows)


if __name__ == "__main__":
    typer.run(main)
