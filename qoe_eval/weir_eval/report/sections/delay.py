"""The section about the end-to-end delay: the time that frames spend in each stage of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_cli.console import counted
from weir_eval.measures.comparison import judged
from weir_eval.measures.delay_stages import STAGES
from weir_eval.measures.table import MEASURES
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import Summary
from weir_eval.report.page_blocks import Folded, Section, note
from weir_eval.report.page_table import Cell, Cells, Row, Table, controller_cell

_COLUMNS = (*(f"delay_in_{stage}_ms" for stage in STAGES), "end_to_end_delay_ms")


def delay_stages(summary: Summary) -> Section | None:
    """The stages of the delay by controller, and by scenario; None where no controller has them."""
    by_controller = {
        name: {measure: found.mean for measure, found in values.items()} for name, values in summary.controllers.items()
    }
    columns = [name for name in _COLUMNS if any(f"{name}_p50" in values for values in by_controller.values())]
    if len(columns) < 2:
        return None
    stages = [Cell(_title(name), "ms, median and p95 ↓") for name in columns]
    heads: Cells = ["Controller", *stages]
    rows = [
        Row([controller_cell(name), *_cells(values, columns)], name in judged(summary))
        for name, values in by_controller.items()
    ]
    scenario_rows = [
        Row([Cell(scenario), Cell(name, kind="text", swatch=name), *_cells(values, columns)])
        for scenario, by_name in summary.scenarios.items()
        for name, values in by_name.items()
    ]
    about = note(
        "Where frames wait: in the **encoder** until they are encoded; in the **pacer** until their last packet is "
        "sent; in the **network** until they and all frames before them have arrived, with repair; in the **jitter "
        "buffer** until they could be rendered; and until audio is there, too, for **lip sync**. The stages of each "
        "frame add up to its end-to-end delay; their medians and 95th percentiles do not. Means over runs."
    )
    scenario_heads: Cells = ["Scenario", Cell("Controller", kind="text"), *stages]
    by_scenario = Folded("By scenario", [Table(scenario_heads, scenario_rows)]) if len(summary.scenarios) > 1 else None
    return Section("delay", "Where the delay arises", [about, Table(heads, rows), by_scenario])


def modeled_lip_sync(records: Sequence[RunRecord]) -> str:
    """A warning, for page and terminal, where lip sync is most of the end-to-end delay, summed over frames, of runs
    with the simulator's receiver; empty without such runs.
    """
    modeled = [record for record in records if record.stack == "model"]
    found = sum((record.measures.get("lip_sync_share") or 0.0) > 0.5 for record in modeled)
    if not found:
        return ""
    return (
        f"In {found} of {counted(len(modeled), 'run')} most of the end-to-end delay is the wait for audio (lip sync), "
        "which a replay models; check with --stack libwebrtc."
    )


def _title(name: str) -> str:
    label, _, _ = MEASURES[f"{name}_p50"].label.partition(",")
    return label.removeprefix("Delay in ").capitalize()


def _cells(values: Mapping[str, float], columns: list[str]) -> list[Cell]:
    return [
        Cell(
            MEASURES[f"{name}_p50"].display(values.get(f"{name}_p50")),
            MEASURES[f"{name}_p95"].display(values.get(f"{name}_p95")),
        )
        for name in columns
    ]
