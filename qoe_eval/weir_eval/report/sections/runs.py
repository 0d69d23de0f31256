"""Sections about the runs themselves: what was run, and what did not complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_cli.console import counted
from weir_eval.measures.summary import ordered_controllers
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.record import Record
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import ScenarioAbout, Summary
from weir_eval.report.chart_rows import Chart
from weir_eval.report.page_blocks import Bullets, Charts, Entries, Folded, Section, Text, code, note
from weir_eval.report.page_table import Cell, Cells, Row, Table

_MOST_TEXTS = 20
_NOTE = (
    "Scenario, controller, objective and seed determine every run. A seed draws where in its trace a run begins, small "
    "differences of the path's own delay, the sender's clock, phase and sizes of frames, losses and jitter, the same "
    "for all controllers; seed 0 is the scenario as written."
)


def failures(texts: Sequence[str], noun: str) -> Section | None:
    """The first failures in words; None where all completed. `noun` is for one of them: run, call."""
    if not texts:
        return None
    more = Text(f"and {len(texts) - _MOST_TEXTS} more") if len(texts) > _MOST_TEXTS else None
    heading = f"{counted(len(texts), noun)} did not complete"
    return Section("failures", "", [Bullets(texts[:_MOST_TEXTS]), more], heading)


def time_series(charts: Sequence[Chart], title: str, meaning: str) -> Section | None:
    """The section of charts of rows, one of which is shown; `title` is for the choice. None without charts."""
    if not charts:
        return None
    about = note(f"{meaning} A click in the legend hides or shows a controller.")
    return Section("time-series", "Time series", [about, Charts(charts, title)])


def run_section(
    command: str, entries: Sequence[tuple[str, str]], meaning: str = "", scenarios: Table | None = None
) -> Section:
    """The section "What was run": the command, names with texts, and a table of scenarios."""
    blocks = [
        note(meaning) if meaning else None,
        Entries([("Command", [code(command)]), *entries]),
        Folded("The scenarios", [scenarios]) if scenarios else None,
    ]
    return Section("run", "What was run", blocks)


def configuration(records: Sequence[RunRecord], summary: Summary) -> Section:
    """The identity of the runs, and a table of the paths of all scenarios."""
    run = summary.run
    seeds = sorted({record.seed for record in records})
    custom = {
        name: f"{controller.source}, SHA-256 {controller.sha256}" for name, controller in run.custom_controllers.items()
    }
    entries = [
        ("Finished", run.finished),
        ("Objective", f"{objectives_of(records)} (throughput, latency, loss)"),
        ("Seeds", ", ".join(map(str, seeds))),
        ("Controllers", ", ".join(ordered_controllers(record.controller for record in records))),
        *custom.items(),
        ("Model", f"{run.model.name}, SHA-256 {run.model.sha256}" if run.model else "none was needed"),
        ("Versions", versions_of(records)),
        *_near_copies(run.near_copies),
        ("Runs", f"{run.runs:,} complete of {run.planned:,}"),
    ]
    return run_section(run.command, entries, _NOTE, _scenarios(records, run.scenarios))


def _near_copies(copies: Mapping[str, str]) -> list[tuple[str, str]]:
    if not copies:
        return []
    named = ", ".join(f"{copy} of {original}" for copy, original in list(copies.items())[:_MOST_TEXTS])
    more = f" and {len(copies) - _MOST_TEXTS} more" if len(copies) > _MOST_TEXTS else ""
    return [("Nearly the same path", f"{named}{more}: counted as one, because they are not independent")]


def versions_of(records: Sequence[Record]) -> str:
    """The versions that the records name, each once."""
    found = {f"{name} {version}" for record in records for name, version in record.versions.items()}
    return ", ".join(sorted(found))


def objectives_of(records: Sequence[Record]) -> str:
    """The weights of the records' objectives, each once."""
    found = {", ".join(f"{w:g}" for w in record.objective) for record in records if record.objective}
    return "; ".join(sorted(found))


def _scenarios(records: Sequence[RunRecord], described: Mapping[str, ScenarioAbout]) -> Table:
    first: dict[str, RunRecord] = {}
    for record in records:
        first.setdefault(record.scenario, record)
    rows = []
    for name, record in first.items():
        path, about = record.path, described.get(name, ScenarioAbout())
        delay_ms = path.one_way_delay_ms if about.one_way_delay_ms is None else about.one_way_delay_ms
        rows.append(
            Row(
                [
                    Cell(name, scenario=True),
                    f"{path.mean_capacity_bps / 1e3:,.0f}" if path.mean_capacity_bps else "unlimited",
                    f"{delay_ms:g}",
                    f"{path.queue_bytes / 1000:,.1f}" if path.queue_bytes else "–",
                    f"{record.duration_s:g}",
                    Cell(", ".join(_flow_text(flow, record) for flow in record.flows), kind="text"),
                    Cell(about.source, kind="text"),
                ]
            )
        )
    heads: Cells = [
        "Scenario", Cell("Mean capacity", "kbps"), Cell("One-way delay", "ms"), Cell("Queue", "kB"),
        Cell("Duration", "s"), "Flows", "Source",
    ]  # fmt: skip
    return Table(heads, rows)


def _flow_text(flow: FlowRecord, record: RunRecord) -> str:
    media = record.media.get(flow.id)
    return f"{flow.id} ({f'{media.kind} to {media.max_rate_bps / 1e6:g} Mbps' if media else flow.kind})"
