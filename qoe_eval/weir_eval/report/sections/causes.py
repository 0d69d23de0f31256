"""The section on causes of freezes and long queues, and the texts of single episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir_eval.measures.causes import LONG_QUEUE_MS
from weir_eval.measures.comparison import judged
from weir_eval.measures.queue_causes import CAUSES
from weir_eval.records.comparisons import CauseRow
from weir_eval.records.record import Episode
from weir_eval.records.summary import Summary
from weir_eval.report.chart_rows import ChartRow, Line, line, row
from weir_eval.report.display import css_name
from weir_eval.report.page_blocks import Heading, Section, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table, controller_cell

LABELS = {cause: cause.replace("_", " ").capitalize() for cause in CAUSES}
_MEANINGS = {
    "outage": "The path had nothing for 0.3 s or more.",
    "capacity": "The path fell faster than feedback shows, or carried other traffic; only sending less helps.",
    "decision": "The target was above what the path was known to carry, or did not let a known queue empty; probes.",
    "feedback": "The receiver's estimate was lower, but had not reached the sender; or no feedback came.",
    "encoder": "More was sent than the target, also where that is below the media's least; or no frame was captured.",
    "pacer": "A backlog of frames was sent faster than they were encoded; or a frame waited for its turn.",
    "key_frame": "A key frame was being sent.",
    "loss": "A lost packet was waited for, or retransmissions exceeded the target.",
    "other": "None of these: jitter, the receiver's buffer, or too short for samples of 0.1 s.",
}
_NOTE = (
    "Seconds by cause, and below how many have it as their main cause. A queue consists of the bytes that made it and "
    "kept it: sent above what the path was known to carry one round trip and 0.1 s before, up to the receiver’s "
    "estimate (decision), on to the sender’s target (feedback), and above that (encoder, pacer, key frame). A freeze "
    "is divided by what its last frame waited for. No real controller avoids every decision counted here: the "
    "comparison is with a sender that has measured the path as it was."
)
# The share of a cause's place that lanes fill, and the width of a lane in pixels.
_LANES = 0.8
_THINNEST_LANE = 1.5
_KINDS = {"freeze": "Freezes", "queue": f"Queues above {LONG_QUEUE_MS:.0f} ms"}


def causes(summary: Summary) -> Section | None:
    """Seconds and number of freezes and long queues by cause and controller, of the kinds that there are; None without
    any. Of calls that have no log of their frames only the queues are known.
    """
    own = judged(summary)
    kinds = {kind: [row for row in summary.causes if row.kind == kind] for kind in _KINDS}
    tables: list[Block] = []
    for kind, rows in kinds.items():
        if any(row.episodes for row in rows):
            tables += [Heading(_KINDS[kind]), Table(_heads(), [_row(row, row.controller in own) for row in rows])]
    return Section("causes", "Why it froze", [note(_NOTE), *tables]) if tables else None


def episode_text(episode: Episode) -> str:
    """As in "freeze 0.4 s: decision 80 %, encoder 20 %"; shares below 5 % are left out."""
    shares = sorted(((share, name) for name, share in episode.shares.items() if name in LABELS), reverse=True)
    parts = ", ".join(f"{LABELS[name].lower()} {share:.0%}" for share, name in shares if share >= 0.05)
    return f"{episode.kind} {episode.duration_s:.1f} s: {parts.replace('%', ' %')}"


def cause_line(controller: str, episodes: Sequence[Episode]) -> Line:
    """The main cause of each freeze and long queue, over its time."""
    x: list[float] = []
    y: list[float] = []
    text: list[str] = []
    for episode in episodes:
        if episode.cause in LABELS:
            end_s = episode.start_s + episode.duration_s
            x += [episode.start_s, episode.start_s + episode.duration_s / 2, end_s, end_s]
            y += [list(LABELS).index(episode.cause)] * 3 + [np.nan]
            text += [episode_text(episode)] * 3 + [""]
    drawn = line(controller, f"--c-{css_name(controller)}", np.array(x), np.array(y), width=9.0)
    return drawn and {**drawn, "text": text}


def cause_row(lines: Sequence[Line]) -> ChartRow | None:
    """The row of `cause_line`s. Each controller has a lane of its own in a cause's place, the first the highest."""
    found = row("Main cause", lines, share=0.9, ticks=list(LABELS.values()))
    kept = found["lines"] if found else []
    lanes = list(dict.fromkeys(drawn["group"] for drawn in kept))
    for drawn in kept:
        offset = _LANES * (0.5 - (lanes.index(drawn["group"]) + 0.5) / len(lanes))
        drawn["y"] = [None if y is None else round(y + offset, 3) for y in drawn["y"]]
        drawn["width"] = max(_THINNEST_LANE, drawn["width"] / len(lanes))
    return found


def _heads() -> Cells:
    return [
        Cell("Controller"), Cell("Total", "s a run"), Cell("Number", "a run"),
        *(Cell(LABELS[cause], "s", title=_MEANINGS[cause]) for cause in CAUSES),
    ]  # fmt: skip


def _row(row: CauseRow, is_marked: bool) -> Row:
    def cell(cause: str) -> Cell:
        seconds, main = row.seconds_by_cause.get(cause, 0.0), row.episodes_by_cause.get(cause, 0.0)
        return Cell(f"{seconds:.2f}", f"{main:.1f} mainly" if main >= 0.05 else "") if seconds else Cell("–")

    cells: Cells = [controller_cell(row.controller), f"{row.seconds:.2f}", f"{row.episodes:.1f}", *map(cell, CAUSES)]
    return Row(cells, is_marked)
