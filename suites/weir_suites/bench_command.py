"""`weir bench`: measures this machine and writes the figures as JSON.

Every figure is a median over repetitions, written with the smallest and largest value. The figures of the estimator and
of GCC come from google-benchmark executables in the build folder.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.input import sha256_of_file
from weir_cli.files.output import make_folder, refuse_to_overwrite, write_text
from weir_cli.options import ForceOption, loading
from weir_eval.options.shared import check_model, model_to_run
from weir_sim.executables import find_simulator

if TYPE_CHECKING:
    from weir_eval.measurement import Measurement

_BUILD_DIR: Final = Path("build/release")


@dataclass(frozen=True)
class Figure:
    """A figure: its lower (">=") or upper ("<=") bound, the name of its google-benchmark, and the field of the result,
    in the unit of the figure. A figure without a bound is for comparison only: it depends on the processor, and a ratio
    derived from it has the bound; or on ONNX Runtime, which computes trees and LSTMs.
    """

    bound: tuple[str, float] | None = None
    benchmark: str = ""
    field: str = ""


FIGURES: dict[str, Figure] = {
    "sim.simulated_s_per_s": Figure(),
    "sim.rule_simulated_s_per_s": Figure(),
    "sim.weir_to_rule_ratio": Figure((">=", 0.5)),
    "env.steps_per_s": Figure((">=", 10_000)),
    # Steps of 60 ms; the published speed of the original is 86. The bound also holds on libwebrtc's stack.
    "env.opennetlab_steps_per_s": Figure((">=", 2_000)),
    "env.opennetlab_libwebrtc_steps_per_s": Figure((">=", 2_000)),
    "sim.rss_mb": Figure(("<=", 120)),
    "estimator.on_packet_ns_p50": Figure(("<=", 100), "OnPacket", "cpu_time"),
    "estimator.decision_us_p50": Figure(None, "Decision", "p50_us"),
    "estimator.decision_us_p99": Figure(None, "Decision", "p99_us"),
    "estimator.decision_to_network_ratio": Figure(("<=", 2)),
    "estimator.on_packet_copilot_ns": Figure(("<=", 100), "OnPacketOfCopilots", "ns_a_copilot"),
    "estimator.decision_by_trust_us_p50": Figure(("<=", 8), "DecisionByTrust", "p50_us"),
    "estimator.allocations_per_packet": Figure(("<=", 0), "OnPacket", "allocations_per_packet"),
    "estimator.bytes": Figure(("<=", 100_000), "SecondEstimator", "bytes"),
    "estimator.make_us_p50": Figure(("<=", 50), "SecondEstimator", "us_p50"),
    "estimator.thousand_core_share": Figure(("<=", 0.5), "CoreShareOfFleet/1000", "core_share"),
    "estimator.thousand_cost_over_one": Figure(None, "CoreShareOfFleet/1000", "cost_over_one"),
    "estimator.hundred_cost_over_one": Figure(None, "CoreShareOfFleet/100", "cost_over_one"),
    "estimator.ten_cost_over_one": Figure(None, "CoreShareOfFleet/10", "cost_over_one"),
    "estimator.thousand_resident_mb": Figure(("<=", 150), "CoreShareOfFleet/1000", "resident_mb"),
    "estimator.network_decision_us_p50": Figure(None, "ShippedDecision", "p50_us"),
    "estimator.network_decision_us_p99": Figure(None, "ShippedDecision", "p99_us"),
    "estimator.network_allocations": Figure(("<=", 0), "ShippedDecision", "allocations"),
    "estimator.tree_decision_us_p50": Figure(None, "TreeDecision", "p50_us"),
    "estimator.tree_decision_us_p99": Figure(None, "TreeDecision", "p99_us"),
    "estimator.tree_allocations": Figure(None, "TreeDecision", "allocations"),
    "estimator.lstm_decision_us_p50": Figure(None, "LstmDecision", "p50_us"),
    "estimator.lstm_decision_us_p99": Figure(None, "LstmDecision", "p99_us"),
    "estimator.lstm_allocations": Figure(None, "LstmDecision", "allocations"),
    "worker.late_share": Figure(("<=", 0.001), "LateDecisions", "late_share"),
    "worker.decisions_per_s": Figure(None, "DecisionsOfWorker", "worker_per_s"),
    "worker.gain_over_inline": Figure((">=", 1), "DecisionsOfWorker", "gain"),
    "worker.stuck_packet_ns_p99": Figure(None, "PacketsWhileTheWorkerIsStuck", "stuck_ns_p99"),
    "worker.stuck_packet_p99_ratio": Figure(("<=", 1.1), "PacketsWhileTheWorkerIsStuck", "p99_ratio"),
    "gcc.feedback_us_p50": Figure(None, "GccFeedback/2500", "feedback_us_p50"),
}
_EXECUTABLE_TIME_LIMIT_S = 300
_REPETITIONS = 5

Values = dict[str, list[float]]


def bench(
    build_dir: Annotated[Path, typer.Option(metavar="DIR", help="Build folder with the benchmark executables.")] = (
        _BUILD_DIR
    ),
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the figures go.")] = Path("build/bench.json"),
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="ONNX model in the loop. Default: the one shipped.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a record of results, which documents cite.")
    ] = None,
    force: ForceOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure the speed of the simulator, the environment and the estimator on this machine. Exit status 1 if a figure
    could not be measured.
    """
    if not build_dir.is_dir():
        if build_dir == _BUILD_DIR:
            raise MissingComponent(f"{build_dir}: no benchmarks here; 'make bench' in a clone builds and runs them")
        raise InputError(
            f"--build-dir '{build_dir}': no such folder; build with WEIR_BUILD_BENCHMARKS=ON and name that folder"
        )
    make_folder(out.parent)
    refuse_to_overwrite(out, force)
    check_model(model)
    simulator, chosen = find_simulator(), model_to_run(model)
    with loading():
        from rich.console import Console

        from weir_suites.bench.environment import measure_environment, measure_opennetlab
        from weir_suites.bench.simulator import measure_simulator

    figures: Values = {}
    failures: dict[str, str] = {}
    parts: dict[str, Callable[[], Values]] = {
        "simulator": lambda: measure_simulator(simulator, chosen, _REPETITIONS),
        "environment": lambda: {
            "env.steps_per_s": measure_environment(simulator, _REPETITIONS),
            "env.opennetlab_steps_per_s": measure_opennetlab("model", _REPETITIONS),
        },
        "virtual calls": lambda: {
            "env.opennetlab_libwebrtc_steps_per_s": measure_opennetlab("libwebrtc", _REPETITIONS)
        },
        "estimator and GCC": lambda: run_executables(build_dir, _REPETITIONS),
    }
    for name, part in parts.items():
        try:
            with Console(stderr=True).status(f"measuring: {name}"):
                figures |= part()
        except (RuntimeError, MissingComponent, OSError, subprocess.SubprocessError) as error:
            failures[name] = str(error)
    if "estimator and GCC" not in failures:
        failures |= {
            key: "no benchmark reported it" for key, one in FIGURES.items() if one.benchmark and key not in figures
        }
    document = describe(figures, failures)
    write_text(out, json.dumps(document, indent=1) + "\n")
    if record is not None:
        from weir_eval.measurement import write_measurement

        write_measurement(record, speed_measurement(figures, chosen, simulator))
    typer.echo(json.dumps(document, indent=1) if as_json else "\n".join(_lines(document)) + f"\n{out}")
    if failures:
        raise typer.Exit(1)


