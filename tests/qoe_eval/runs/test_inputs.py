"""Inputs of a replay: files as their options state, the catalogue, and the controllers that scenarios name."""

import re
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_eval.options.replay import ReplayOptions
from weir_eval.runs.inputs import PathOptions, read_inputs
from weir_sim.controllers import SIMULATED
from weir_traces.formats import ImportedTrace
from weir_traces.formats.reading import Reading
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_traces.schema.scenario import Scenario

BAD_CONTROLLERS = Path(__file__).parents[2] / "data/scenarios/bad_controllers"
RATES = "802.12\n742.34\n426.06\n431.20\n"


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    path = tmp_path / "rates.txt"
    path.write_text(RATES)
    return path


def test_replays_read_as_stated(rates: Path, tmp_path: Path) -> None:
    down = tmp_path / "down.txt"
    down.write_text("time,throughput\n0,5\n1,6\n2,7\n")
    stated = ReplayOptions(inputs=[str(rates)], step=2.0, unit="kbps")
    scenario = read_inputs(stated.inputs, stated.read())[0]
    assert scenario.forward.capacity is not None
    assert scenario.forward.capacity.trace().mean_bps() == pytest.approx(600_430)
    unstated = ReplayOptions(inputs=[str(rates)])
    with pytest.raises(InputError, match="one number a row"):
        read_inputs(unstated.inputs, unstated.read())
    reverse = ReplayOptions(inputs=["catalogue/steps"], reverse=down, rate_column="throughput", unit="Mbps")
    path = reverse.read().reverse
    assert path is not None
    assert path.capacity is not None
    assert path.capacity.rates_bps.tolist() == [5e6, 6e6, 7e6]


def test_options_of_rows_without_effect_on_bundled_scenarios_are_named_once() -> None:
    found: list[ImportedTrace] = []
    read_inputs(["catalogue/pantheon"], PathOptions(reading=Reading(step_s=1.0)), on_trace=found.append)
    (finding,) = (finding for trace in found for finding in trace.findings)
    assert finding.message == "--step: without effect; a bundled scenario has columns and units of its own"


def test_pantheons_scenarios_are_replayed_by_one_name() -> None:
    scenarios = read_inputs(["catalogue/pantheon"], PathOptions())
    assert [scenario.name for scenario in scenarios] == [scenario.name for scenario in pantheon_scenarios()]
    assert scenarios == pantheon_scenarios()
    assert all(Scenario.from_json(scenario.to_json()) == scenario for scenario in scenarios)


def with_controller(folder: Path, name: str) -> list[Scenario]:
    path = folder / "x.json"
    flow = {"kind": "rtp", "controller": name}
    Scenario.make(name="x", duration_s=1.0, forward={"capacity": None}, flows=[flow]).save(path)
    return read_inputs([str(path)], PathOptions())


@pytest.mark.parametrize("name", ["under_test", *SIMULATED, "pilot=weir copilots=nada fusion=min"])
def test_a_scenario_names_a_simulated_controller_or_a_pool(tmp_path: Path, name: str) -> None:
    assert with_controller(tmp_path, name)[0].flows[0].controller == name


# "shadow" runs in calls only.
@pytest.mark.parametrize("name", ["gccc", "shadow"])
def test_other_controllers_are_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"x\.json: flow 'media': controller '{name}': .*use under_test, weir, gcc"):
        with_controller(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pool-of-unknown-fusion", 'pool, character 33: "sum" is not known; use pilot, max, min,'),
        ("pool-without-pilot", "pool, character 25: pilot=MEMBER is missing"),
        ("unknown-controller", "not known; "),
    ],
)
def test_files_with_such_controllers_are_refused_with_file_place_and_remedy(name: str, message: str) -> None:
    path = BAD_CONTROLLERS / f"{name}.json"
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        read_inputs([str(path)], PathOptions())
    assert str(refused.value).startswith(f"{path}: flow ")
