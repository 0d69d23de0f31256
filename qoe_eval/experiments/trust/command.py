"""`weir experiment trust`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from weir.executables import find_simulator
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import (
    FullOption,
    HealthyModelOption,
    RandomScenariosOption,
    SeedsOption,
    TracesOption,
)
from weir.qoe_eval.experiments.policy.sets import TRACE_SETS, policy_sets
from weir.qoe_eval.experiments.replay_record import replay_record
from weir.qoe_eval.experiments.trust.broken_models import write_broken_models
from weir.qoe_eval.experiments.trust.experiment import (
    TrustResults,
    in_groups,
    peers_of,
    pool_lines,
    trust_plans,
    trust_sets,
)
from weir.qoe_eval.experiments.trust.report import trust_document, trust_markdown
from weir.qoe_eval.experiments.trust.rows import TRAINED_60S, trust_rows
from weir.qoe_eval.experiments.trust.seats import leaving_rows, objective_rows, sharing_rows
from weir.qoe_eval.experiments.trust.variants import VARIANTS
from weir.qoe_eval.experiments.trust.worth import worth_rows
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.runs.inputs import shared_model, shared_traces
from weir.qoe_eval.runs.options import JobsOption, check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run
from weir.qoe_eval.runs.store import RunStore

TRUST_JSON = "trust.json"
TRUST_MARKDOWN = "trust.md"
MODELS = "models"
PEER = "mmsys24_baseline.onnx"


def trust(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where trust.json, trust.md, results.jsonl and models go.")],
    model: HealthyModelOption = None,
    trained_60s: Annotated[
        Path | None, typer.Option("--trained-60s", metavar="FILE", help="A model that was trained for 60 s only.")
    ] = None,
    peer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"A model from elsewhere. Default: models/{PEER} in what WEIR_SHARED names."),
    ] = None,
    traces: TracesOption = None,
    scenarios: RandomScenariosOption = 200,
    full: FullOption = False,
    seeds: SeedsOption = 1,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print trust.json, and no progress.")] = False,
) -> None:
    """Measures pools: models broken on purpose in the pilot's seat, what each part is worth, and whether one ships.

    An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    check_model(trained_60s, "--trained-60s")
    check_model(peer, "--peer")
    healthy = model_to_run(model)
    broken = write_broken_models(out / MODELS, healthy)
    if trained_60s:
        broken[TRAINED_60S] = trained_60s.absolute()
    known = policy_sets(traces or shared_traces(*TRACE_SETS), scenarios)
    peers = peers_of(peer or shared_model(PEER))
    groups = trust_plans(
        trust_sets(known, full=full),
        known["rfc8867"].scenarios,
        broken,
        peers,
        range(1, seeds + 1),
        healthy,
        find_simulator(),
    )
    plans = [plan for some in groups.values() for plan in some.values()]
    console = error_console()
    outcome = run_with_progress(plans, out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    records = in_groups(groups, outcome.by_plan)
    results = TrustResults(pool_lines(broken), records["sets"])
    by_variant = {
        name: TrustResults(pool_lines(broken, others), records["ablations"]) for name, others in VARIANTS.items()
    }
    rows = [
        *trust_rows(results),
        *leaving_rows(results),
        *worth_rows(results),
        *sharing_rows(results, [RunStore(out).with_series(one) for one in records["sharing"]["rfc8867"]]),
        *objective_rows(records["objectives"]),
    ]
    run = replay_record(started, plans[0], outcome, failures)
    document = trust_document(results, by_variant, list(peers), rows, run)
    end_experiment(
        document,
        out / TRUST_JSON,
        {out / TRUST_MARKDOWN: trust_markdown(document, rows)},
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )
