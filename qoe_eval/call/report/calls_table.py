"""The section of the single calls: measures, recording, and why a call is left out of the means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from weir.qoe_eval.call.logs import file_names as call_logs
from weir.qoe_eval.call.report.summary import Call
from weir.qoe_eval.measures.summary import REFERENCE, ordered_controllers
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.report.page_template import Section

_OF_A_CALL = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "freeze_count", "end_to_end_delay_ms_p95",
    "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip
_LONGEST_REASON = 300


def calls_table(calls: Sequence[tuple[Call, Path]], out: Path) -> Section:
    """Every call with its folder, in the order of cases, seeds and controllers; links lead from `out`."""
    rows = []
    for call, folder in _in_order(calls):
        measures = call.record.measures
        rows.append(
            {
                "case": call.case,
                "controller": call.controller,
                "is_reference": call.controller == REFERENCE,
                "seed": call.record.seed,
                "measures": [MEASURES[name].display(measures.get(name)) for name in _OF_A_CALL],
                "links": _links(folder, out),
                "why_left_out": "; ".join(reason[:_LONGEST_REASON] for reason in call.why_left_out),
            }
        )
    view = {"metrics": [MEASURES[name] for name in _OF_A_CALL], "rows": rows}
    return Section("calls", "Calls", "call/calls", view)


def _in_order(calls: Sequence[tuple[Call, Path]]) -> list[tuple[Call, Path]]:
    controllers = ordered_controllers(call.controller for call, _ in calls)
    cases = list(dict.fromkeys(call.case for call, _ in calls))

    def place(one: tuple[Call, Path]) -> tuple[int, int, int]:
        return cases.index(one[0].case), one[0].record.seed, controllers.index(one[0].controller)

    return sorted(calls, key=place)


def _links(folder: Path, out: Path) -> list[tuple[str, str]]:
    """Where its recording and its record are, and what the links are called."""
    return [
        (quote(Path(os.path.relpath(folder / name, out)).as_posix()), label)
        for name, label in ((call_logs.RECORDING, "recording"), (call_logs.RECORD, "record"))
        if (folder / name).is_file()
    ]
