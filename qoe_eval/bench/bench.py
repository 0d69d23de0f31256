"""`weir bench`: measures this machine and writes the figures as JSON.

Every figure is the median over repetitions; the smallest and largest stand beside it. The estimator's and GCC's
figures come from google-benchmark executables in the build folder.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from weir.errors import InputError, MissingComponent
from weir.executables import find_simulator
from weir.files.output import make_folder, write_text
from weir.qoe_eval.bench.simulator import measure_simulator
from weir.qoe_eval.runs.options import model_to_run

# Bounds of the figures: at least (">=") or at most ("<="); None is for comparison only.
TARGETS: dict[str, tuple[str, float] | None] = {
    "sim.simulated_s_per_s": (">=", 12_000),
    "sim.rule_simulated_s_per_s": None,
    "sim.weir_to_rule_ratio": None,
    "env.steps_per_s": (">=", 10_000),
    "env.peer_ratio": (">=", 100),
    "sim.rss_mb": ("<=", 120),
    "estimator.on_packet_ns_p50": ("<=", 100),
    "estimator.decision_us_p50": ("<=", 3),
    "estimator.decision_us_p99": ("<=", 8),
    "estimator.on_packet_copilot_ns": ("<=", 100),
    "estimator.decision_by_trust_us_p50": ("<=", 8),
    "estimator.allocations_per_packet": ("<=", 0),
    "estimator.bytes": ("<=", 100_000),
    "estimator.make_us_p50": ("<=", 50),
    "estimator.thousand_core_share": ("<=", 0.5),
    "estimator.thousand_cost_over_one": None,
    "estimator.hundred_cost_over_one": None,
    "estimator.ten_cost_over_one": None,
    "estimator.thousand_resident_mb": ("<=", 150),
    "estimator.tree_decision_us_p50": ("<=", 2),
    "estimator.tree_decision_us_p99": ("<=", 10),
    "estimator.tree_bytes": ("<=", 61 * 1024),
    "estimator.tree_allocations": ("<=", 0),
    "estimator.tree_model_bytes": None,
    "estimator.lstm_decision_us_p50": None,
    "estimator.lstm_decision_us_p99": None,
    "estimator.network_decision_us_p50": None,
    "estimator.network_decision_us_p99": None,
    "gcc.feedback_us_p50": None,
}
# Figure by google-benchmark's name of what was measured and the field that holds it, in the unit of the figure.
_BENCHMARKS = {
    "estimator.on_packet_ns_p50": ("OnPacket", "real_time"),
    "estimator.allocations_per_packet": ("OnPacket", "allocations_per_packet"),
    "estimator.on_packet_copilot_ns": ("OnPacketOfCopilots", "ns_a_copilot"),
    "estimator.decision_by_trust_us_p50": ("DecisionByTrust", "p50_us"),
    "estimator.decision_us_p50": ("Decision", "p50_us"),
    "estimator.decision_us_p99": ("Decision", "p99_us"),
    "estimator.bytes": ("SecondEstimator", "bytes"),
    "estimator.make_us_p50": ("SecondEstimator", "us_p50"),
    "estimator.thousand_core_share": ("CoreShareOfFleet/1000", "core_share"),
    "estimator.thousand_cost_over_one": ("CoreShareOfFleet/1000", "cost_over_one"),
    "estimator.hundred_cost_over_one": ("CoreShareOfFleet/100", "cost_over_one"),
    "estimator.ten_cost_over_one": ("CoreShareOfFleet/10", "cost_over_one"),
    "estimator.thousand_resident_mb": ("CoreShareOfFleet/1000", "resident_mb"),
    "estimator.tree_decision_us_p50": ("TreeDecision", "p50_us"),
    "estimator.tree_decision_us_p99": ("TreeDecision", "p99_us"),
    "estimator.tree_bytes": ("TreeDecision", "tree_bytes"),
    "estimator.tree_allocations": ("TreeDecision", "allocations"),
    "estimator.tree_model_bytes": ("TreeDecision", "bytes"),
    "estimator.lstm_decision_us_p50": ("LstmDecision", "p50_us"),
    "estimator.lstm_decision_us_p99": ("LstmDecision", "p99_us"),
    "estimator.network_decision_us_p50": ("ShippedDecision", "p50_us"),
    "estimator.network_decision_us_p99": ("ShippedDecision", "p99_us"),
    "gcc.feedback_us_p50": ("GccFeedback/2500", "feedback_us_p50"),
}
_EXECUTABLE_TIME_LIMIT_S = 300

Figures = dict[str, list[float]]


def bench(
    build_dir: Annotated[Path, typer.Option(metavar="DIR", help="Build folder with the benchmark executables.")] = Path(
        "build/release"
    ),
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the figures go.")] = Path("build/bench.json"),
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="ONNX model in the loop. Default: the one shipped.")
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Measurements of each figure.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure simulator, environment and estimator on this machine. Exit status 1 when a figure could not be
    measured.
    """
    if not build_dir.is_dir():
        raise InputError(
            f"--build-dir {build_dir}: no such folder; build with WEIR_BUILD_BENCHMARKS=ON and name that folder"
        )
    # Gymnasium takes a second to import, which the other commands need not wait for.
    from weir.qoe_eval.bench.environment import measure_environment, measure_peer_ratio

    simulator, chosen = find_simulator(), model_to_run(model)
    figures: Figures = {}
    failures: dict[str, str] = {}

    def simulate() -> Figures:
        found = measure_simulator(simulator, chosen, repetitions)
        pairs = zip(found.simulated_s_per_s, found.rule_simulated_s_per_s, strict=True)
        return {
            "sim.simulated_s_per_s": found.simulated_s_per_s,
            "sim.rule_simulated_s_per_s": found.rule_simulated_s_per_s,
            "sim.weir_to_rule_ratio": [weir / rule for weir, rule in pairs],
            "sim.rss_mb": [found.rss_mb],
            "sim.rss_growth_mb": [found.rss_growth_mb],
            "sim.packets_per_s": [found.packets_per_s],
        }

    parts: dict[str, Callable[[], Figures]] = {
        "simulator": simulate,
        "environment": lambda: {"env.steps_per_s": measure_environment(simulator, repetitions)},
        "OpenNetLab's calls": lambda: {"env.peer_ratio": measure_peer_ratio(simulator, repetitions)},
        "estimator and GCC": lambda: run_executables(build_dir, repetitions),
    }
    for name, part in parts.items():
        try:
            with Console(stderr=True).status(f"measuring: {name}"):
                figures |= part()
        except (RuntimeError, MissingComponent, OSError, subprocess.SubprocessError) as error:
            failures[name] = str(error)
    if "estimator and GCC" not in failures:
        failures |= {key: "no benchmark reported it" for key in _BENCHMARKS if key not in figures}
    document = describe(figures, failures, repetitions)
    make_folder(out.parent)
    write_text(out, json.dumps(document, indent=1) + "\n")
    typer.echo(json.dumps(document, indent=1) if as_json else "\n".join(_lines(document)) + f"\n{out}")
    if failures:
        raise typer.Exit(1)


