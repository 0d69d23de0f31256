"""Measures the speed and the memory of the simulator process."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from weir_cli.errors import ComponentFailed
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.simulator_worker import SimulatorJob, SimulatorWorker
from weir_traces.schema.scenario import Scenario

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
        ComponentFailed: the simulator failed; the message contains its output.
    """
    with closing(SimulatorWorker[SimulatorJob](executable)) as worker:
        speeds: dict[str, list[float]] = {"weir": [], "rule": []}
        for controller in speeds:
            _run(worker, model, 10.0, controller)
        sent = 0.0
        for _ in range(repetitions):
            for controller, values in speeds.items():
                begin = time.perf_counter()
                record = _run(worker, model, RUN_S, controller)
                values.append(RUN_S / (time.perf_counter() - begin))
                sent = record.flows[0].packets_sent / RUN_S
        samples = _memory_during(worker, model)
        quarter = samples[len(samples) // 4]
        return {
            "sim.simulated_s_per_s": speeds["weir"],
            "sim.rule_simulated_s_per_s": speeds["rule"],
            "sim.weir_to_rule_ratio": [weir / rule for weir, rule in zip(*speeds.values(), strict=True)],
            "sim.rss_mb": [samples[-1]],
            "sim.rss_growth_mb": [max(samples) - quarter],
            "sim.packets_per_s": [sent],
        }


def _memory_during(worker: SimulatorWorker[SimulatorJob], model: Path) -> list[float]:
    """Resident memory in MB over a run of LONG_RUN_S; the last entry is taken after the run."""
    samples, done = [_rss_mb(worker.pid)], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            samples.append(_rss_mb(worker.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        _run(worker, model, LONG_RUN_S)
    finally:
        done.set()
        watcher.join()
    return [*samples, _rss_mb(worker.pid)]


def _run(worker: SimulatorWorker[SimulatorJob], model: Path, duration_s: float, controller: str = "weir") -> RunRecord:
    request: dict[str, Any] = {"scenario": _scenario(duration_s), "controller": controller, "model": str(model)}
    request |= {"objective": [0.5, 0.4, 0.1], "seed": 1, "series": False}
    outcome, _ = worker.run(SimulatorJob("bench", request), _TIME_LIMIT_S)
    if outcome.record is None:
        raise ComponentFailed(f"weir-sim: {outcome.error}")
    return outcome.record


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
    # The process may have died.
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0
