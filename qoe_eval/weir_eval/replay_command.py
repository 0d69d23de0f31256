"""The command `weir replay`: checks its options; `replay.py` implements it."""

from __future__ import annotations

import time

from weir_cli.options import loading, with_options
from weir_eval.options.replay import ReplayOptions
from weir_eval.options.shared import check_controllers, check_model
from weir_sim.controllers import COMPARED
from weir_sim.executables import find_stack
from weir_sim.objectives import parse_objective

MOST_USED = {
    "inputs": "Traces, scenario files, or catalogue for the bundled scenarios.",
    "controller": f"Such as weir, gcc or FILE.py:CLASS; repeatable. Default: {', '.join(COMPARED)}.",
    "duration": "Length of a run.",
    "seeds": f"Runs of each scenario, each with its own start and delay. Default: {ReplayOptions.seeds}.",
    "out": f"Where report.html goes. Default: {ReplayOptions.out}.",
}
"""The options that `--help` shows, with shorter texts."""


@with_options(ReplayOptions)
def replay(options: ReplayOptions) -> None:
    """Replay traces or scenarios under rate controllers; writes results.jsonl, summary.json, series/ and report.html.

    Running the same command again continues an interrupted replay.
    """
    started = time.monotonic()
    controllers = check_controllers(options.controller or [], options.controller_time_limit)
    parse_objective(options.objective)
    check_model(options.model)
    options.call_media()
    options.check_files(options.inputs)
    find_stack(options.stack)
    with loading():
        from weir_eval.replay import run_replay

    run_replay(options, *controllers, started)
