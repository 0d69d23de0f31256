"""`weir whatif --closed-loop`: virtual calls under several controllers on a path estimated from a log; their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir_cli.console import error_console
from weir_cli.files.output import begin_page, write_text
from weir_eval.measures.table import MEASURES
from weir_eval.records.run_record import RunRecord
from weir_eval.report.page_blocks import Section, Text, note
from weir_eval.report.page_table import Cell, Cells, Row, Table
from weir_eval.report.page_template import render_page
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.progress import end_with_failures, run_with_progress
from weir_logs.event_logs.event_log_charts import log_over_time
from weir_logs.event_logs.path_estimate import PathEstimate
from weir_logs.event_logs.whatif import Recording
from weir_traces.schema.scenario import Scenario

CONTROLLERS = ("weir", "gcc", "scream")
"""The default controllers."""
SCENARIO = "path.json"
_CALLS = "calls"
_COMPARED = {"receive_rate_bps": "rate", "network_delay_ms_p95": "p95 delay"}
_SHOWN = ("receive_rate_bps", "network_delay_ms_p95", "frozen_share", "freeze_count")


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of predicted calls under weir on `paths` known paths: shares of these, 0 to 1, on which the rate is
    within 15 % and the p95 network delay within 25 %.
    """

    paths: int
    rate_within: float
    delay_within: float


DEVELOPED, HELD_OUT = Accuracy(54, 0.87, 0.85), Accuracy(64, 0.53, 0.77)
"""Results for the sets of `path_accuracy`, which measures them; docs/results/whatif.json has the values."""
WARNING = (
    "The path is an estimate. On known paths, predictions of the call under weir were within 15 % of the true rate on "
    f"{100 * DEVELOPED.rate_within:.0f} % of {DEVELOPED.paths} paths, and on {100 * HELD_OUT.rate_within:.0f} % of "
    f"{HELD_OUT.paths} harder, held-out ones; within 25 % of the true p95 network delay on "
    f"{100 * DEVELOPED.delay_within:.0f} % and {100 * HELD_OUT.delay_within:.0f} %."
)


def call_plan(
    paths: Sequence[Scenario],
    controllers: Sequence[str],
    objective: tuple[float, float, float],
    model: Path | None,
    program: Path,
    seed: int = 1,
) -> ReplayPlan:
    """A virtual call on each path, without variation, under each controller. `program`: weir-virtual-call."""
    return ReplayPlan(
        paths, controllers, objective, [seed], model, program, "measured",
        call=CallMedia(Encoder.FAKE), path_seed=0,
    )  # fmt: skip


def run_closed_loop(plan: ReplayPlan, out: Path, *, quiet: bool) -> list[RunRecord]:
    """Makes the calls of a plan that are not yet in a folder below `out`.

    Raises:
        InputError: the folder cannot be used, or the program refused a call.
        MissingComponent: weir-virtual-call does not work.
        typer.Exit: interrupted, or a call failed.
    """
    console = error_console()
    outcome = run_with_progress([plan], out / _CALLS, None, console, quiet=quiet)
    end_with_failures([failure.describe() for failure in outcome.failures], console)
    return outcome.records


def write_closed_loop(
    recording: Recording, estimate: PathEstimate, records: Sequence[RunRecord], out: Path
) -> tuple[dict[str, Any], Path]:
    """Writes the scenario and `report.html` to a folder, which is created if needed; returns the numbers of the table
    and the path of the page.

    Raises:
        InputError: a file cannot be written.
    """
    page = begin_page(out)
    estimate.scenario.save(out / SCENARIO)
    logged = {
        "receive_rate_bps": estimate.receive_rate_bps, "network_delay_ms_p95": estimate.network_delay_ms_p95
    }  # fmt: skip
    found: dict[str, dict[str, Any]] = {
        "logged": logged,
        **{record.controller: {key: record.measures.get(key) for key in _SHOWN} for record in records},
    }
    heads: Cells = ["Controller", *(Cell(MEASURES[key].label, MEASURES[key].unit) for key in _SHOWN)]
    table = Table(heads, [_row(name, values) for name, values in found.items()])
    about = note(
        f"**{WARNING}** Its capacity is measured in the {estimate.filled_share:.0%} of the time in which packets "
        "waited for the link, and is bounded from below elsewhere; other traffic counts as less capacity. The lead "
        f"has the error on this path. `{SCENARIO}` beside this page is the path as a scenario, for `weir replay "
        "--stack libwebrtc`."
    )
    sections = [
        Section("calls", "Virtual calls on the estimated path", [about, table]),
        log_over_time("The log over time", recording.log, recording.name),
    ]
    error = error_text(found, "scream" if len(recording.log.of("scream", "bitrate_bps")[0]) else "gcc")
    lead = [
        Text(error, "verdict"),
        Text(f"{'; '.join(_sentence(*row) for row in found.items())}.", "verdict"),
        *recording.lead(),
    ]
    write_text(page, render_page("Weir: what if", lead, sections))
    described = {
        "file": recording.name,
        "scenario": str(out / SCENARIO),
        "warning": WARNING,
        "error": error,
        "filled_share": round(estimate.filled_share, 3),
        "controllers": [{"controller": name, **values} for name, values in found.items()],
    }
    return described, page


def closed_loop_text(described: dict[str, Any], page: Path) -> str:
    """The numbers as lines for the terminal, after their error on this path."""
    lines = [_sentence(values["controller"], values) for values in described["controllers"]]
    warning = f"Warning: {described['warning']}"
    return "\n".join([described["error"], *lines, warning, described["scenario"], str(page)])


def error_text(found: Mapping[str, Mapping[str, float | None]], controller: str) -> str:
    """How far the call of the logged controller is from the log, and the differences between controllers that are
    within that; or why this is unknown.
    """
    if controller not in found:
        return f"Error on this path: unknown, because {controller}, whose log it is, did not run; add it."
    errors, within = [], []
    for key, name in _COMPARED.items():
        logged, again = found["logged"].get(key), found[controller].get(key)
        if not logged or not again:
            continue
        error = again / logged - 1
        errors.append(f"{name} {error:+.0%}".replace("-", "−").replace("%", " %"))
        for other, values in found.items():
            value = values.get(key)
            if other not in ("logged", controller) and value is not None and abs(value / again - 1) <= abs(error):
                within.append(f"the difference in {name} of {other} and {controller}")
    if not errors:
        return "Error on this path: unknown, because the log has no rate and no delay."
    text = f"Error on this path ({controller} again, against its log): {', '.join(errors)}."
    return f"{text} Within it: {', '.join(within)}." if within else text


def _sentence(name: str, values: dict[str, Any]) -> str:
    shown = [
        f"{MEASURES[key].label.lower()} {text} {MEASURES[key].unit}"
        for key in _SHOWN
        if (text := _text(values, key)) != "–"
    ]
    return f"{name}: {', '.join(shown)}"


def _row(name: str, values: dict[str, Any]) -> Row:
    return Row([Cell(name, kind="text"), *(_text(values, key) for key in _SHOWN)])


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    return "–" if value is None else MEASURES[key].display(value)
