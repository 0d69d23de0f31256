"""The worst scenarios of a set over time: receive rate within the capacity, and packet delay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.measures.families import GCC
from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series
from weir.qoe_eval.measures.summary import scenario_differences, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import FlowRecord, RunRecord
from weir.qoe_eval.report.chart_rows import SMALLEST_BIN_S, Chart, Line, capacity_line, chart, flow_line, line, row
from weir.qoe_eval.report.display import dated, signed
from weir.registry import POLICY
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.values_over_time import DelayOverTime
from weir.traces.schema.variation import vary

SHOWN = 2
_CONTROLLERS = (POLICY, GCC)


def worst_charts(results: Results, name: str) -> list[Chart]:
    """Charts of the SHOWN scenarios with the lowest challenge score against gcc, worst first, of the first seed."""
    differences = scenario_differences(scenario_means(results.replays[name]), POLICY, GCC)
    worst = sorted(differences, key=lambda scenario: differences[scenario])[:SHOWN]
    by_name = {scenario.name: scenario for scenario in results.sets[name].scenarios}
    return [_chart(results, name, by_name[scenario], differences[scenario]) for scenario in worst]


def _chart(results: Results, name: str, scenario: Scenario, difference: float) -> Chart:
    runs: dict[str, RunRecord] = {}
    for record in results.replays[name]:
        if record.scenario == scenario.name and record.controller in _CONTROLLERS:
            runs.setdefault(record.controller, results.with_series(record))
    rates: list[Line] = []
    delays: list[Line] = []
    for controller, record in sorted(runs.items(), key=lambda item: _CONTROLLERS.index(item[0])):
        for flow, series in _series(record):
            own = flow.kind == "rtp"
            if own and not rates:
                rates.append(capacity_line(series))
                delays.append(_path_delay(scenario, record.seed))
            shown = dated(controller, record.versions.get("libwebrtc", ""))
            label = shown if own else f"{flow.id} against {shown}"
            colour = f"--c-{controller}"
            style: dict[str, Any] = {"group": shown, "dash": "" if own else "dash", "width": 1.8 if own else 1.2}
            rates.append(flow_line(label, colour, series, series.receive_rate_bps / 1e3, "kbps", **style))
            if own:
                delays.append(flow_line(label, colour, series, series.one_way_delay_mean_ms, "ms", "max", **style))
    libwebrtc = next((record.versions.get("libwebrtc", "") for record in runs.values()), "")
    note = dated(f"{signed(difference, MEASURES['challenge'])} against gcc", libwebrtc)
    rows = [row("Received, kbps", rates), row("Delay, ms", delays, share=0.8)]
    return chart(scenario.name, note, scenario.duration_s, rows)


def _series(record: RunRecord) -> Iterator[tuple[FlowRecord, FlowSeries]]:
    for flow in record.flows:
        series = read_flow_series(record, flow)
        if series is not None and flow.direction == "forward":
            yield flow, series


def _path_delay(scenario: Scenario, seed: int) -> Line:
    """The path's own delay in the runs of a seed."""
    delay = vary(scenario, seed)[0].forward.one_way_delay_ms
    times_s = np.arange(0.0, scenario.duration_s, SMALLEST_BIN_S)
    values = delay.at(times_s) if isinstance(delay, DelayOverTime) else np.full(len(times_s), delay)
    return line("path's own", "--zero", times_s, values, unit="ms", dash="dot", step=True, width=1.2)
