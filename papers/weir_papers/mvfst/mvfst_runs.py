"""The replays of `weir paper mvfst`, and what each controller did on each scenario.

Figure 1 does not say how its agent is blocked. Here the sender sends nothing in the first 25 or 50 ms of every 100 ms,
on the emulator that the figure names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import ReplayOutcome
from weir_papers.common import Case, case_of, mean_case, with_tcp
from weir_sim.controllers import PRESETS
from weir_sim.versions import unavailable_controllers
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_traces.schema.scenario import Scenario

# The shipped model at the receiver and at the sender, and the controller with the true capacity.
OWN, SENDER, ORACLE = "weir", "weir-send", "oracle"
NO_RIVALS = (OWN, SENDER, ORACLE)
CONTROLLERS = (OWN, SENDER, "gcc", "scream", "pcc", "nada", "rule", ORACLE)
CONGESTION_CONTROLS = ("cubic", "bbr", "vegas")
EMULATORS = tuple(scenario.name for scenario in pantheon_scenarios())
TRAINED_ON, POLICER = EMULATORS[:6], EMULATORS[6]

# The first of the trained variants, and a sender that takes any action; parts of a curve of rewards.
LSTM, RANDOM = "lstm", "random"
CURVE_PARTS = 10

BLOCKED_ON = EMULATORS[5]
BLOCKED_MS = (0, 25, 50)
BLOCKED_DURATION_S = 60.0

# By scenario and controller, or congestion control of TCP: the mean over seeds.
Cases = Mapping[str, Mapping[str, Case]]


def blocked_name(blocked_ms: int) -> str:
    """The scenario whose sender is blocked for so long in every 100 ms."""
    return f"blocked-{blocked_ms}"


def blocked_scenarios() -> list[Scenario]:
    """Those of Figure 1; the first is not blocked."""
    document = next(scenario for scenario in pantheon_scenarios() if scenario.name == BLOCKED_ON).to_dict()
    (flow,) = document["flows"]
    starts_s = [tenths / 10 for tenths in range(round(10 * BLOCKED_DURATION_S))]
    return [
        Scenario.from_dict(
            document
            | {
                "name": blocked_name(blocked_ms),
                "duration_s": BLOCKED_DURATION_S,
                "flows": [flow | {"pauses_s": [[s, s + blocked_ms / 1e3] for s in starts_s] if blocked_ms else []}],
            }
        )
        for blocked_ms in BLOCKED_MS
    ]


def mvfst_plans(seeds: Sequence[int], model: Path, simulator: Path) -> list[tuple[str, ReplayPlan]]:
    """Each with the congestion control of TCP that runs in it; empty for the controllers of RTP."""
    missing = unavailable_controllers(simulator)
    controllers = [name for name in CONTROLLERS if name not in missing]

    def plan(scenarios: Sequence[Scenario], names: Sequence[str]) -> ReplayPlan:
        return ReplayPlan(scenarios, names, PRESETS["balanced"], seeds, model, simulator, "measured")

    emulators = pantheon_scenarios()
    return [
        ("", plan(emulators, controllers)),
        ("", plan(blocked_scenarios(), NO_RIVALS)),
        # The controller of RTP flows, of which there are none.
        *(
            (control, plan([with_tcp(emulator, control) for emulator in emulators], ["rule"]))
            for control in CONGESTION_CONTROLS
        ),
    ]


def mvfst_cases(plans: Sequence[tuple[str, ReplayPlan]], outcome: ReplayOutcome) -> Cases:
    """The outcome of these plans."""
    runs: dict[str, dict[str, list[Case]]] = {}
    for (control, _), records in zip(plans, outcome.by_plan, strict=True):
        for record in records:
            if case := case_of(record):
                scenario = record.scenario.removesuffix(f"-{control}")
                runs.setdefault(scenario, {}).setdefault(control or record.controller, []).append(case)
    return {
        name: {controller: mean_case(cases) for controller, cases in by_controller.items()}
        for name, by_controller in runs.items()
    }
