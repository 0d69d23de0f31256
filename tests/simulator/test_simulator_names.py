"""The names that `weir-sim` takes are those of its table; any other is refused by name, with status 2."""

import json
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from weir_sim.controllers import CONTROLLERS, PRESETS, SIMULATED
from weir_sim.executables import find_simulator
from weir_sim.versions import unavailable_controllers
from weir_traces.schema.flows import AnyFlow
from weir_traces.schema.scenario import Scenario

FLOW_KINDS = [get_args(flow.model_fields["kind"].annotation)[0] for flow in get_args(get_args(AnyFlow)[0])]
CAPACITY = {"times_s": [0.0], "rates_bps": [1e6]}


def weir_sim(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(find_simulator()), *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)


def scenario(**flow: Any) -> dict[str, Any]:
    whole = Scenario.make(
        name="x", duration_s=1.0, forward={"capacity": CAPACITY}, flows=[{"kind": "rtp", "controller": "fixed"}]
    ).to_dict()
    whole["flows"][0] |= flow
    return whole


def test_the_list_is_that_of_the_table() -> None:
    missing = unavailable_controllers(find_simulator())
    lines = weir_sim("--list").stdout.splitlines()
    about = {name: CONTROLLERS[name].summary for name in SIMULATED}
    assert {name: text.strip() for name, _, text in (line.partition(" ") for line in lines)} == about | {
        name: f"{about[name]} (not available: run `make webrtc`)" for name in missing
    }


def test_a_controller_of_a_later_libwebrtc_is_there_or_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(scenario(controller="under_test")))
    done = weir_sim("run", "--controller", "scream", str(path))
    if "scream" in unavailable_controllers(find_simulator()):
        assert (done.returncode, done.stdout) == (3, "")
        assert "run `make webrtc`" in done.stderr
    else:
        assert json.loads(done.stdout)["controller"] == "scream"


def test_field_trials_follow_the_name_of_a_controller(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(scenario(controller="under_test") | {"duration_s": 10.0}))
    trials = "gcc:WebRTC-Bwe-ProbingConfiguration/p1:1.2,p2:1.5/"
    done, plain = (weir_sim("run", "--controller", name, str(path)) for name in (trials, "gcc"))
    record = json.loads(done.stdout)
    assert record["controller"] == trials
    assert record["flows"] != json.loads(plain.stdout)["flows"]
    for refused in ("gcc:A/B", "pcc:A/B/", "gcc:A/B/A/C/"):
        done = weir_sim("run", "--controller", refused, str(path))
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "flow", "unknown", "known"),
    [
        # Also where no flow is under test.
        (("--controller", "gccc"), {}, "gccc", SIMULATED),
        (("--controller", "gccc"), {"controller": "under_test"}, "gccc", SIMULATED),
        (("--controller", "shadow"), {}, "shadow", SIMULATED),
        (("--objective", "balance"), {}, "balance", PRESETS),
        ((), {"controller": "gccc"}, "gccc", SIMULATED),
        ((), {"kind": "udp"}, "udp", FLOW_KINDS),
    ],
)
def test_an_unknown_name_is_refused(
    arguments: tuple[str, ...], flow: dict[str, Any], unknown: str, known: Any, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(scenario(**flow)))
    for command in (("run",), ("link", "--left", "0", "--right", "1", "--log", "log")):
        done = weir_sim(*command, *arguments, str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert unknown in done.stderr
        assert all(name in done.stderr for name in known)


def test_an_unknown_controller_of_a_job_is_refused() -> None:
    jobs = [{"job": name, "scenario": scenario(), "controller": name} for name in ("gccc", "shadow", "rule")]
    done = weir_sim("run", "-", text="".join(f"{json.dumps(job)}\n" for job in jobs))
    unknown, of_calls, known = (json.loads(line) for line in done.stdout.splitlines())
    assert unknown["job"] == "gccc"
    assert unknown["error"].startswith(f'there is no controller "gccc"; there are {", ".join(SIMULATED)}; or a pool')
    assert "shadow" in of_calls["error"]
    assert known["controller"] == "rule"
