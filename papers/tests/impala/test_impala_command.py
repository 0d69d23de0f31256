"""`algorithm = "impala"` where there is no Ray: its configuration, and what to install."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_eval.model_file import read_model
from weir_papers.mvfst.impala import configuration as configuration_module
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import checked_configuration, load_configuration

RAY = importlib.util.find_spec("ray")
PROGRAM = (sys.executable, "-c", "from weir_cli.main import main; main()")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"runners": 0}, "impala.runners: .*1"),
        ({"hidden": 2000}, "impala.hidden: .*1024"),
        ({"delay_ms": [50.0, 10.0]}, "impala: delay_ms: the first must not be above the second"),
        ({"entropy": -1.0}, "impala.entropy"),
        ({"gae_lambda": 0.9}, "impala.gae_lambda: unknown key"),
        ({"standstill_s": 0}, "impala.standstill_s: .*greater than 0"),
    ],
)
def test_bad_settings_are_one_message(impala_values, table, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(impala_values | {"impala": table})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("change", [{"interval_ms": 200}, {"side": "receiver"}, {"reward": "challenge"}])
def test_senders_are_those_of_the_paper(impala_values, change):
    with pytest.raises(InputError, match="environment: algorithm impala has the paper's senders: give only"):
        checked_configuration(impala_values | {"environment": change})


def test_rewards_are_normalized_by_scenario_so_random_paths_are_refused(impala_values):
    with pytest.raises(InputError, match='algorithm impala: needs scenarios with source "files" or "random_traces"'):
        checked_configuration(impala_values | {"scenarios": {"source": "random_domain"}})


def test_the_configuration_of_the_readme_has_the_papers_emulators():
    configuration = load_configuration(Path(configuration_module.__file__).with_name("impala.toml"))
    documents = ScenarioSampler(configuration.scenarios).documents
    assert [document["name"] for document in documents] == [f"pantheon-{number}" for number in range(1, 7)]


@pytest.mark.skipif(RAY is not None, reason="Ray is here")
def test_without_ray_one_line_names_the_command_that_installs_it(impala_values, write_toml, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    command = ["train", write_toml(impala_values), "--out", tmp_path / "run"]
    run = subprocess.run([*PROGRAM, *map(str, command)], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    # In a clone, and from wheels.
    assert "make distributed" in run.stderr or "pip install ray" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_trained_steps_are_whole_updates(impala_values):
    assert checked_configuration(impala_values | {"steps": 1}).trained_steps == 120


def test_scenarios_are_drawn_by_the_runners(impala_values):
    with pytest.raises(InputError, match='curriculum gap: algorithm impala has only "random"'):
        checked_configuration(impala_values | {"curriculum": "gap"})


def test_evaluations_are_refused(impala_values, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    from weir_train.learning.train import train

    with pytest.raises(InputError, match="--eval: algorithm impala has no evaluations"):
        train(checked_configuration(impala_values), tmp_path / "run", evaluate_every_steps=100)


def test_a_run_is_exported_and_reported_without_ray(impala_values, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    from weir_papers.mvfst.impala.runner import make_policy
    from weir_train.learning.checkpoint import policy_arrays, write_checkpoint

    run, configuration = tmp_path / "run", checked_configuration(impala_values)
    run.mkdir()
    (run / "configuration.json").write_text(configuration.model_dump_json())
    write_checkpoint(run / "checkpoint.zip", "impala", 960, policy_arrays(make_policy(configuration).state_dict()))
    for command in (["export", run, "--out", tmp_path / "a.onnx"], ["report", run]):
        assert subprocess.run([*PROGRAM, *map(str, command)], check=False).returncode == 0
    model = read_model(tmp_path / "a.onnx")
    assert "state" in model.inputs
    assert model.provenance["algorithm"] == "IMPALA (MVFST-RL), 960 steps of 100 ms, seed 3"
    assert model.provenance["network"] == {"hidden": 8, "recurrent": True}
    assert (model.provenance["reward"], model.provenance["side"]) == ("log", "sender")
