"""What became of a call whose pilot's model broke: from its logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.qoe_eval.call import logs
from weir.qoe_eval.call.logs import read_pool_states
from weir.qoe_eval.experiments.pool_calls.experiment import BROKEN_AT_S
from weir.qoe_eval.json_lines import number
from weir.qoe_eval.link.log import read_link_log


@dataclass(frozen=True)
class AfterBreak:
    """From BROKEN_AT_S to the end. `network_delay_ms_p95`: as of calls, nothing where no packet came. `seat_lost_s`:
    how long the broken model kept the seat; nothing where it kept it to the end, or had none.
    """

    network_delay_ms_p95: float | None
    seat_lost_s: float | None


def after_break(record: Mapping[str, Any], folder: Path) -> AfterBreak:
    """Of a call with or without a pool.

    Raises:
        InputError: a log cannot be read.
    """
    call = record["call"]
    broken_us = (number(call.get("started_us")) or 0.0) + 1e6 * BROKEN_AT_S
    end_us = number(call.get("ended_us")) or broken_us
    link = read_link_log(folder / logs.LINK_LOG, "forward").between(round(broken_us), round(end_us))
    seats = read_pool_states(folder / logs.ESTIMATES)
    lost_us = next((now.time_us for now in seats if now.time_us >= broken_us and now.active != "weir"), None)
    return AfterBreak(link.one_way_delay_percentile_ms(95), None if lost_us is None else (lost_us - broken_us) / 1e6)
