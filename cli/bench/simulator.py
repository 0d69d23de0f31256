"""Measures the speed and the memory of the simulator process."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from weir.traces.schema.scenario import Scenario

PACKETS_PER_S = 300
RUN_S = 1000.0
LONG_RUN_S = 10_000.0
# Payload, RTP header and extension: the bytes that a target rate counts.
_RTP_PACKET_BYTES = 1224
_TIME_LIMIT_S = 300.0


def measure_simulator(executable: Path, model: Path, repetitions: int) -> dict[str, list[float]]:
    """Runs one RTP flow of 300 packets/s (2.9 Mbps) repeatedly in one process, alternately under the controllers weir
    (with policy and statistics) and rule. The first, short runs load the model and are not measured.

    Returns:
        Figures by name. `simulated_s_per_s` has one value per run of RUN_S under the controller weir,
        `rule_simulated_s_per_s` one per run under rule. As these alternate, `weir_to_rule_ratio` is the cost of the
        policy, independent of the load of the machine. `rss_mb` is the resident memory of the process after LONG_RUN_S
        more, and `rss_growth_mb` its growth in the last three quarters of that run. `packets_per_s` is the actual
        packet rate of the flow.

    Raises:
        RuntimeError: the simulator failed; the message contains its output.
    """
    with subprocess.Popen(
        [executable, "run", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        watchdog = threading.Timer(_TIME_LIMIT_S, process.kill)
        watchdog.start()
        try:
            speeds: dict[str, list[float]] = {"weir": [], "rule": []}
            for controller in speeds:
                _run(process, model, 10.0, controller)
            sent = 0.0
            for _ in range(repetitions):
                for controller, values in speeds.items():
                    begin = time.perf_counter()
                    record = _run(process, model, RUN_S, controller)
                    values.append(RUN_S / (time.perf_counter() - begin))
                    sent = record["flows"][0]["packets_sent"] / RUN_S
            samples = _memory_during(process, model)
            quarter = samples[len(samples) // 4]
            return {
                "sim.simulated_s_per_s": speeds["weir"],
                "sim.rule_simulated_s_per_s": speeds["rule"],
                "sim.weir_to_rule_ratio": [weir / rule for weir, rule in zip(*speeds.values(), strict=True)],
                "sim.rss_mb": [samples[-1]],
                "sim.rss_growth_mb": [max(samples) - quarter],
                "sim.packets_per_s": [sent],
            }
        finally:
            watchdog.cancel()
            process.kill()


def _memory_during(process: subprocess.Popen[bytes], model: Path) -> list[float]:
    """Resident memory in MB over a run of LONG_RUN_S; the last entry is taken after the run."""
    samples, done = [_rss_mb(process.pid)], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            samples.append(_rss_mb(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        _run(process, model, LONG_RUN_S)
    finally:
        done.set()
        watcher.join()
    return [*samples, _rss_mb(process.pid)]


def _run(process: subprocess.Popen[bytes], model: Path, duration_s: float, controller: str = "weir") -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    job = {
        "job": 0,
        "scenario": _scenario(duration_s),
        "controller": controller,
        "model": str(model),
        "objective": [0.5, 0.4, 0.1],
        "seed": 1,
        "series": False,
    }
    try:
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    if not line:
        process.kill()
        raise RuntimeError(f"weir-sim died or took too long: {process.stderr.read().decode(errors='replace').strip()}")
    answer = json.loads(line)
    if "error" in answer:
        raise RuntimeError(f"weir-sim: {answer['error']}")
    return answer


def _scenario(duration_s: float) -> dict[str, Any]:
    # Minimum and maximum rate are equal: the policy runs, and the packet rate is known.
    rate = float(PACKETS_PER_S * _RTP_PACKET_BYTES * 8)
    flow = {
        "kind": "rtp",
        "min_rate_bps": rate,
        "start_rate_bps": rate,
        "media": {"kind": "filler", "max_rate_bps": rate},
    }
    capacity = {"times_s": [0.0], "rates_bps": [10e6]}
    return Scenario.make(name="bench", duration_s=duration_s, forward={"capacity": capacity}, flows=[flow]).to_dict()


def _rss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0
