"""The rows of `weir paper mvfst`: Figure 1, the emulators that the paper's policy learned on, the policer, all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import Case, goal_row
from weir_papers.mvfst.mvfst_runs import (
    BLOCKED_MS,
    EMULATORS,
    NO_RIVALS,
    ORACLE,
    OWN,
    POLICER,
    SENDER,
    TRAINED_ON,
    Cases,
    blocked_name,
)

PAPERS_LOST = {25: 0.011, 50: 0.114}
# Delays that differ by less are equal: no flow notices.
EQUAL_DELAY_MS = 1.0


def mvfst_rows(cases: Cases) -> list[GoalRow]:
    """The rows of the table: blocked sender, front, policer, collapse."""
    return [*_blocked_rows(cases), _front_row(cases), *_policer_rows(cases), _collapse_row(cases)]


def shares_of_oracle(cases: Cases, controller: str) -> dict[str, float]:
    """Received bytes of a controller as a share of the oracle's, by emulator."""
    pairs = {
        name: (by_controller.get(controller), by_controller.get(ORACLE))
        for name, by_controller in cases.items()
        if name in EMULATORS
    }
    return {name: own.utilisation / oracle.utilisation for name, (own, oracle) in pairs.items() if own and oracle}


def ahead(by_controller: Mapping[str, Case], more_delay_ms: float = EQUAL_DELAY_MS) -> list[str]:
    """The rivals with more throughput than Weir and not so much more p95 delay, on one emulator."""
    own = by_controller[OWN]
    return [
        controller
        for controller, other in by_controller.items()
        if controller not in NO_RIVALS
        and other.utilisation > own.utilisation
        and other.p95_queueing_delay_ms < own.p95_queueing_delay_ms + more_delay_ms
    ]


def _blocked_rows(cases: Cases) -> Iterator[GoalRow]:
    free = cases.get(blocked_name(0), {})
    for blocked_ms in BLOCKED_MS[1:]:
        blocked = cases.get(blocked_name(blocked_ms), {})
        lost = {
            controller: 1 - case.utilisation / free[controller].utilisation
            for controller, case in blocked.items()
            if controller in free
        }
        shown = {
            controller: f"{100 * share:.1f} %"
            for controller, share in (("paper", PAPERS_LOST[blocked_ms]), *lost.items())
        }
        detail = ", ".join(f"{controller} {text}" for controller, text in shown.items())
        name, description = (
            f"blocked_{blocked_ms}",
            f"bytes lost by a sender that is blocked for {blocked_ms} of 100 ms",
        )
        yield GoalRow(name, description, None, lost.get(SENDER), shown.get(SENDER, ""), detail=detail, figures=lost)


def _front_row(cases: Cases) -> GoalRow:
    known = {name: cases[name] for name in TRAINED_ON if OWN in cases.get(name, {})}
    better = {name: found for name, by_controller in known.items() if (found := ahead(by_controller))}
    strictly = sum(not ahead(by_controller, more_delay_ms=0.0) for by_controller in known.values())
    detail = "; ".join(f"{name}: {', '.join(found)} ahead" for name, found in better.items())
    detail = f"{detail}; {strictly} if any difference in delay counts".removeprefix("; ")
    description = f"emulators 1 to {len(TRAINED_ON)}: no other has more throughput at no more p95 delay (to 1 ms), on"
    value = len(known) - len(better) if len(known) == len(TRAINED_ON) else None
    return goal_row("front", description, Bound("at least", 5, f"of {len(TRAINED_ON)}", decimals=0), value, detail)


def _policer_rows(cases: Cases) -> Iterator[GoalRow]:
    by_controller = cases.get(POLICER, {})
    own, rivals = by_controller.get(OWN), [controller for controller in by_controller if controller not in NO_RIVALS]
    goal = Bound("at most", 0.05, "%", scale=100, decimals=1)
    yield goal_row("policer_loss", "policer, emulator 7: loss", goal, own.loss_ratio if own else None)
    best = max(rivals, key=lambda controller: by_controller[controller].utilisation, default="")
    goal, description = Bound("at least", 0.8, "times"), "policer, emulator 7: throughput to the best other's"
    ratio = own.utilisation / by_controller[best].utilisation if own and best else None
    detail = f"best: {best}, loss {100 * by_controller[best].loss_ratio:.1f} %" if best else ""
    yield goal_row("policer_rate", description, goal, ratio, detail)


def _collapse_row(cases: Cases) -> GoalRow:
    shares = shares_of_oracle(cases, OWN)
    lowest = min(shares, key=shares.__getitem__, default="")
    description = f"all {len(EMULATORS)}: lowest throughput as a share of the oracle's"
    value = shares[lowest] if len(shares) == len(EMULATORS) else None
    return goal_row("collapse", description, Bound("at least", 0.3), value, lowest)
