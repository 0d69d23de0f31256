"""The first steps of `make model`, trained twice, have the same parameters."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weir_train
from weir_train.configuration.training import load_configuration

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

WEIR_TOML = Path(weir_train.__file__).parent / "configs" / "weir.toml"
# Trains the first stage until so many steps are done; its schedules are those of the whole stage.
PROGRAM = """
import sys
from weir_train.configuration.training import checked_configuration, load_configuration
from weir_train.learning.stages import train_until
from pathlib import Path

file, folder, environments, steps = sys.argv[1:]
values = load_configuration(file).in_stages()[0].model_dump(mode="json", exclude={"stages"})
samples = int(environments) * values["ppo"]["steps_per_update"]
values["environment"]["environments"] = int(environments)
values["ppo"]["batch_size"] = min(samples, values["ppo"]["batch_size"])
train_until(checked_configuration(values), Path(folder), int(steps), lambda state: None)
"""


def digests(folder):
    """SHA-256 of the numbers of the files that `weir export` and `--resume` read."""
    found = {}
    for name in ("checkpoint.zip", "averaged.zip"):
        digest = hashlib.sha256()
        with np.load(folder / name) as file:
            for key in sorted(file.files):
                digest.update(key.encode() + file[key].tobytes())
        found[name] = digest.hexdigest()
    return found


def trained_twice(tmp_path, environments, steps):
    """The digests of two trainings at once, whose processes have different settings of threads and hashes."""
    running = []
    for threads in ("1", "4"):
        folder = tmp_path / threads
        environment = os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
        words = [sys.executable, "-c", PROGRAM, WEIR_TOML, folder, str(environments), str(steps)]
        running.append((folder, subprocess.Popen(words, env=environment)))
    assert [process.wait(timeout=1800) for _, process in running] == [0, 0]
    return [digests(folder) for folder, _ in running]


def test_a_single_thread_of_torch_trains_because_the_number_changes_the_sums():
    assert {stage.threads for stage in load_configuration(WEIR_TOML).in_stages()} == {1}


def test_the_first_steps_with_fewer_environments(tmp_path, real_simulator):
    first, second = trained_twice(tmp_path, 32, 3_072)
    assert first == second


@pytest.mark.skipif(os.environ.get("WEIR_LONG") != "1", reason="a minute on two cores and 512 simulators: WEIR_LONG=1")
def test_the_first_20_000_steps(tmp_path, real_simulator):
    first, second = trained_twice(tmp_path, 256, 20_000)
    assert first == second
