"""Pools in weir-sim: in scenarios and as the controller under test, with the sender's GCC, and what is refused."""

import json
import subprocess
from typing import Any

import pytest

from weir_sim.executables import find_simulator
from weir_traces.schema.scenario import Scenario

WITH_GCC = "pilot=fixed copilots=gcc fusion=min"


def run(under_test: str, **flow: Any) -> dict[str, Any]:
    capacity = {"times_s": [0.0], "rates_bps": [2e6]}
    scenario = Scenario.make(
        name="x", duration_s=20.0, forward={"capacity": capacity}, flows=[{"kind": "rtp", "transport_cc": False}]
    ).to_dict()
    scenario["flows"][0] |= flow
    job = {"job": 1, "scenario": scenario, "controller": under_test, "series": False}
    done = subprocess.run(
        [str(find_simulator()), "run", "-"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def received_bps(record: dict[str, Any]) -> float:
    return 8 * record["flows"][0]["bytes_received"] / 20


def test_a_pool_in_a_scenario_is_the_same_as_under_test() -> None:
    line = "pilot=nada copilots=rule,gcc-remb fusion=median policy=by_objective"
    under_test, named = run(line), run("fixed", controller=line)
    for record in (under_test, named):
        assert record["flows"][0].pop("controller") == line
    assert under_test["flows"] == named["flows"]
    members = under_test["flows"][0]["pool"]["members"]
    assert [(one["name"], one["role"]) for one in members] == [
        ("nada", "pilot"), ("rule", "copilot"), ("gcc-remb", "copilot"),
    ]  # fmt: skip


def test_the_sender_takes_the_smaller_of_remb_and_its_gcc() -> None:
    # A constant REMB below what the path carries holds GCC down ...
    assert received_bps(run(WITH_GCC, fixed_rate_bps=300e3)) == pytest.approx(300e3, rel=0.15)
    assert received_bps(run("gcc")) > 900e3
    # ... and GCC holds a constant far above it.
    reckless, held = (run(name, fixed_rate_bps=20e6)["flows"][0] for name in ("fixed", WITH_GCC))
    assert reckless["packets_lost"] / reckless["packets_sent"] > 0.5
    assert held["packets_lost"] / held["packets_sent"] < 0.05


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pilot=nada fusion=sum", 'pool, character 19: "sum" is not known'),
        ("pilot=nada copilots=pcc fusion=min", "pool member pcc: decides at the sender"),
        ("pilot=nada copilots=vegas", "pool member vegas: there is none of this name"),
        ("pilot=weir copilots=nada", "pool member weir: the controllers weir, weir-send and mocc need a model"),
        ("pilot=nada copilots=weir:/no/such", "cannot read the model /no/such"),
        ("pilot=gcc", "it can be a copilot under fusion=min"),
        ("pilot=nada copilots=gcc fusion=max", "use fusion=min and policy=fixed with it"),
        ("pilot=nada fusion=user", "fusion=user needs a function"),
    ],
)
def test_what_cannot_fly_is_refused(line: str, message: str) -> None:
    assert message in run(line)["error"]
