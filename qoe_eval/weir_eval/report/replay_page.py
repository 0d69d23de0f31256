"""The report of a replay: `summary.json`, one HTML file that opens without a network, and tables on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.progress import track

from weir_cli.console import counted, error_console
from weir_cli.errors import InputError
from weir_cli.files.output import REPORT, write_text
from weir_eval.measures.against import compare_with
from weir_eval.measures.comparison import check_reference, first_judged, furthest_behind, judged
from weir_eval.measures.families import summarise_families
from weir_eval.measures.run_causes import summarise_causes
from weir_eval.measures.summary import ordered_controllers, sorted_records, summarise
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import RunAbout, Summary, read_run
from weir_eval.report.csv_tables import write_results_csv, write_series_csv
from weir_eval.report.display import dated
from weir_eval.report.page_blocks import Folded, note
from weir_eval.report.page_table import Block
from weir_eval.report.page_template import render_page
from weir_eval.report.replay_charts import replay_charts
from weir_eval.report.sections.against import against_section
from weir_eval.report.sections.causes import causes
from weir_eval.report.sections.controllers import delay_throughput, headline, limited_text, viewer
from weir_eval.report.sections.delay import delay_stages, modeled_lip_sync
from weir_eval.report.sections.estimators import guard, pools
from weir_eval.report.sections.objectives import objectives
from weir_eval.report.sections.pairs import differences, paired, verdict_lines
from weir_eval.report.sections.runs import (
    configuration,
    failures,
    input_notes,
    interruption,
    time_series,
    unlike_settings,
)
from weir_eval.report.sections.scenarios import HEATED, families, per_scenario, worst_runs
from weir_eval.report.text import against_sentences, libwebrtc_of, paired_sentences
from weir_eval.runs.objectives import FOLDER as OBJECTIVES
from weir_eval.runs.objectives import summarise_objectives
from weir_eval.runs.store import RESULTS, SUMMARY, RunStore
from weir_sim.controllers import LIBWEBRTC_SENDERS, WEIGHTS
from weir_sim.executables import Stack

FAMILIES_FOLDER = "families"
_TIME_SERIES = (
    "First seed, from its starting point in the trace. Grey: capacity. Main cause: of freezes and of long queues; the "
    "pointer shows all shares. Dashed: other traffic on the path. Dotted: the path's own delay, the media's limit, and "
    "oracle."
)
_STACKS: dict[Stack, str] = {
    "model": "Replays: the simulator's model of sender and receiver.",
    "libwebrtc": "Virtual calls: libwebrtc's own sender and receiver in simulated time.",
}


def summarise_replay(
    records: Sequence[RunRecord], objectives: Sequence[RunRecord], families: Sequence[RunRecord], run: RunAbout
) -> Summary:
    """The summary of a replay: of its main comparison, and of the runs under other objectives and on families."""
    summary = summarise(records, run)
    more: dict[str, object] = {"causes": summarise_causes(records)}
    if found := summarise_objectives(objectives, records):
        more["objectives"] = found
    if families:
        more["families"] = summarise_families(families, first_judged(summary))
    return summary.model_copy(update=more)


def write_report(store: RunStore, records: Sequence[RunRecord], summary: Summary) -> Path:
    """Writes `summary.json` and `report.html` into the folder of the store; returns the page's path."""
    write_text(store.folder / SUMMARY, summary.text() + "\n")
    page = store.folder / REPORT
    write_text(page, render_report(store, records, summary))
    return page


def write_csv(store: RunStore, records: Sequence[RunRecord], *, quiet: bool) -> None:
    """Writes the tables of a replay beside its report, with a progress bar unless `quiet`."""
    write_results_csv(store.folder, records, "replay")
    console = error_console()
    hidden = quiet or not console.is_terminal
    write_series_csv(store, track(records, "writing tables", console=console, disable=hidden, transient=True))


