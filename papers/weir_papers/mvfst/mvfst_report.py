"""`mvfst.md`: the goals, means over emulators with intervals, and every emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from weir_eval.measures.statistics import bootstrap_interval
from weir_eval.report.goal_table import GoalRow, details_markdown, reached_text, rows_markdown
from weir_eval.report.text import markdown_table
from weir_papers.common import Case, mean_case
from weir_papers.mvfst.mvfst_runs import CURVE_PARTS, EMULATORS, LSTM, POLICER, RANDOM, TRAINED_ON, Cases
from weir_papers.mvfst.rows import shares_of_oracle

AGENTS: Final = {LSTM: "agent", RANDOM: "random actions"}


def mvfst_markdown(
    rows: Sequence[GoalRow], cases: Cases, run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]
) -> str:
    """The page. `trials`: results of `mvfst.trials`, of all variants and seeds."""
    emulators = {name: cases[name] for name in EMULATORS if name in cases}
    controllers = list(
        dict.fromkeys(controller for by_controller in emulators.values() for controller in by_controller)
    )
    means = [
        [
            controller,
            _mean(list(shares_of_oracle(cases, controller).values()), 2),
            _mean(_values(emulators, controller, lambda case: case.p95_queueing_delay_ms), 0),
            _mean(_values(emulators, controller, lambda case: 100 * case.loss_ratio), 1),
        ]
        for controller in controllers
    ]
    each = [
        [
            name,
            *(_shown(by_controller[controller]) if controller in by_controller else "" for controller in controllers),
        ]
        for name, by_controller in emulators.items()
    ]
    return "\n".join(
        [
            "# MVFST-RL's measurements in Weir's simulator\n",
            f"{run['runs']} runs, seeds 1 to {run['seeds'][-1]}, model {run['model'].get('name', '')}; "
            f"{run['finished']}. {reached_text(rows)}\n",
            "One flow alone for 30 s (Figure 1: 60 s), filler media, or TCP. Values are means over seeds.\n",
            rows_markdown(rows),
            details_markdown(rows),
            *_agent_markdown(cases, trials),
            "## All emulators\n",
            "Means and 95 % intervals over emulators.\n",
            markdown_table(["", "Throughput to the oracle's", "p95 queueing delay, ms", "Loss, %"], means),
            "## Each emulator\n",
            "Utilisation, p95 queueing delay, loss.\n",
            markdown_table(["", *controllers], each),
        ]
    )


def _agent_markdown(cases: Cases, trials: Sequence[Mapping[str, Any]]) -> list[str]:
    """Figure 3: the agent and random actions beside all controllers (a, b), and the reward while training (c to e)."""
    if not trials:
        return []
    names = (*TRAINED_ON, POLICER)
    compared: dict[str, dict[str, list[Case]]] = {}
    for trial in trials:
        for emulator, by_controller in trial.get("cases", {}).items():
            for controller, case in by_controller.items():
                compared.setdefault(AGENTS[controller], {}).setdefault(emulator, []).append(Case(**case))
    for controller in cases.get(POLICER, {}):
        if all(controller in cases.get(name, {}) for name in names):
            compared[controller] = {name: [cases[name][controller]] for name in names}
    reached = [
        [
            controller,
            *(
                _shown(mean_case([case for name in some for case in by_controller[name]]))
                for some in (TRAINED_ON, (POLICER,))
            ),
        ]
        for controller, by_controller in compared.items()
    ]
    variants: dict[str, list[list[float | None]]] = {}
    for trial in trials:
        # Folders of earlier versions have none.
        variants.setdefault(trial["variant"], []).append(trial.get("curve", [None] * CURVE_PARTS))
    curves = [
        [name, *(_mean_of_seeds(tenth) for tenth in zip(*curves_by_seed, strict=True))]
        for name, curves_by_seed in variants.items()
    ]
    tenths = [f"{100 * part // CURVE_PARTS}" for part in range(1, 1 + CURVE_PARTS)]
    return [
        "## The paper's agent\n",
        "Utilisation, p95 queueing delay and loss, means over emulators and seeds. Percentiles of agents are over "
        "intervals, those of controllers over packets.\n",
        markdown_table(["", "the six emulators that it learns on", "the policer, unseen"], reached),
        "Reward while training, mean over emulators and seeds; columns: % of the steps.\n",
        markdown_table(["", *tenths], curves),
    ]


def _mean_of_seeds(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if known else ""


def _values(emulators: Cases, controller: str, measure: Callable[[Case], float]) -> list[float]:
    return [measure(by_controller[controller]) for by_controller in emulators.values() if controller in by_controller]


def _mean(values: Sequence[float], decimals: int) -> str:
    low, high = bootstrap_interval(np.array(values))
    interval = "" if low is None else f" [{low:.{decimals}f}, {high:.{decimals}f}]"
    return f"{np.mean(values):.{decimals}f}{interval}" if values else ""


def _shown(case: Case) -> str:
    return f"{100 * case.utilisation:.1f} %, {case.p95_queueing_delay_ms:.0f} ms, {100 * case.loss_ratio:.1f} %"
