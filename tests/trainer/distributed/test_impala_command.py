"""`algorithm = "impala"` where there is no Ray: its configuration, and what to install."""

import importlib.util
import subprocess
import sys

import pytest

from weir.errors import InputError
from weir.trainer.configuration.training import checked_configuration

RAY = importlib.util.find_spec("ray")


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
def test_without_ray_one_line_says_how_to_get_it(values, write_toml, tmp_path):
    pytest.importorskip("torch", reason="needs the extra `train`")
    command = ["train", write_toml(values | {"algorithm": "impala"}), "--out", tmp_path / "run"]
    program = [sys.executable, "-c", "from weir.cli.main import main; main()"]
    run = subprocess.run([*program, *map(str, command)], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "make distributed" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_an_address_is_for_impala_alone(values, write_toml, weir, tmp_path):
    pytest.importorskip("torch", reason="needs the extra `train`")
    result = weir("train", write_toml(values), "--address", "auto", "--out", tmp_path / "run", catch=True)
    assert "--address: is for algorithm impala, not ppo" in str(result.exception)
