"""A training over two nodes, one of which is killed and comes back. For `make test-distributed`."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from cluster import Cluster
from processes import wait_until

from weir_eval.model_file import read_model

PROGRAMS = os.environ.get("WEIR_DISTRIBUTED")
pytestmark = pytest.mark.skipif(not PROGRAMS, reason="needs Ray: make test-distributed")


@pytest.fixture
def cluster():
    # Names of sockets may not be longer than 107 bytes, so not pytest's folder.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        nodes = Cluster(Path(PROGRAMS).absolute(), Path(folder))
        try:
            nodes.start()
            yield nodes
        finally:
            nodes.close()


@pytest.fixture
def configuration(impala_values, write_toml):
    """With the LSTM and decisions that come late."""
    impala_values["impala"] |= {"runners": 2, "steps_per_fragment": 16}
    return write_toml(impala_values | {"steps": 10_000_000, "checkpoint_every_steps": 500})


class Run:
    """The progress of a training folder."""

    def __init__(self, folder):
        self.file = folder / "progress.json"

    def last(self):
        # The last line may not be whole yet.
        *lines, _ = self.file.read_text().split("\n") if self.file.exists() else [""]
        return json.loads(lines[-1]) if lines else {}

    def steps(self):
        return self.last().get("time/total_timesteps", 0)

    def working(self, count):
        return self.last().get("runners/working") == count


def test_a_training_goes_on_without_a_killed_node_and_takes_it_back(cluster, configuration, tmp_path):
    second = cluster.start()
    out = tmp_path / "run"
    training, run = cluster.popen("train", configuration, "--address", cluster.address, "--out", out), Run(out)
    wait_until(lambda: run.working(2), "two runners at work", 300.0)

    cluster.kill(second)
    wait_until(lambda: run.working(1), "the loss noticed")
    steps = run.steps()
    wait_until(lambda: run.steps() > steps + 300, "training on one node")

    cluster.start()
    wait_until(lambda: run.working(2), "the second runner back")

    steps = run.steps()
    training.send_signal(signal.SIGINT)
    _, errors = training.communicate(timeout=120)
    assert training.returncode == 1
    assert "interrupted after" in errors
    record = json.loads((out / "training.json").read_text())
    assert record["steps"] >= steps

    done = record["steps"] + 300
    resumed = cluster.run(
        "train", configuration, "--address", cluster.address, "--out", out, "--resume", "--steps", done
    )
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads((out / "training.json").read_text())["steps"] >= done
    assert cluster.run("export", out, "--out", tmp_path / "model.onnx").returncode == 0
    assert "state" in read_model(tmp_path / "model.onnx").inputs


def test_a_node_without_the_simulator_is_named(cluster, configuration, tmp_path):
    cluster.start(WEIR_SIM="/nowhere/weir-sim")
    refused = cluster.run("train", configuration, "--address", cluster.address, "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert re.search(r"machine [\d.]+ of the cluster: weir-sim: /nowhere/weir-sim", refused.stderr), refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_cluster_that_is_not_there_or_has_another_token(cluster, configuration, tmp_path):
    refused = cluster.run("train", configuration, "--address", "127.0.0.1:1", "--out", tmp_path / "run")
    assert (refused.returncode, "there is no cluster" in refused.stderr) == (2, True), refused.stderr
    cluster.environment["RAY_AUTH_TOKEN"] = "0" * 64
    refused = cluster.run("train", configuration, "--address", cluster.address, "--out", tmp_path / "run")
    assert (refused.returncode, "cannot join the cluster" in refused.stderr) == (2, True), refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_time_of_asynchronous_and_synchronous_training_is_compared(tmp_path):
    command = [Path(PROGRAMS) / "weir", "paper", "mvfst", "--asynchrony", "--steps", "4800", "--trained", "1"]
    done = subprocess.run([*command, "--out", tmp_path], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "asynchrony.json").read_text())["asynchrony"]
    # Each fragment of a round is learned from after those before it; an asynchronous one is older than a round.
    assert found["asynchronous"]["updates_late"] > found["synchronous"]["updates_late"]
    assert found["asynchronous"]["seconds"] > 0
    assert found["synchronous"]["seconds"] > 0
