"""The verdict on a dump: a likely cause and a sentence for each freeze."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from weir_cli.console import counted
from weir_eval.webrtc_stats import StatsReports
from weir_logs.dumps.causes import CAUSES, likely_cause
from weir_logs.dumps.dump import DumpedConnection
from weir_logs.dumps.freeze import DumpFreeze
from weir_logs.dumps.freeze_facts import FreezeFacts, seconds_text
from weir_logs.dumps.freezes import counter_of, earlier_freezes, find_dump_freezes, incoming_video
from weir_logs.dumps.stream_names import stream_names

MOST_EXPLAINED = 100
"""The largest number of explained freezes of a dump, the longest ones."""

_ABOUT_S = 1.5


@dataclass(frozen=True)
class ExplainedFreeze:
    """A freeze, its stream's name, its likely cause (a key of CAUSES) and its sentence.

    `is_stop`: it is not a freeze of video that was sent to this browser: the video is outgoing, or was not sent.
    """

    freeze: DumpFreeze
    stream: str
    cause: str
    sentence: str
    is_stop: bool


@dataclass(frozen=True)
class ConnectionVerdict:
    """The freezes of one connection in the order of time; `more`: the number of unexplained freezes."""

    connection: DumpedConnection
    explained: Sequence[ExplainedFreeze]
    more: int

    @property
    def first_s(self) -> float:
        """Start of the first freeze, s since 1970; infinite without one."""
        return min(
            (explained.freeze.start_s for explained in self.explained if not explained.is_stop), default=math.inf
        )


def find_verdicts(connections: Sequence[DumpedConnection]) -> list[ConnectionVerdict]:
    """The verdicts of all connections; the connection that froze first comes first."""
    all_reports = [connection.reports for connection in connections]
    of_all = [find_dump_freezes(reports) for reports in all_reports]
    longest = sorted((freeze.duration_s for freezes, _ in of_all for freeze in freezes), reverse=True)
    least_s = longest[MOST_EXPLAINED - 1] if len(longest) > MOST_EXPLAINED else 0.0
    left = MOST_EXPLAINED
    verdicts = []
    for connection, (freezes, more) in zip(connections, of_all, strict=True):
        chosen = [freeze for freeze in freezes if freeze.duration_s >= least_s][:left]
        left -= len(chosen)
        more += sum(freeze.count for freeze in freezes) - sum(freeze.count for freeze in chosen)
        verdicts.append(ConnectionVerdict(connection, _explained(chosen, connection.reports, all_reports), more))
    return sorted(verdicts, key=lambda verdict: verdict.first_s)


def summary_text(verdicts: Sequence[ConnectionVerdict]) -> str:
    """The number of freezes, their total time, the connection that froze first, and the causes."""
    froze = [explained for verdict in verdicts for explained in verdict.explained if not explained.is_stop]
    objects = [stats for verdict in verdicts for stats in verdict.connection.reports.objects.values()]
    if all(len(times) < 2 for stats in objects for times, _ in stats.numbers.values()):
        return "One report only: when video froze is not in it. Record several; of Firefox copy the report history."
    if not froze:
        video = any(incoming_video(verdict.connection.reports) for verdict in verdicts)
        return "No freeze of incoming video." if video else "No incoming video in it."
    number = counted(
        sum(explained.freeze.count for explained in froze) + sum(verdict.more for verdict in verdicts), "freeze"
    )
    first = verdicts[0]
    at_s = first.first_s - time_span_s(first.connection.reports)[0]
    first_text = f"; {first.connection.id} froze first, {at_s:,.1f} s after its start" if len(verdicts) > 1 else ""
    cause_text = _causes_text(froze)
    total = seconds_text(sum(explained.freeze.duration_s for explained in froze))
    return f"{number} of incoming video, {total} in all{first_text}. {cause_text}."


def _causes_text(froze: Sequence[ExplainedFreeze]) -> str:
    """The cause of all, or of how many each is the cause, the most frequent first."""
    causes: Counter[str] = Counter()
    for explained in froze:
        causes[explained.cause] += explained.freeze.count
    if len(causes) > 1:
        return "; ".join(f"{number} of {causes.total()} {CAUSES[cause]}" for cause, number in causes.most_common())
    (cause,) = causes
    return CAUSES[cause][:1].upper() + CAUSES[cause][1:]


def earlier_texts(verdict: ConnectionVerdict) -> list[str]:
    """A sentence for each stream with freezes before the first report."""
    reports = verdict.connection.reports
    names = stream_names(reports)
    found = []
    for stream in incoming_video(reports):
        number, duration_s = earlier_freezes(counter_of(reports, stream))
        if number:
            length = f", {seconds_text(duration_s)} in all" if duration_s else ""
            found.append(
                f"{verdict.connection.id}, {names[stream.id]}: {counted(number, 'freeze')}{length} before the first "
                "report; when is not in the dump."
            )
    return found


def _explained(
    freezes: Sequence[DumpFreeze], reports: StatsReports, all_reports: Sequence[StatsReports]
) -> list[ExplainedFreeze]:
    names, zero_s = stream_names(reports), time_span_s(reports)[0]
    found = []
    for freeze in freezes:
        facts = FreezeFacts(freeze, reports, all_reports)
        name = "outgoing video" if freeze.is_outgoing else names[freeze.stream.id]
        cause = likely_cause(facts)
        sentence = _sentence(freeze, name, facts, cause, zero_s)
        found.append(ExplainedFreeze(freeze, name, cause, sentence, _is_stop(freeze, cause)))
    return found


def time_span_s(reports: StatsReports) -> tuple[float, float]:
    """First and last time of any number, in seconds."""
    times = [
        found for o in reports.objects.values() for times, _ in o.numbers.values() for found in (times[0], times[-1])
    ]
    return (min(times), max(times)) if times else (0.0, 0.0)


def _sentence(freeze: DumpFreeze, name: str, facts: FreezeFacts, cause: str, zero_s: float) -> str:
    about = "about " if freeze.error_s > _ABOUT_S else ""
    time_text = f"At {about}{freeze.start_s - zero_s:,.1f} s ({_clock(freeze.start_s)} UTC)"
    if freeze.count > 1:
        how_long = f"{freeze.count} times, {seconds_text(freeze.duration_s)} in all"
    else:
        how_long = f"for {seconds_text(freeze.duration_s)}" if freeze.duration_s else "for an unknown time"
    verb = "fell" if freeze.is_drop else "stopped" if _is_stop(freeze, cause) else "froze"
    end = ", to the end of the dump" if freeze.is_open else ""
    return f"{time_text} {name} {verb} {how_long}{end}: {', '.join(facts.texts(cause))}; {CAUSES[cause]}."


def _is_stop(freeze: DumpFreeze, cause: str) -> bool:
    return freeze.is_outgoing or cause in ("sender stopped", "ended")


def _clock(time_s: float) -> str:
    try:
        return datetime.fromtimestamp(time_s, UTC).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "?"
