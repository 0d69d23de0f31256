"""The section that tells what was run: command, versions, model, scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.summary import ordered_controllers
from weir.qoe_eval.report.page_template import Section

Record = Mapping[str, Any]


def what_was_run(records: Sequence[Record], summary: Mapping[str, Any]) -> Section:
    """What identifies the runs, and a table of the paths of all scenarios."""
    run = summary["run"]
    seeds = sorted({record["seed"] for record in records})
    own = {name: f"{one['source']}, SHA-256 {one['sha256']}" for name, one in run.get("own_controllers", {}).items()}
    model = run.get("model")
    view = {
        "command": run.get("command", ""),
        "entries": [
            ("Finished", run.get("finished", "")),
            ("Objective", f"{objectives_of(records)} (throughput, latency, loss)"),
            ("Seeds", ", ".join(map(str, seeds))),
            ("Controllers", ", ".join(ordered_controllers(record["controller"] for record in records))),
            *own.items(),
            ("Model", f"{model['name']}, SHA-256 {model['sha256']}" if model else "none was needed"),
            ("Versions", versions_of(records)),
            ("Runs", f"{run.get('runs', 0):,} complete of {run.get('planned', 0):,}"),
        ],
        "scenarios": _scenarios(records, run.get("scenarios", {})),
    }
    return Section("run", "What was run", "replay/what_was_run.html", view)


def versions_of(records: Sequence[Record]) -> str:
    """The versions that the records name, each once."""
    found = {f"{name} {version}" for record in records for name, version in record.get("versions", {}).items()}
    return ", ".join(sorted(found))


def objectives_of(records: Sequence[Record]) -> str:
    """The weights of the records' objectives, each once."""
    found = {", ".join(f"{w:g}" for w in record["objective"]) for record in records if record.get("objective")}
    return "; ".join(sorted(found))


def _scenarios(records: Sequence[Record], described: Mapping[str, Any]) -> list[dict[str, Any]]:
    first: dict[str, Record] = {}
    for record in records:
        first.setdefault(record["scenario"], record)
    rows = []
    for name, record in first.items():
        path, about = record["path"], described.get(name, {})
        capacity, queue = path.get("mean_capacity_bps"), path.get("queue_bytes")
        rows.append(
            {
                "name": name,
                "capacity_kbps": f"{capacity / 1e3:,.0f}" if capacity else "unlimited",
                "one_way_delay_ms": f"{about.get('one_way_delay_ms', path['one_way_delay_ms']):g}",
                "queue_kb": f"{queue / 1000:,.1f}" if queue else "–",
                "duration_s": f"{record['duration_s']:g}",
                "flows": ", ".join(f"{flow['id']} ({flow['kind']})" for flow in record["flows"]),
                "source": about.get("source", ""),
            }
        )
    return rows
