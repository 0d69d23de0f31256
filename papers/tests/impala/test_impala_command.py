"""`algorithm = "impala"` where there is no Ray: its configuration, and what to install."""

import importlib.util
import subprocess
import sys

import pytest

from weir_cli.errors import InputError
from weir_eval.model_file import read_model
from weir_train.configuration.training import checked_configuration

RAY = importlib.util.find_spec("ray")
PROGRAM = (sys.executable, "-c", "from weir_cli.main import main; main()")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"runners": 0}, "impala.runners: .*1"),
        ({"batch_size": 1}, "impala.batch_size: .*2"),
        ({"gamma": 1.0}, "impala.gamma: .*less than 1"),
        ({"trace_decay": 1.5}, "impala.trace_decay"),
        ({"gae_lambda": 0.9}, "impala.gae_lambda: unknown key"),
        ({"standstill_s": 0}, "impala.standstill_s: .*greater than 0"),
    ],
)
def test_bad_settings_are_one_message(values, table, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | {"algorithm": "impala", "impala": table})
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(RAY is not None, reason="Ray is here")
def test_without_ray_one_line_names_the_command_that_installs_it(values, write_toml, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    command = ["train", write_toml(values | {"algorithm": "impala"}), "--out", tmp_path / "run"]
    run = subprocess.run([*PROGRAM, *map(str, command)], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    # In a clone, and from wheels.
    assert "make distributed" in run.stderr or "pip install ray" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_trained_steps_are_whole_updates(values):
    assert checked_configuration(values | {"algorithm": "impala", "steps": 1}).trained_steps == 96


def test_scenarios_are_drawn_by_the_runners(values):
    with pytest.raises(InputError, match='curriculum gap: algorithm impala has only "random"'):
        checked_configuration(values | {"algorithm": "impala", "curriculum": "gap"})


def test_a_run_is_exported_and_reported_without_ray(values, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    from weir_train.learning.algorithms import load_policy
    from weir_train.learning.checkpoint import policy_arrays, write_checkpoint
    from weir_train.learning.ppo import make_policy

    run, configuration = tmp_path / "run", checked_configuration(values | {"algorithm": "impala"})
    run.mkdir()
    (run / "configuration.json").write_text(configuration.model_dump_json())
    policy = make_policy(configuration)
    write_checkpoint(run / "checkpoint.zip", "impala", 1024, policy_arrays(policy.state_dict()))
    assert load_policy(run / "checkpoint.zip").hidden == (16, 8)
    for command in (["export", run, "--out", tmp_path / "a.onnx"], ["report", run]):
        assert subprocess.run([*PROGRAM, *map(str, command)], check=False).returncode == 0
    provenance = read_model(tmp_path / "a.onnx").provenance
    assert provenance["algorithm"] == "IMPALA (RLlib), 1,024 steps of 200 ms, seed 3"
    assert provenance["network"] == {"hidden": [16, 8], "preference": 4}
