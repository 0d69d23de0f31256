"""The worst scenarios of a set over time: receive rate within the capacity, and packet delay."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.measures.families import GCC
from weir.qoe_eval.measures.summary import scenario_differences, scenario_means
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.chart_rows import SMALLEST_BIN_S, Chart, Line, chart, line, row
from weir.qoe_eval.report.display import dated, signed
from weir.qoe_eval.report.replay_charts import Drawing
from weir.registry import POLICY
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.values_over_time import DelayOverTime
from weir.traces.schema.variation import vary

SHOWN = 2


def worst_charts(results: Results, name: str) -> list[Chart]:
    """Charts of the SHOWN scenarios with the lowest challenge score against gcc, worst first, of the first seed."""
    differences = scenario_differences(scenario_means(results.replays[name]), POLICY, GCC)
    worst = sorted(differences, key=lambda scenario: differences[scenario])[:SHOWN]
    by_name = {scenario.name: scenario for scenario in results.sets[name].scenarios}
    return [_chart(results, name, by_name[scenario], differences[scenario]) for scenario in worst]


def _chart(results: Results, name: str, scenario: Scenario, difference: float) -> Chart:
    runs: dict[str, RunRecord] = {}
    for record in results.replays[name]:
        if record.scenario == scenario.name:
            runs.setdefault(record.controller, record)
    drawing = Drawing()
    for controller in (POLICY, GCC):
        run = results.with_series(runs[controller])
        drawing.add(run.model_copy(update={"flows": [one for one in run.flows if one.direction == "forward"]}))
    note = dated(f"{signed(difference, MEASURES['challenge'])} against gcc", runs[GCC].versions.get("libwebrtc", ""))
    rows = [
        row("Received, kbps", [drawing.capacity, *drawing.lines["received"]]),
        row("Delay, ms", [_path_delay(scenario, runs[GCC].seed), *drawing.lines["delay"]], share=0.8),
    ]
    return chart(scenario.name, note, scenario.duration_s, rows)


def _path_delay(scenario: Scenario, seed: int) -> Line:
    """The path's own delay in the runs of a seed."""
    delay = vary(scenario, seed)[0].forward.one_way_delay_ms
    times_s = np.arange(0.0, scenario.duration_s, SMALLEST_BIN_S)
    values = delay.at(times_s) if isinstance(delay, DelayOverTime) else np.full(len(times_s), delay)
    return line("path's own", "--zero", times_s, values, unit="ms", dash="dot", step=True, width=1.2)
