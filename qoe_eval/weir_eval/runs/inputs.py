"""Reads the inputs of a command as scenarios: files of any trace format, scenario files, the bundled catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from weir import parse_pool
from weir_cli.errors import InputError, unknown
from weir_cli.files.input import printable
from weir_eval.runs.near_copies import path_of
from weir_sim.controllers import SIMULATED, is_pool
from weir_traces.bounds import DEFAULT_WINDOW_MS, MediaKind
from weir_traces.catalogue import PUBLISHED, bundled_scenarios, load_bundled
from weir_traces.formats import ImportedTrace
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.reading import AS_WRITTEN, Reading
from weir_traces.listing import CATALOGUE
from weir_traces.schema.flows import RtpFlow
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Queue, Scenario


@dataclass(frozen=True)
class PathOptions:
    """Path options of the command line; None: the file's value, or the default if it has none.

    `one_way_delay_ms` is for both directions, `loss_ratio` (independent losses, 0 to 1) and `queue` for the forward
    link; `reverse` is a trace for the reverse link. `reading` states how to read the rows of files.
    """

    one_way_delay_ms: float | None = None
    queue: Queue | None = None
    loss_ratio: float | None = None
    duration_s: float | None = None
    reverse: ImportedTrace | None = None
    reading: Reading = AS_WRITTEN


def read_inputs(
    names: Iterable[str],
    options: PathOptions,
    repair: bool = False,
    on_trace: Callable[[ImportedTrace], None] = lambda trace: None,
    window_ms: int = DEFAULT_WINDOW_MS,
    media: MediaKind | None = None,
    max_bitrate_bps: float | None = None,
) -> list[Scenario]:
    """The scenarios of all inputs, in their order.

    Args:
        names: files; `catalogue` for all bundled scenarios, `catalogue/rfc8867` for the RFC 8867 cases,
            `catalogue/calls` for those of published calls, `catalogue/pantheon` for Pantheon's emulators,
            `catalogue/NAME` for one.
        options: applied to each.
        repair: accept traces with faults that can be repaired.
        on_trace: called with each input as read, including its findings.
        window_ms: averaging window for Mahimahi files, ms.
        media: media of the flows under test. None: the scenario's own, or video for plain traces.
        max_bitrate_bps: limit of these media. None: the scenario's own.

    Raises:
        InputError: a file or name is not usable, or two inputs have the same name or the same path.
    """
    path_values = {key: value for key, value in vars(options).items() if key != "reading"}
    found: dict[str, tuple[str, Scenario]] = {}
    paths: dict[str, str] = {}
    for name in names:
        for imported in read_input(name, repair, window_ms, options.reading):
            on_trace(imported)
            scenario = checked_controllers(name, to_scenario(imported, **path_values))
            if media:
                scenario = with_media(scenario, media, max_bitrate_bps)
            if scenario.name in found:
                raise InputError(
                    f"{printable(name)}: its scenario is called {scenario.name!r}, and so is that of "
                    f"{found[scenario.name][0]}; "
                    "results are told apart by this name: rename one, or replay them apart"
                )
            path = json.dumps(path_of(scenario))
            if path in paths:
                raise InputError(
                    f"{printable(name)}: is the same path as {paths[path]}, under another name; a path counts once: "
                    "give it once"
                )
            found[scenario.name], paths[path] = (printable(name), scenario), printable(name)
    return [scenario for _, scenario in found.values()]


def assumed_values(trace: ImportedTrace, options: PathOptions) -> list[str]:
    """The values that neither a trace nor the options have, with their defaults; none for a scenario."""
    if trace.scenario is not None:
        return []
    delay = options.one_way_delay_ms is None and trace.one_way_delay_ms is None
    return [
        *(["one-way delay 25 ms"] if delay else []),
        *(["queue 300 ms of the mean capacity"] if options.queue is None else []),
        *(["no random loss"] if options.loss_ratio is None and trace.loss_ratio is None else []),
        "rates from 300 kbps at the start",
    ]


def checked_controllers(source: str, scenario: Scenario) -> Scenario:
    """Returns the scenario, whose schema does not know the names of controllers.

    Raises:
        InputError: a flow has an unknown controller or a wrong pool; the message has `source`.
    """
    for flow in scenario.flows:
        if not isinstance(flow, RtpFlow) or flow.controller in ("under_test", *SIMULATED):
            continue
        where = f"{printable(source)}: flow {flow.id!r}: controller {printable(flow.controller)!r}"
        if not is_pool(flow.controller):
            raise InputError(f"{where}: not known; {unknown(flow.controller, ('under_test', *SIMULATED))}")
        try:
            parse_pool(flow.controller)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
    return scenario


def read_input(
    name: str, repair: bool = False, window_ms: int = DEFAULT_WINDOW_MS, reading: Reading = AS_WRITTEN
) -> list[ImportedTrace]:
    """One input as read; see `read_inputs`."""
    first, _, rest = name.partition("/")
    if first != CATALOGUE or Path(name).is_file():
        return [read_trace(name, repair=repair, window_ms=window_ms, reading=reading)]
    if rest in PUBLISHED:
        scenarios = PUBLISHED[rest]()
    else:
        scenarios = [load_bundled(rest.removesuffix(".json"))] if rest else bundled_scenarios()
    # Once, not for each scenario.
    unused = {scenarios[0].name: reading.without_effect(name, "a bundled scenario")}
    return [
        ImportedTrace(scenario.name, "scenario", None, unused.get(scenario.name, []), scenario=scenario)
        for scenario in scenarios
    ]
