"""The report of calls: `summary.json` and one HTML file that opens without a network."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from weir_calls.call import logs
from weir_calls.call.call_charts import call_charts, folder_of
from weir_calls.call.plan import CallResult
from weir_calls.call.record import read_record
from weir_calls.call.summary import Call, compared_records, read_calls, summarise_calls
from weir_calls.call.user_changes import describe_cuts, describe_objective
from weir_cli.console import counted
from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_cli.files.output import REPORT, write_text
from weir_eval.json_lines import number
from weir_eval.measures.against import compare_with
from weir_eval.measures.comparison import check_reference, furthest_behind
from weir_eval.measures.summary import ordered_controllers
from weir_eval.measures.table import MEASURES
from weir_eval.records.against import Against
from weir_eval.records.call_record import CallDetails, CallRecord
from weir_eval.records.command_record import command_text
from weir_eval.records.results_file import holds_calls
from weir_eval.records.summary import RunAbout, Summary, read_run
from weir_eval.report.page_blocks import Bullets, Heading, Section, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table, measure_heads
from weir_eval.report.page_template import render_page
from weir_eval.report.sections.against import against_section
from weir_eval.report.sections.causes import causes
from weir_eval.report.sections.controllers import all_measures, means_table
from weir_eval.report.sections.delay import delay_stages
from weir_eval.report.sections.pairs import differences, paired, verdict_lines
from weir_eval.report.sections.runs import failures, objectives_of, run_section, time_series, versions_of
from weir_eval.report.sections.scenarios import per_scenario
from weir_eval.report.text import against_sentences, paired_sentences
from weir_eval.runs.store import SUMMARY, RecordStore

_MAIN = (
    "call_quality", "end_to_end_delay_ms_p50", "end_to_end_delay_ms_p95", "call_score", "viewer_quality", "vmaf_mean",
    "vmaf_p5", "freeze_count", "frozen_share", "concealed_share", "visqol_mean", "plcmos_mean", "received_bitrate_bps",
)  # fmt: skip
# In place of those that need weir-peer, for calls of other stacks.
_WITHOUT_WEIR_PEER = (
    "top_layer_height", "time_to_top_layer_s", "layer_drops_per_minute", "media_share", "frames_per_second",
    "network_delay_ms_p95", "p95_queueing_delay_ms", "loss_ratio", "utilisation",
)  # fmt: skip
_PLAYOUT = {
    "adaptive": "150 ms at a native receiver in calls in which Weir decides, none in others",
    "limited": "150 ms in all calls",
    "unlimited": "none",
}
_LONGEST_REASON = 300
_MOST_STOPPED = 3
_TIME_SERIES = (
    "Grey: capacity less cross traffic. Estimate: Weir's REMB, or the availableOutgoingBitrate of a GCC sender. Delay: "
    "from capture to rendering, the largest of half a second; dotted: the link's queue. Active controller, and trust "
    "in the first one: of a pool. Main cause: of freezes and of queues above 100 ms; the pointer shows all shares."
)


def write(
    results: Sequence[CallRecord | CallResult], out: Path, run: RunAbout | None = None, against: Path | None = None
) -> tuple[Summary, Path]:
    """Writes `summary.json` and `report.html` into `out`.

    Args:
        results: records of calls, or their results; at least one.
        out: the folder that holds the calls' folders, itself or in `calls`; or the folder of a single call.
        run: the command, by default that of this process, and failures.
        against: another folder of calls to compare with.

    Returns:
        The summary, and the page's path.

    Raises:
        InputError: a log cannot be read, a file not written, or no call pairs with one of `against`.
    """
    records = [result.record if isinstance(result, CallResult) else result for result in results]
    calls = [(call, folder_of(call.record, out)) for call in read_calls(records)]
    about = run or RunAbout(failures=[])
    if not about.command:
        about = about.model_copy(update={"command": command_text()})
    planned = about.planned if "planned" in about.model_fields_set else len(calls)
    about = about.model_copy(update={"planned": planned, "runs": len(calls)})
    summary = summarise_calls([call for call, _ in calls], about)
    if against is not None:
        summary = summary.model_copy(update={"against": _compared(summary, [call for call, _ in calls], against)})
    page = out / REPORT
    write_text(out / SUMMARY, summary.text() + "\n")
    write_text(page, render(calls, summary, out))
    return summary, page


def _compared(summary: Summary, calls: Sequence[Call], against: Path) -> Against:
    others = read_folder(against)
    if not others:
        raise InputError(
            f"--against '{printable(against)}': has no calls; give a folder of 'weir call' or 'weir serve'"
        )
    there = compared_records(read_calls(others))
    return compare_with(summary, compared_records(calls), there, against, read_run(against / SUMMARY).command, "call")


def rewrite(out: Path, reference: str | None = None, against: Path | None = None) -> tuple[Summary, Path] | None:
    """Writes the report of the calls in a folder again; None without calls. `reference`: another than `weir call` had.
    `against`: another folder to compare with.

    Raises:
        InputError: a record or log is damaged, no call is of the reference, or none pairs with one of `against`.
    """
    records = read_folder(out)
    if not records:
        return None
    check_reference(reference, ordered_controllers(call.controller for call in read_calls(records)))
    # The number of calls of `weir serve` is not planned.
    run = read_run(out / SUMMARY) if RecordStore(out, CallRecord).results_path.is_file() else RunAbout(failures=[])
    return write(records, out, run.model_copy(update={"reference": reference}) if reference else run, against)


def read_folder(out: Path) -> list[CallRecord]:
    """The records of `weir call`'s `results.jsonl`, of a single call, or of `weir serve`'s calls, each in a folder.
    These have no seeds: those of one scenario and controller are numbered instead, in the order of their times.

    Raises:
        InputError: a record is damaged.
    """
    store = RecordStore(out, CallRecord)
    if holds_calls(store.results_path):
        return store.read()
    only = read_record(out)
    if only is not None:
        return [only]
    found = [read_record(path.parent) for path in sorted(out.glob(f"*/{logs.RECORD}"))]
    repeated: Counter[tuple[str, str]] = Counter()
    records = []
    for record in (candidate for candidate in found if candidate is not None):
        case = record.scenario, record.controller
        records.append(record.model_copy(update={"seed": record.seed + repeated[case]}))
        repeated[case] += 1
    return records


def render(calls: Sequence[tuple[Call, Path]], summary: Summary, out: Path) -> str:
    """Renders the page; links are relative to `out`.

    Raises:
        InputError: a log of a call cannot be read.
    """
    case, label = furthest_behind(summary) or ("", "")
    charts = call_charts(sorted(calls, key=lambda entry: entry[0].case != case))
    if charts and charts[0]["name"].startswith(f"{case} · "):
        charts[0]["note"] = f"{label} {charts[0]['note']}"
    shown, several = main_measures(summary), len(summary.controllers) > 1 and len(summary.scenarios) > 1
    sections = [
        failures([str(text)[:500] for text in summary.run.failures], "call"),
        against_section(summary),
        _headline(summary),
        delay_stages(summary),
        causes(summary),
        paired(summary),
        per_scenario(summary, shown, linked=False) if several else None,
        time_series(charts, "Call", _TIME_SERIES),
        _calls_table(calls, shown, out),
        _what_was_run(calls, summary),
    ]
    return render_page("Weir: calls", _lead(summary, [call for call, _ in calls]), sections, list(summary.controllers))


def _lead(summary: Summary, calls: Sequence[Call]) -> list[Block]:
    excluded, pairs = len(summary.left_out), paired_sentences(summary)
    scenarios = len({call.case for call in calls})
    stopped = [f"{call.controller} was {call.record.stopped}" for call in calls if call.record.stopped]
    more = len(stopped) - _MOST_STOPPED
    sentences = [
        f"{counted(len(calls), 'real call')} through a link that replays {counted(scenarios, 'scenario')}.",
        "Its values are those of this call alone: another one would have others." if len(calls) == 1 else "",
        f"{counted(excluded, 'call')} left out of every mean and comparison: disturbed, ended early, or unequal."
        if excluded
        else "",
        "Paths are unequal: the user cut the link at other times in one call than in another."
        if any(call.unequal for call in calls)
        else "",
        f"{'; '.join(stopped[:_MOST_STOPPED])}{f'; and {more} more' if more > 0 else ''}." if stopped else "",
    ]
    return [
        *verdict_lines(against_sentences(summary) or pairs),
        note(" ".join(filter(None, sentences))),
        *differences(pairs),
    ]


def main_measures(summary: Summary) -> list[str]:
    """The names of the measures of a table of calls, without those that no controller has."""
    known = {name for values in summary.controllers.values() for name in values}
    names = _MAIN if not known or "vmaf_mean" in known else (*_MAIN, *_WITHOUT_WEIR_PEER)
    return [name for name in names if not known or name in known]


def _headline(summary: Summary) -> Section | None:
    """Every controller with the means of the main measures; None if there are none."""
    if not any(summary.controllers.values()):
        return None
    table = means_table(summary, list(summary.controllers), main_measures(summary), with_calls=True)
    about = note(
        "Means over the calls that every controller has, each measured whole: from its first frame to its end. Calls "
        "that were disturbed, ended before their time, or had unequal paths are left out. **Call quality** is made of "
        "picture, freezes, end-to-end delay and concealed audio; the call score also counts freezes, and has the "
        "median delay alone. For both a conclusion from it hangs on their weights."
    )
    return Section("headline", "Controllers", [about, table, *all_measures(summary, "call", "All measures")])


def _calls_table(calls: Sequence[tuple[Call, Path]], shown: Sequence[str], out: Path) -> Section:
    """Every call with its measures and links relative to `out`, by case, seed and controller."""
    rows, excluded = [], []
    for call, folder in _sorted_calls(calls):
        measures, links = call.record.measures, _links(folder, out)
        exclusion = "; ".join(reason[:_LONGEST_REASON] for reason in call.exclusion_reasons)
        if exclusion:
            excluded.append(f"{call.case}, {call.controller}, seed {call.record.seed}: {exclusion}")
        cells = [
            call.case,
            Cell(call.controller, kind="text", swatch=call.controller),
            str(call.record.seed),
            "no" if exclusion else "yes",
            *(MEASURES[name].display(measures.get(name)) for name in shown),
            Cell("" if links else "–", kind="text", links=links),
        ]
        rows.append(Row(cells))
    of_measures = measure_heads([MEASURES[name] for name in shown])
    heads: Cells = ["Scenario", "Controller", "Seed", "In means", *of_measures, "See"]
    about = note(
        "The recording is what the receiver saw, freezes too. Freezes by rendered frames after the definition of W3C "
        "webrtc-stats."
    )
    reasons = [Heading("Left out of the means"), Bullets(excluded, "note")] if excluded else []
    return Section("calls", "Calls", [about, Table(heads, rows), *reasons])


def _sorted_calls(calls: Sequence[tuple[Call, Path]]) -> list[tuple[Call, Path]]:
    controllers = ordered_controllers(call.controller for call, _ in calls)
    cases = list(dict.fromkeys(call.case for call, _ in calls))

    def place(entry: tuple[Call, Path]) -> tuple[int, int, int]:
        return cases.index(entry[0].case), entry[0].record.seed, controllers.index(entry[0].controller)

    return sorted(calls, key=place)


def _links(folder: Path, out: Path) -> list[tuple[str, str]]:
    """Addresses and names of the links to its recording and record."""
    return [
        (quote(Path(os.path.relpath(folder / name, out)).as_posix()), label)
        for name, label in ((logs.RECORDING, "recording"), (logs.RECORD, "record"))
        if (folder / name).is_file()
    ]


def _what_was_run(calls: Sequence[tuple[Call, Path]], summary: Summary) -> Section:
    """Command, senders, video, versions, and problems of measuring."""
    run, records = summary.run, [call.record for call, _ in calls]
    about = [record.call for record in records]
    complete = sum(not (call.failure or call.stopped) for call in about)
    objectives = objectives_of(records)
    unread = round(sum(number((c.measured.frames or {}).get("without_number")) or 0 for c in about))
    problems = sorted({p for c in about for p in c.measured.problems})
    entries = [
        ("Finished", run.finished),
        ("Senders", ", ".join(sorted({c.sender for c in about}))),
        ("Video", "; ".join(sorted({_video(call) for call in about}))),
        ("Duration", f"{statistics.median(r.duration_s for r in records):g} s a call"),
        ("Decision delay", ", ".join(f"{ms:g} ms" for ms in sorted({c.decision_delay_ms for c in about} - {0.0}))),
        ("Playout limit", ", ".join(sorted({_PLAYOUT[c.playout] for c in about if c.playout in _PLAYOUT}))),
        ("Objective", f"{objectives} (throughput, latency, loss)" if objectives else ""),
        ("Objective changed", _by_controller(records, describe_objective)),
        ("Link cut by the user", _by_controller(records, describe_cuts)),
        ("Seeds", ", ".join(map(str, sorted({r.seed for r in records})))),
        ("Versions", versions_of(records)),
        ("Calls", f"{complete} complete of {run.planned}"),
        ("Frames without a readable number", f"{unread:,}" if unread else ""),
        ("Not measured", "; ".join(problems)),
    ]
    note = "Means and differences are over calls that nothing disturbed and that saw the same link, with the same cuts."
    return run_section(run.command, [(name, text) for name, text in entries if text], note)


def _by_controller(records: Sequence[CallRecord], describe: Callable[[CallRecord], str]) -> str:
    return "; ".join(f"{record.controller}: {text}" for record in records if (text := describe(record)))


def _video(call: CallDetails) -> str:
    size = f"{call.width}x{call.height} at {call.frames_per_second:g}/s"
    audio = f" with {call.audio_codec} audio" if call.audio_codec else ""
    return f"{size}, {call.codec}{audio}, at most {call.max_bitrate_bps / 1e3:,.0f} kbps"
