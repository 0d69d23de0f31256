"""The page of a folder of observed connections: what Weir would have done, and how both groups compare."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_cli.files.output import begin_page, write_text
from weir_eval.report.chart_rows import Chart, chart, line, row, thinned
from weir_eval.report.page_blocks import Charts, Section, Text, cut, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table
from weir_eval.report.page_template import render_page
from weir_logs.event_logs.event_log_charts import target_line
from weir_logs.observations.agreement import CONDITIONS, TOLERANCE, Agreement, add_by_reason
from weir_logs.observations.groups import GroupRow, Groups
from weir_logs.observations.observation_log import EmptyLogError, ObservedConnection, read_observation_log

_SHOWN_CONNECTIONS = 12
_SHOWN_CHARTS = 6
_MOST_OTHERS = 5
_OPEN_LOOP = (
    "Open loop: Weir saw the packets that the other estimator’s decisions had shaped. Where Weir would have sent less, "
    "the path may have carried less traffic without the loss or the queue that Weir saw; where it would have sent "
    "more, nobody tried whether the path carries it. What a change brings, only the connections that Weir is in charge "
    "of show."
)
_AGREEMENT_HEADS = (
    "", Cell("Of the time", "%"), Cell("Weir more", "%"), Cell("Agree", "%"), Cell("Weir less", "%"),
    Cell("Below what arrived", "%"), Cell("Mean of the other", "kbps"), Cell("Mean of Weir", "kbps"),
)  # fmt: skip


@dataclass
class _Collected:
    """Sums over the connections of a report."""

    connections: int = 0
    skipped: int = 0
    unreadable: int = 0
    # The name of the first log that could not be read, and why.
    first_unreadable: str = ""
    seconds: int = 0
    others: set[str] = field(default_factory=set)
    conditions: dict[str, Agreement] = field(default_factory=lambda: {name: Agreement() for name in CONDITIONS})
    reasons: dict[str, Agreement] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    # The connections with the longest disagreement: its seconds, a number that orders equal ones, and the rest.
    apart: list[tuple[int, int, Path, Agreement]] = field(default_factory=list)

    def add(self, path: Path, one: ObservedConnection) -> None:
        self.connections += 1
        self.seconds += len(one)
        self.others.add(one.other if one.other in self.others or len(self.others) < _MOST_OTHERS else "other")
        for name, choose in CONDITIONS.items():
            self.conditions[name].add(one, choose(one))
        add_by_reason(one, self.reasons)
        self.groups.add(one)
        found = Agreement()
        found.add(one, np.ones(len(one), dtype=bool))
        if found.more + found.less:
            heapq.heappush(self.apart, (found.more + found.less, -self.connections, path, found))
            if len(self.apart) > _SHOWN_CONNECTIONS:
                heapq.heappop(self.apart)

    def leave_out(self, path: Path, error: InputError) -> None:
        """Counts a log that cannot be read; an empty one is without an observation."""
        if isinstance(error, EmptyLogError):
            self.skipped += 1
            return
        self.unreadable += 1
        if not self.first_unreadable:
            reason = str(error).removeprefix(f"{printable(path)}: ")
            self.first_unreadable = f"{printable(path.name)}: {reason}"

    @property
    def all(self) -> Agreement:
        return self.conditions["all"]

    @property
    def other(self) -> str:
        return " or ".join(sorted(self.others))


def write_observation_report(paths: Sequence[Path], name: str, out: Path) -> tuple[dict[str, Any], Path]:
    """Writes `report.html` to a folder, which is created if needed; returns the numbers of its tables and the page.
    `name`: of what is reported.

    Raises:
        InputError: a log cannot be read, none has an observation, or the page cannot be written.
    """
    page, collected = begin_page(out), _Collected()
    for path in paths:
        try:
            one = read_observation_log(path)
        except InputError as error:
            if len(paths) == 1:
                raise
            collected.leave_out(path, error)
            continue
        if len(one):
            collected.add(path, one)
        else:
            collected.skipped += 1
    if not collected.connections:
        raise InputError(
            f"{printable(name)}: no log has an observation; a host writes one each second{_unreadable_text(collected)}"
        )
    apart = [(path, found) for _, _, path, found in sorted(collected.apart, reverse=True)]
    rows = collected.groups.rows()
    lead: list[Block] = [
        Text(_result_text(collected), "verdict"),
        Text(_extent_text(collected, name), "note"),
    ]
    sections = [
        Section(
            "agreement", "What Weir would have done", [note(_OPEN_LOOP), _agreement_note(), *_agreement(collected)]
        ),
        Section("reasons", "Why", [_reasons_note(), _table(_reasons(collected), collected.all.seconds)]),
        Section("groups", "Weir in charge", _groups(collected, rows)),
    ]
    if blocks := _most_apart(apart):
        sections.append(Section("apart", "Where they differ most", blocks))
    write_text(page, render_page("Weir: observed connections", lead, sections))
    return _described(collected, rows), page


def _percent(count: float, of: float) -> float:
    return 100 * count / of if of else 0.0


def _result_text(collected: _Collected) -> str:
    every = collected.all
    if not every.seconds:
        return "Weir was in charge of every connection, so there is nothing that it would have done instead."
    more, agree, less = (_percent(n, every.seconds) for n in (every.more, every.agree, every.less))
    return (
        f"With {collected.other} in charge, Weir would have sent more in {more:.0f} % of the time and less in "
        f"{less:.0f} %; in {agree:.0f} % both agree."
    )


def _extent_text(collected: _Collected, name: str) -> str:
    skipped = f"; {collected.skipped:,} logs without an observation are left out" if collected.skipped else ""
    left_out = skipped + _unreadable_text(collected)
    return f"{name}: {collected.connections:,} connections, {collected.seconds / 3600:,.1f} hours{left_out}."


def _unreadable_text(collected: _Collected) -> str:
    if not collected.unreadable:
        return ""
    return f"; {collected.unreadable:,} logs could not be read, the first is {collected.first_unreadable}"


def _agreement_note() -> Text:
    return note(
        f"Targets **agree** if they differ by at most {100 * TOLERANCE:.0f} % of the other’s. **Below what arrived**: "
        "Weir’s target was below the rate that was received, by more than that. Means are over the seconds in which "
        "the other estimator had a target."
    )


def _agreement(collected: _Collected) -> list[Block]:
    return [_table(list(collected.conditions.items()), collected.all.seconds)]


def _reasons_note() -> Text:
    return note(
        "Why Weir’s target was what it was: `controller` is its model, `guard_…` a rule of its guard, `probe` a probe "
        "that the path carried, `fallback` and `held` a model that failed or was late, `start` the time before the "
        "first decision."
    )


def _reasons(collected: _Collected) -> list[tuple[str, Agreement]]:
    found = [(reason or "unknown", one) for reason, one in collected.reasons.items() if one.seconds]
    return sorted(found, key=lambda item: -item[1].seconds)


def _table(named: Sequence[tuple[str, Agreement]], seconds: int) -> Table:
    return Table(
        _AGREEMENT_HEADS,
        [
            Row([Cell(cut(name), kind="text"), f"{_percent(one.seconds, seconds):.1f}", *_agreement_cells(one)])
            for name, one in named
            if one.seconds
        ],
    )


def _agreement_cells(one: Agreement) -> list[str]:
    shares = [f"{_percent(n, one.seconds):.1f}" for n in (one.more, one.agree, one.less, one.below_received)]
    if not one.limited:
        return [*shares, "–", "–"]
    return [*shares, f"{1e-3 * one.other_bps / one.limited:,.0f}", f"{1e-3 * one.weir_bps / one.limited:,.0f}"]


def _groups(collected: _Collected, rows: Sequence[GroupRow]) -> list[Block]:
    other, weir = collected.groups.sizes
    changed = f" {collected.groups.changed:,} in which this changed are left out." if collected.groups.changed else ""
    about = Text(f"{weir:,} connections with Weir in charge, {other:,} with {collected.other}.{changed}", "note")
    if not rows:
        return [
            about,
            note("No comparison: it needs connections of both groups. Put Weir in charge of a share of them."),
        ]
    heads: Cells = ["Mean over connections", Cell(collected.other), Cell("Weir"), Cell("Difference", "95 % interval")]
    return [
        about,
        note(
            "The groups are comparable if a hash of the connection’s identifier chose them. With fewer than six "
            "connections in a group there are no intervals; a small difference needs hundreds, since few connections "
            "have most of the freezes."
        ),
        Table(heads, [_group_row(row) for row in rows]),
    ]


def _group_row(one: GroupRow) -> Row:
    low, high = one.interval
    small, kind = "", ""
    if low is not None and high is not None:
        small = f"{_shown(low, '+')} to {_shown(high, '+')}"
        if low > 0 or high < 0:
            kind = "good" if (one.difference > 0) == one.measure.more_is_better else "bad"
    cells: Cells = [_shown(one.other), _shown(one.weir), Cell(_shown(one.difference, "+"), small, kind=kind)]
    return Row([Cell(one.measure.label, kind="text"), *cells])


def _shown(value: float, sign: str = "") -> str:
    return f"{value:{sign},.{0 if abs(value) >= 100 else 2}f}"


def _most_apart(apart: Sequence[tuple[Path, Agreement]]) -> list[Block]:
    heads: Cells = ["Connection", Cell("Length", "s"), *_AGREEMENT_HEADS[2:]]
    rows: list[Row] = []
    charts: list[Chart] = []
    for path, found in apart:
        # A host may have removed or replaced it since it was counted.
        try:
            one = read_observation_log(path)
        except InputError:
            continue
        if not len(one):
            continue
        rows.append(Row([Cell(one.name, path.name, kind="text"), f"{len(one):,}", *_agreement_cells(found)]))
        if len(charts) < _SHOWN_CHARTS:
            charts.append(_chart(one))
    return [Table(heads, rows), Charts(charts, "Connection")] if rows else []


def _chart(one: ObservedConnection) -> Chart:
    times_s = one.numbers["time_s"]
    end_s = max(1.0, float(times_s[-1]) + 1)

    def plain(name: str, key: str, scale: float, unit: str, decimals: int = 0) -> Any:
        return line(name, "", *thinned(times_s, scale * one.numbers[key]), unit=unit, decimals=decimals)

    rows = [
        row(
            "Rate, kbps",
            [
                target_line("target of weir", times_s, one.numbers["weir_bps"], end_s),
                target_line(f"target of {one.other}", times_s, one.numbers["other_bps"], end_s),
                plain("received", "received_bps", 1e-3, "kbps"),
            ],
            share=2.2,
        ),
        row("Queue, ms", [plain("queueing delay", "queueing_delay_ms", 1, "ms", 1)]),
        row("Lost, %", [plain("lost", "loss_ratio", 100, "%", 1)], share=0.8),
        row(
            "In charge",
            [line("in charge", "", *thinned(times_s, one.weir_in_charge.astype(float)), step=True)],
            share=0.5,
            ticks=(one.other, "weir"),
        ),
    ]
    for place, drawn in enumerate(drawn for found in rows if found for drawn in found["lines"]):
        drawn["colour"] = f"--series-{1 + place}"
    return chart(one.name, "", end_s, rows)


def _described(collected: _Collected, rows: Sequence[GroupRow]) -> dict[str, Any]:
    """For scripts: the numbers of the tables."""
    other, weir = collected.groups.sizes
    return {
        "connections": collected.connections,
        "skipped": collected.skipped,
        "unreadable": collected.unreadable,
        "hours": round(collected.seconds / 3600, 4),
        "other": collected.other,
        "conditions": {name: _numbers(one) for name, one in collected.conditions.items()},
        "reasons": {reason: _numbers(one) for reason, one in _reasons(collected)},
        "in_charge": {"weir": weir, "other": other, "changed": collected.groups.changed},
        "comparison": [
            {
                "measure": one.measure.key, "other": round(one.other, 3), "weir": round(one.weir, 3),
                "difference": round(one.difference, 3),
                "ci95": [None if end is None else round(end, 3) for end in one.interval],
                "connections": {"other": one.connections[0], "weir": one.connections[1]},
            }
            for one in rows
        ],
    }  # fmt: skip


def _numbers(one: Agreement) -> dict[str, Any]:
    kbps = {
        key: round(1e-3 * total / one.limited, 1) if one.limited else None
        for key, total in (("other_kbps", one.other_bps), ("weir_kbps", one.weir_bps))
    }
    counts = {"more": one.more, "agree": one.agree, "less": one.less, "below_received": one.below_received}
    return {
        "seconds": one.seconds,
        **{f"{key}_percent": round(_percent(count, one.seconds), 2) for key, count in counts.items()},
        **kbps,
    }