def run_executables(build_dir: Path, repetitions: int) -> Figures:
    """Figures of all google-benchmark executables (`*_benchmark`) below a build folder.

    Raises:
        MissingComponent: there are none.
        subprocess.SubprocessError: one fails, or takes too long.
    """
    executables = sorted(p for p in build_dir.rglob("*_benchmark") if p.is_file() and os.access(p, os.X_OK))
    if not executables:
        raise MissingComponent(
            f"{build_dir}: no *_benchmark executables; configure with -DWEIR_BUILD_BENCHMARKS=ON and build"
        )
    figures: Figures = {}
    for executable in executables:
        options = ["--benchmark_format=json", f"--benchmark_repetitions={repetitions}"]
        answer = subprocess.run(
            [executable, *options], capture_output=True, text=True, timeout=_EXECUTABLE_TIME_LIMIT_S, check=True
        )
        figures |= read_google_benchmark(json.loads(answer.stdout))
    return figures


def read_google_benchmark(document: Mapping[str, Any]) -> Figures:
    """The figures in google-benchmark's JSON, one value per repetition; its own means and medians are left out.

    A name may go on after a slash ("GccFeedback/2500/manual_time"). Times are in nanoseconds, its default.
    """
    figures: Figures = {}
    for measured in document["benchmarks"]:
        if measured.get("run_type", "iteration") != "iteration":
            continue
        if measured.get("error_occurred"):
            raise RuntimeError(f"{measured['name']}: {measured.get('error_message', 'failed')}")
        for figure, (name, field) in _BENCHMARKS.items():
            if (measured["name"] + "/").startswith(name + "/") and field in measured:
                figures.setdefault(figure, []).append(float(measured[field]))
    return figures


def describe(figures: Mapping[str, Sequence[float]], failures: Mapping[str, str], repetitions: int) -> dict[str, Any]:
    """The document that is written: the figures flat under their names, then spread, targets, machine and what
    failed.
    """
    medians = {name: _rounded(statistics.median(values)) for name, values in sorted(figures.items())}
    reached = {}
    for name, target in TARGETS.items():
        if target and name in medians:
            reached[name] = medians[name] >= target[1] if target[0] == ">=" else medians[name] <= target[1]
    return medians | {
        "spread": {name: [_rounded(min(values)), _rounded(max(values))] for name, values in sorted(figures.items())},
        "targets": {name: f"{target[0]} {target[1]:g}" for name, target in TARGETS.items() if target},
        "reached": reached,
        "repetitions": repetitions,
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
