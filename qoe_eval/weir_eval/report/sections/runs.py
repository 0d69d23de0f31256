"""Sections about the runs themselves: what was run, and what did not complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir_cli.console import counted
from weir_eval.measures.summary import ordered_controllers
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.record import Record
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import RunAbout, ScenarioAbout, Summary
from weir_eval.report.chart_rows import Chart
from weir_eval.report.page_blocks import Bullets, Charts, Entries, Folded, Section, Span, Text, code, cut, note
from weir_eval.report.page_table import Cell, Cells, Row, Table

_MOST_TEXTS = 20
_BY_CONTROLLER = {"playout": "a limit of the playout delay", "repair": "repair of losses chosen by Weir"}
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


def interruption(run: RunAbout) -> Text | None:
    """A warning that runs of the plan are missing because the command has not ended; None for one that has."""
    if run.finished or run.runs >= run.planned:
        return None
    words = f"Interrupted: {run.runs:,} of {counted(run.planned, 'run')}. The same command completes them."
    return Text([Span(words)], "verdict")


def unlike_settings(records: Sequence[RunRecord]) -> Text | None:
    """The settings of virtual calls that depend on the controller by default; None where none do."""
    calls = [record.virtual_call for record in records if record.virtual_call is not None]
    default = [name for name in _BY_CONTROLLER if any(name not in call for call in calls)]
    with_model = {record.controller for record in records if record.model_sha256}
    if not default or not with_model or with_model == {record.controller for record in records}:
        return None
    settings = " and ".join(map(_BY_CONTROLLER.__getitem__, default))
    same = " `--playout limited` or `unlimited` is for all." if "playout" in default else ""
    return note(f"By default, only calls with Weir at one end have {settings}; the others are libwebrtc's own.{same}")


def input_notes(scenarios: Mapping[str, ScenarioAbout]) -> Text | None:
    """How many inputs have faults, repairs or outages; None where none has."""
    faulty = [name for name, about in scenarios.items() if about.findings]
    if not faulty:
        return None
    found = sum(len(scenarios[name].findings) for name in faulty)
    return Text(
        f"{counted(found, 'finding')} in {counted(len(faulty), 'input')} (faults, repairs, outages, assumptions): see "
        "What was run.",
        "note",
    )


def configuration(records: Sequence[RunRecord], summary: Summary) -> Section:
    """The identity of the runs, and a table of the paths of all scenarios."""
    run = summary.run
    seeds = sorted({record.seed for record in records})
    custom = {
        name: f"{controller.source}, SHA-256 {controller.sha256}" for name, controller in run.custom_controllers.items()
    }
    entries = [
        ("Finished", run.finished or "not: interrupted, or by an earlier version"),
        ("Objective", f"{objectives_of(records)} (throughput, latency, loss)"),
        ("Seeds", ", ".join(map(str, seeds)) + (f" of {len(run.seeds)}" if len(run.seeds) > len(seeds) else "")),
        ("Controllers", ", ".join(ordered_controllers(record.controller for record in records))),
        *custom.items(),
        ("Model", _model(records, run)),
        *_media_of_calls(records),
        ("Versions", versions_of(records)),
        *_near_copies(run.near_copies),
        *_about_inputs(run.scenarios),
        ("Runs", f"{run.runs:,} complete of {run.planned:,}"),
    ]
    return run_section(run.command, entries, _NOTE, _scenarios(records, run.scenarios))


def _model(records: Sequence[RunRecord], run: RunAbout) -> str:
    if run.model:
        return f"{run.model.name}, SHA-256 {run.model.sha256}"
    hashes = sorted({record.model_sha256 for record in records if record.model_sha256})
    return f"SHA-256 {', '.join(hashes)}" if hashes else "none was needed"


def _media_of_calls(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """The media and settings of virtual calls; of replays the limit of playout."""
    calls = [record.virtual_call for record in records if record.virtual_call is not None]
    if not calls:
        return [("Playout limit", "150 ms of a receiver that decides, 250 ms under Weir at the sender, none in others")]

    def values(name: str, default: str) -> str:
        return ", ".join(sorted({str(call.get(name, default)) for call in calls}))

    return [
        ("Encoder", values("encoder", "–")),
        (
            "Playout limit",
            values("playout", "adaptive: with Weir at one end, 150 ms of the receiver or 100 to 250 ms of the sender"),
        ),
        ("Repair", values("repair", "adaptive: chosen by Weir in calls with Weir at one end, libwebrtc's in others")),
    ]


def _about_inputs(scenarios: Mapping[str, ScenarioAbout]) -> list[tuple[str, str]]:
    """The findings and defaults of the inputs, an entry each."""
    entries = []
    for title, field in (("Found in", "findings"), ("Assumed for", "assumed")):
        for name, about in [*scenarios.items()][:_MOST_TEXTS]:
            if texts := getattr(about, field):
                more = f"; and {len(texts) - _MOST_TEXTS} more" if len(texts) > _MOST_TEXTS else ""
                entries.append((f"{title} {cut(name)}", "; ".join(texts[:_MOST_TEXTS]) + more))
    return entries


def _near_copies(copies: Mapping[str, str]) -> list[tuple[str, str]]:
    if not copies:
        return []
    named = ", ".join(f"{copy} of {original}" for copy, original in list(copies.items())[:_MOST_TEXTS])
    more = f" and {len(copies) - _MOST_TEXTS} more" if len(copies) > _MOST_TEXTS else ""
    return [("Not independent", f"{named}{more}: copied or cut from one capture, which counts once")]


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
