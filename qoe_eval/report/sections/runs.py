"""Sections about the runs themselves: what was run, and what did not complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.qoe_eval.measures.summary import ordered_controllers
from weir.qoe_eval.records import Record, RunRecord, ScenarioAbout, Summary
from weir.qoe_eval.report.page_template import Section, View

_MOST_TEXTS = 20


def failures(texts: Sequence[str], noun: str) -> Section | None:
    """The first failures in words; None where all completed. `noun` is for one of them: run, call."""
    if not texts:
        return None
    view = {"count": len(texts), "noun": noun, "texts": texts[:_MOST_TEXTS], "more": len(texts) - _MOST_TEXTS}
    return Section("failures", "", "failures", view)


def what_was_run(records: Sequence[RunRecord], summary: Summary) -> Section:
    """The identity of the runs, and a table of the paths of all scenarios."""
    run = summary.run
    seeds = sorted({record.seed for record in records})
    custom = {name: f"{one.source}, SHA-256 {one.sha256}" for name, one in run.own_controllers.items()}
    view = {
        "command": run.command,
        "entries": [
            ("Finished", run.finished),
            ("Objective", f"{objectives_of(records)} (throughput, latency, loss)"),
            ("Seeds", ", ".join(map(str, seeds))),
            ("Controllers", ", ".join(ordered_controllers(record.controller for record in records))),
            *custom.items(),
            ("Model", f"{run.model.name}, SHA-256 {run.model.sha256}" if run.model else "none was needed"),
            ("Versions", versions_of(records)),
            ("Runs", f"{run.runs:,} complete of {run.planned:,}"),
        ],
        "scenarios": _scenarios(records, run.scenarios),
    }
    return Section("run", "What was run", "replay/what_was_run", view)


def versions_of(records: Sequence[Record]) -> str:
    """The versions that the records name, each once."""
    found = {f"{name} {version}" for record in records for name, version in record.versions.items()}
    return ", ".join(sorted(found))


def objectives_of(records: Sequence[Record]) -> str:
    """The weights of the records' objectives, each once."""
    found = {", ".join(f"{w:g}" for w in record.objective) for record in records if record.objective}
    return "; ".join(sorted(found))


def _scenarios(records: Sequence[RunRecord], described: Mapping[str, ScenarioAbout]) -> list[View]:
    first: dict[str, RunRecord] = {}
    for record in records:
        first.setdefault(record.scenario, record)
    rows: list[View] = []
    for name, record in first.items():
        path, about = record.path, described.get(name, ScenarioAbout())
        delay_ms = path.one_way_delay_ms if about.one_way_delay_ms is None else about.one_way_delay_ms
        rows.append(
            {
                "name": name,
                "capacity_kbps": f"{path.mean_capacity_bps / 1e3:,.0f}" if path.mean_capacity_bps else "unlimited",
                "one_way_delay_ms": f"{delay_ms:g}",
                "queue_kb": f"{path.queue_bytes / 1000:,.1f}" if path.queue_bytes else "–",
                "duration_s": f"{record.duration_s:g}",
                "flows": ", ".join(f"{flow.id} ({flow.kind})" for flow in record.flows),
                "source": about.source,
            }
        )
    return rows