def speed_measurement(figures: Mapping[str, Sequence[float]], model: Path, simulator: Path) -> Measurement:
    """The record of results: medians, with the smallest and largest repetition."""
    from weir_eval.measurement import Measurement, Value, commit, today
    from weir_sim.versions import simulator_versions

    return Measurement(
        measured="speed",
        about=f"Medians of {_REPETITIONS} repetitions on a machine with {os.cpu_count()} cores ({platform.machine()}), "
        "with the smallest and largest.",
        command="weir bench",
        model_sha256=sha256_of_file(model),
        libwebrtc=simulator_versions(simulator)["libwebrtc"],
        date=today(),
        commit=commit(),
        values={
            name: Value(statistics.median(values), min(values), max(values)) for name, values in sorted(figures.items())
        },
    )


def run_executables(build_dir: Path, repetitions: int) -> Values:
    """Values of all google-benchmark executables (`*_benchmark`) below a build folder.

    Raises:
        MissingComponent: there are no executables.
        subprocess.SubprocessError: an executable fails or takes too long.
    """
    executables = sorted(p for p in build_dir.rglob("*_benchmark") if p.is_file() and os.access(p, os.X_OK))
    if not executables:
        raise MissingComponent(
            f"{build_dir}: no *_benchmark executables; configure with -DWEIR_BUILD_BENCHMARKS=ON and build"
        )
    figures: Values = {}
    for executable in executables:
        options = ["--benchmark_format=json", f"--benchmark_repetitions={repetitions}"]
        answer = subprocess.run(
            [executable, *options], capture_output=True, text=True, timeout=_EXECUTABLE_TIME_LIMIT_S, check=True
        )
        figures |= read_google_benchmark(json.loads(answer.stdout))
    pairs = zip(
        figures.get("estimator.decision_us_p50", []), figures.get("estimator.network_decision_us_p50", []), strict=False
    )
    if ratios := [decision / network for decision, network in pairs]:
        figures["estimator.decision_to_network_ratio"] = ratios
    return figures