def rewrite(
    folder: Path, reference: str | None = None, against: Path | None = None
) -> tuple[Summary, Path, list[RunRecord]]:
    """Summary, page and records of a folder again: also after an interrupted replay. `reference`: another than the
    replay's. `against`: another folder to compare with.

    Raises:
        InputError: there are no records, one is damaged, none is of the reference, or none pairs with one of `against`.
    """
    store = RunStore(folder)
    records = _read_measured(store)
    about = read_run(folder / SUMMARY)
    planned = about.planned if "planned" in about.model_fields_set else len(records)
    check_reference(reference, ordered_controllers(record.controller for record in records))
    about = about.model_copy(
        update={"planned": planned, "runs": len(records), "reference": reference or about.reference}
    )
    records = sorted_records(records, about.scenarios)
    steered, on_families = (RunStore(folder / name).read() for name in (OBJECTIVES, FAMILIES_FOLDER))
    summary = summarise_replay(records, steered, on_families, about)
    if against is not None:
        others, command = _read_measured(RunStore(against)), read_run(against / SUMMARY).command
        compared = compare_with(summary, records, others, against, command, "replay")
        summary = summary.model_copy(update={"against": compared})
    return summary, write_report(store, records, summary), records


def _read_measured(store: RunStore) -> list[RunRecord]:
    records = store.read()
    if not records and store.results_path.is_file():
        raise InputError(f"{store.folder}: no run is complete yet in {RESULTS}; the command that wrote it goes on")
    if not records:
        raise InputError(
            f"{store.folder}: no {RESULTS} in it; give a folder that 'weir replay', 'call' or 'train' has written"
        )
    if any(not record.measures for record in records):
        raise InputError(f"{store.results_path}: records without metrics; it was not written by 'weir replay'")
    return records


def render_report(store: RunStore, records: Sequence[RunRecord], summary: Summary) -> str:
    """The page as text. `records` are lines of `results.jsonl`, whose series `store` reads; `summary` is theirs.

    Raises:
        InputError: a file of series is damaged.
    """
    controllers, version = list(summary.controllers), libwebrtc_of(summary)
    worst, words = furthest_behind(summary) or ("", "")
    ordered = sorted(records, key=lambda record: record.scenario != worst)
    charts = replay_charts(
        store, ordered, {name: scenario.description for name, scenario in summary.run.scenarios.items()}
    )
    if charts and charts[0]["name"] == worst:
        charts[0]["note"] = f"{dated(words, version)} {charts[0]['note']}"
    limited = limited_text(records)
    # Their lines are drawn at first; a click on the legend shows others.
    shown = (*judged(summary), summary.run.reference, *LIBWEBRTC_SENDERS)
    hidden = [name for name in controllers if name not in shown]
    shown_first = viewer(summary, limited)
    # Without video, the link's measures are what there is.
    open_ones = [failures(summary.run.failures, "run"), against_section(summary), shown_first or headline(summary)]
    # With one scenario, these would repeat the means.
    by_scenario = [
        per_scenario(summary, HEATED, linked=True),
        worst_runs(records, first_judged(summary), version),
    ] * (len(summary.scenarios) > 1)
    folded = [
        delay_stages(summary),
        causes(summary),
        paired(summary),
        headline(summary) if shown_first else None,
        delay_throughput(summary, limited),
        objectives(summary),
        *families(summary.families, first_judged(summary), version, has_own_sections=False),
        *by_scenario,
        time_series(charts, "Scenario", _TIME_SERIES),
        guard(records),
        pools(records),
        configuration(records, summary),
    ]
    sections = [*open_ones, *(replace(section, is_folded=True) for section in folded if section is not None)]
    title = "Weir: replays" if all(record.stack == "model" for record in records) else "Weir: virtual calls"
    return render_page(title, _lead(summary, records), sections, controllers, version, hidden)


def _lead(summary: Summary, records: Sequence[RunRecord]) -> list[Block | None]:
    objective = summary.run.objective
    weights = ", ".join(f"{w:g} {name}" for w, name in zip(objective, WEIGHTS, strict=True)) if objective else ""
    kinds = " and ".join(sorted({media.kind for record in records for media in record.media.values()}))
    sentences = [
        f"{counted(summary.run.runs, 'run')} of {counted(len(summary.controllers), 'controller')} on "
        f"{counted(len(summary.scenarios), 'scenario')}{f' with {kinds}' if kinds else ''}.",
        *(_STACKS[stack] for stack in sorted({record.stack for record in records})),
        f"Objective: {weights}." if weights else "",
    ]
    pairs = paired_sentences(summary)
    behind = Folded("All measures and pairs", differences(pairs)) if pairs else None
    about = note(" ".join(filter(None, sentences)))
    lip_sync = modeled_lip_sync(records)
    return [
        interruption(summary.run),
        *verdict_lines(against_sentences(summary) or pairs),
        unlike_settings(records),
        note(lip_sync) if lip_sync else None,
        input_notes(summary.run.scenarios),
        about,
        behind,
    ]
