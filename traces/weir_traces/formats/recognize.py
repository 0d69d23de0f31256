"""The table of formats, in the order in which they are tried: how to recognize and how to read each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json
from weir_traces.formats import ImportedTrace
from weir_traces.formats.byte_log import is_byte_log, read_byte_log
from weir_traces.formats.iperf import (
    is_iperf,
    is_iperf_text,
    is_no_json,
    joined_events,
    read_iperf,
    read_iperf_text,
    without_preface,
)
from weir_traces.formats.mm_link import is_mm_link, read_mm_link
from weir_traces.formats.mmsys import KEYS, is_mmsys, read_mmsys
from weir_traces.formats.nuttcp import is_nuttcp, read_nuttcp
from weir_traces.formats.opennetlab import read_opennetlab
from weir_traces.formats.reading import Reading
from weir_traces.formats.sabre import is_sabre, read_sabre
from weir_traces.formats.tables.columns import read_columns
from weir_traces.formats.tables.header_table import read_header_table
from weir_traces.formats.tables.json_table import json_table, read_json_table
from weir_traces.formats.tables.one_column import has_decimal_commas, is_one_column, read_one_column
from weir_traces.formats.tables.splitting import content_lines, is_header, is_row
from weir_traces.formats.tables.table import Table
from weir_traces.formats.validation import Finding
from weir_traces.schema.scenario import Scenario

_NAN = re.compile(r"(?<=[\s,\[:])NaN(?=[\s,\]}])")


@dataclass(frozen=True)
class Content:
    """The text of a file ``source``, and the user's statements about its rows."""

    text: str
    source: str
    reading: Reading
    window_ms: int

    @cached_property
    def json(self) -> Any:
        """Parsed JSON, None for other texts. Raises InputError for invalid JSON."""
        text = without_preface(self.text)
        begin = text.lstrip()
        # Rows of iperf and stamps of nuttcp begin with a bracket, too.
        if not begin.startswith(("{", "[")) or is_no_json(begin) or is_nuttcp(begin.partition("\n")[0]):
            return None
        if (test := joined_events(text)) is not None:
            return test
        # Sessions of MMSys 2024 contain NaN, which is not valid JSON.
        is_session = any(f'"{key}"' in self.text for key in KEYS)
        return parse_json(_NAN.sub("null", text) if is_session else text, self.source)

    @cached_property
    def lines(self) -> list[str]:
        """The first two lines that are neither empty nor comments; empty for JSON."""
        return [] if self.json is not None else [line for _, line in islice(content_lines(self.text), 2)]

    @property
    def first(self) -> str:
        """The first line that is neither empty nor a comment."""
        return next(iter(self.lines), "")


@dataclass(frozen=True)
class Format:
    """A format: its name, and functions that recognize and read it. ``has_rows``: it reads `Content.reading`."""

    name: str
    recognizes: Callable[[Content], bool]
    read: Callable[[Content], ImportedTrace]
    has_rows: bool = False


FORMATS = (
    Format(
        "opennetlab",
        lambda content: isinstance(content.json, dict) and "uplink" in content.json,
        lambda content: read_opennetlab(content.json, content.source),
    ),
    Format(
        "scenario",
        lambda content: _is_scenario(content.json),
        lambda content: _read_scenario(content.json, content.source),
    ),
    Format(
        "mmsys2024", lambda content: is_mmsys(content.json), lambda content: read_mmsys(content.json, content.source)
    ),
    Format("sabre", lambda content: is_sabre(content.json), lambda content: read_sabre(content.json, content.source)),
    Format("iperf3", lambda content: is_iperf(content.json), lambda content: read_iperf(content.json, content.source)),
    Format(
        "csv",
        lambda content: bool(json_table(content.json)),
        lambda content: read_json_table(json_table(content.json), content.source, content.reading),
        has_rows=True,
    ),
    Format(
        "iperf3",
        lambda content: content.json is None and is_iperf_text(content.text),
        lambda content: read_iperf_text(content.text, content.source),
    ),
    Format(
        "nuttcp",
        lambda content: content.json is None and is_nuttcp(content.text),
        lambda content: read_nuttcp(content.text, content.source),
    ),
    Format(
        "mm-link",
        lambda content: is_mm_link(content.first),
        lambda content: read_mm_link(content.text, content.source, window_ms=content.window_ms),
    ),
    Format(
        "byte log",
        lambda content: is_byte_log(content.first),
        lambda content: read_byte_log(content.text, content.source),
    ),
    # One number per row: times of deliveries, or rates.
    Format(
        "mahimahi",
        lambda content: is_one_column(content.first) or has_decimal_commas(content.text),
        lambda content: read_one_column(content.text, content.source, content.reading, window_ms=content.window_ms),
        has_rows=True,
    ),
    Format(
        "csv",
        lambda content: is_header(content.lines),
        lambda content: read_header_table(Table(content.text, content.source), content.reading),
        has_rows=True,
    ),
    Format(
        "columns",
        lambda content: is_row(content.first),
        lambda content: read_columns(Table(content.text, content.source), content.reading),
        has_rows=True,
    ),
)


def _is_scenario(data: Any) -> bool:
    """True for an object with a scenario's schema or parts."""
    return isinstance(data, dict) and ("schema" in data or bool({"forward", "flows"} & data.keys()))


def _read_scenario(data: Any, source: str) -> ImportedTrace:
    """A scenario from parsed JSON. Raises InputError where it is none."""
    scenario = Scenario.from_dict(data, source)
    capacity = scenario.forward.capacity
    trace = None if capacity is None else capacity.trace()
    findings = []
    if trace is not None and not trace.integrate(0.0, scenario.duration_s) > 0:
        fault = f"the link has no capacity in all of the {scenario.duration_s:g} s"
        findings.append(Finding("all_zero", "error", source, "forward.capacity", fault))
    return ImportedTrace(source, "scenario", trace, findings, scenario=scenario, understood="s and bit/s")


def recognized(content: Content) -> Format:
    """The first format that recognizes the content.

    Raises:
        InputError: no format does; the message describes them.
    """
    for candidate in FORMATS:
        if candidate.recognizes(content):
            return candidate
    if content.json is not None:
        raise InputError(
            f'{content.source}: JSON, but neither a scenario ("schema": "weir.scenario/1") nor an OpenNetLab trace '
            '("uplink": {"trace_pattern": [...]}), a network of Sabre ([{"duration_ms": ..., "bandwidth_kbps": ...}]), '
            'a session of MMSys 2024 ("true_capacity": [...]), a test of iperf3 ("intervals": [...]) or a table '
            '({"time_s": [...], "rate_mbps": [...]}); '
            "convert it to one of these"
        )
    raise InputError(
        f"{content.source}: line 1: neither JSON, nor CSV with a header such as time_s,rate_bps, nor columns of "
        "numbers (seconds and Mbps), nor Mahimahi (milliseconds, one delivery a line); convert it to one of these"
    )