def read_google_benchmark(document: Mapping[str, Any]) -> Values:
    """The figures in google-benchmark's JSON, one value per repetition, without its means and medians.

    A name may continue after a slash ("GccFeedback/2500/manual_time"). Times are in nanoseconds, its default.
    """
    figures: Values = {}
    for measured in document["benchmarks"]:
        if measured.get("run_type", "iteration") != "iteration":
            continue
        if measured.get("error_occurred"):
            raise RuntimeError(f"{measured['name']}: {measured.get('error_message', 'failed')}")
        for name, one in FIGURES.items():
            if one.benchmark and (measured["name"] + "/").startswith(one.benchmark + "/") and one.field in measured:
                figures.setdefault(name, []).append(float(measured[one.field]))
    return figures


def describe(figures: Mapping[str, Sequence[float]], failures: Mapping[str, str]) -> dict[str, Any]:
    """The output document: the figures by name, then spread, targets, machine and failures."""
    medians = {name: _rounded(statistics.median(values)) for name, values in sorted(figures.items())}
    reached = {}
    bounds = {name: one.bound for name, one in FIGURES.items() if one.bound}
    for name, (kind, limit) in bounds.items():
        if name in medians:
            reached[name] = medians[name] >= limit if kind == ">=" else medians[name] <= limit
    return medians | {
        "spread": {name: [_rounded(min(values)), _rounded(max(values))] for name, values in sorted(figures.items())},
        "targets": {name: f"{kind} {limit:g}" for name, (kind, limit) in bounds.items()},
        "reached": reached,
        "repetitions": _REPETITIONS,
        "machine": {
            "cores": os.cpu_count(),
            "architecture": platform.machine(),
            "system": platform.platform(terse=True),
        },
        "failures": dict(failures),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, (low, high) in document["spread"].items():
        target = document["targets"].get(name, "")
        verdict = {True: "reached", False: "NOT REACHED"}.get(document["reached"].get(name), "")
        lines.append(f"{name:36} {document[name]:>12,g}   {low:,g} to {high:,g}   {target:10} {verdict}")
    return lines + [f"not measured: {name}: {reason}" for name, reason in document["failures"].items()]
