"""`weir paper muses --teach`: Muses' own experiment, with windows and labels as in the paper, beside its rivals."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import typer

from weir_cli.console import error_console
from weir_cli.errors import InputError
from weir_cli.files.output import make_folder, write_text
from weir_eval.options.shared import model_to_run
from weir_eval.records.command_record import command_record
from weir_eval.runs.jobs import ReplayPlan, SeriesOfPlan
from weir_eval.runs.progress import run_with_progress
from weir_eval.runs.scenario_sets import ScenarioSet
from weir_papers.claims import print_claims
from weir_papers.common import mean_case, with_tcp
from weir_papers.muses.claims import CLAIMS, SHARED_BY, measured
from weir_papers.muses.flow_rows import jain_by_flows
from weir_papers.muses.muses_measures import in_flight_rmse
from weir_papers.muses.muses_runs import MusesResults, muses_results
from weir_papers.muses.sets import (
    CROSS_TRAFFIC,
    FLUCTUATING,
    LTE,
    SHARING,
    STEADY,
    TABLE_III,
    muses_sets,
    sharing_scenario,
)
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_simulator
from weir_train.learning.progress_bar import progress_bar

RESULT: Final = "muses.json"
_MODEL: Final = "weir-send"
# The rivals of the claims: a congestion control of TCP, or a controller of RTP. Several flows of the trees cannot run:
# the shipped model shares the link in their place, and Cubic as in the paper.
_RIVALS: Final = (
    (STEADY, "cubic"),
    (FLUCTUATING, "bbr"),
    (LTE, "gcc"),
    (CROSS_TRAFFIC, "gcc"),
    (SHARING, _MODEL),
    (SHARING, "cubic"),
)
_RTP: Final = ("gcc", _MODEL)
_FEWEST_DECISIONS: Final = 2


def repeat_paper(
    out: Path,
    traces: Path | None,
    *,
    decisions: int,
    flows: int,
    rounds: int,
    kinds: tuple[int, ...] | None,
    tested: int,
    networks: int,
    seeds: Sequence[int],
    jobs: int | None,
    as_json: bool,
) -> None:
    """Teaches, extracts and tests with each seed, runs the rivals, and writes `muses.json`. `kinds` to try are by
    default those of `decision_trees`.

    Raises:
        InputError: too few decisions, or a trace cannot be used.
        typer.Exit: status 1: Ctrl-C, or a run failed.
    """
    from weir_papers.muses.decision_trees import MOST_KINDS
    from weir_papers.muses.teaching import DECISIONS_PER_FLOW, SENDERS, Teaching
    from weir_papers.muses.trials import Size, trial

    started, iteration = time.monotonic(), SENDERS * DECISIONS_PER_FLOW
    if decisions < _FEWEST_DECISIONS * iteration:
        raise InputError(f"--teach {decisions}: at least {_FEWEST_DECISIONS * iteration:,}, two iterations")
    size = Size(Teaching(decisions // iteration), flows, rounds, kinds or tuple(range(2, MOST_KINDS + 1)), tested)
    make_folder(out)
    sets, simulator = muses_sets(traces, networks), find_simulator()
    scenarios = {name: some.scenarios for name, some in sets.items()}
    trials = []
    try:
        with progress_bar(decisions) as show:
            for seed in seeds:

                def on_progress(stage: str, done: int, title: str = f"seed {seed}") -> None:
                    show(f"{title}: {stage}", done, "")

                found = trial(seed, size, scenarios, out / "trials", simulator=simulator, on_progress=on_progress)
                trials.append(found)
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; complete seeds are kept: the same command continues", err=True)
        raise typer.Exit(1) from None
    plans = _plans(sets, seeds, simulator)
    outcome = run_with_progress(list(plans.values()), out, jobs, error_console(), quiet=as_json)
    document = {
        "schema": "weir.muses-paper/1",
        "run": command_record(started) | {"failures": [failure.describe() for failure in outcome.failures]},
        "size": asdict(size) | {"networks": networks},
        "rivals": rivals_of(muses_results(sets, plans, outcome, out)),
        "trials": trials,
    }
    write_text(out / RESULT, json.dumps(document, indent=1, allow_nan=False) + "\n")
    if as_json:
        typer.echo(json.dumps(document))
    else:
        print_claims(CLAIMS, measured(document))
        typer.echo(f"\nDetails: {out / RESULT}")
    if outcome.failures:
        raise typer.Exit(1)


def rivals_of(results: MusesResults) -> dict[str, Any]:
    """By set and rival the mean case; the error of BBR's data in flight; the rate of GCC beside cross traffic, bps;
    Jain's index by number of flows and by who shares the link.
    """
    found: dict[str, Any] = {
        set_name: {rival: asdict(mean_case(cases))}
        for set_name, rival in _RIVALS
        if set_name in TABLE_III
        if (cases := results.cases(set_name).get(rival))
    }
    found["in_flight"] = {"bbr": in_flight_rmse(results.whole(FLUCTUATING, "bbr"))}
    rates = [record.measures["receive_rate_bps"] for record in results.of(CROSS_TRAFFIC, "gcc")]
    known = [rate for rate in rates if rate is not None]
    found["cross"] = {"gcc": sum(known) / len(known) if known else None}
    found["jain"] = {str(flows): by_rival for flows, by_rival in jain_by_flows(results).items() if by_rival}
    return found


def _plans(sets: Mapping[str, ScenarioSet], seeds: Sequence[int], simulator: Path) -> dict[tuple[str, str], ReplayPlan]:
    plans = {}
    for set_name, rival in _RIVALS:
        scenarios = sets[set_name].scenarios
        if not scenarios:
            continue
        if set_name == SHARING:
            scenarios = [sharing_scenario(flows) for flows in SHARED_BY]
        if rival not in _RTP:
            scenarios = [with_tcp(scenario, rival) for scenario in scenarios]
        # Networks of Table III are drawn as they are, and need no seeds that vary them.
        varied = (0,) if set_name in TABLE_III else seeds
        # The controller of RTP flows, of which there are none with TCP.
        controller = rival if rival in _RTP else "rule"
        series: SeriesOfPlan = "kept" if set_name in (FLUCTUATING, SHARING) else "measured"
        model = model_to_run(None) if rival == _MODEL else None
        plans[set_name, rival] = ReplayPlan(
            scenarios, (controller,), PRESETS["balanced"], varied, model, simulator, series
        )
    return plans
