"""The library needs NumPy alone; each distribution has what it needs, and is locked."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from edges import ABSENT

from weir_cli.installation import TARGETS, packages_of

ROOT = Path(__file__).parents[2]
LIBRARY = tomllib.loads((ROOT / "estimator/pyproject.toml").read_text())["project"]
LOCKED = {
    "weir-eval": ("run",),
    "weir-calls": ("call",),
    "weir-train[learning]": ("train", "cuda"),
    "weir-sim[distributed]": ("distributed", "cuda"),
}
ESTIMATES = """
import sys
before = set(sys.modules)
import weir
model = weir.Model.shipped()
assert weir.Model.shipped().description == model.description
assert not model.needs_onnxruntime
estimator = weir.BandwidthEstimator(model)
estimator.on_packet(arrival_time_us=0, ssrc=1, sequence_number=1, abs_send_time=0, payload_bytes=1000)
estimator.on_timeout(100_000)
print(*{name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))
print("onnxruntime" in open("/proc/self/maps").read())
"""


def test_the_library_needs_numpy_alone():
    assert [re.match(r"[\w-]+", needed)[0] for needed in LIBRARY["dependencies"]] == ["numpy"]


def test_import_weir_loads_neither_onnx_runtime_nor_another_distribution():
    done = subprocess.run([sys.executable, "-c", ESTIMATES], capture_output=True, text=True, check=True)
    packages, onnxruntime = done.stdout.splitlines()
    assert set(packages.split()) <= {"weir", "numpy"}
    assert onnxruntime == "False"


@pytest.mark.parametrize("requirement", TARGETS)
def test_the_packages_of_a_distribution_are_locked(requirement):
    if requirement.removeprefix("weir-") in ABSENT:
        pytest.skip("its folder is not here")
    packages = packages_of(requirement)
    assert packages
    locked = "".join(f"\n{(ROOT / 'requirements' / f'{name}.txt').read_text()}" for name in LOCKED[requirement])
    assert [name for name in packages if f"\n{name}[" not in locked and f"\n{name}==" not in locked] == []


def test_training_without_a_gpu_needs_no_cuda():
    assert "nvidia" not in (ROOT / "requirements/train.txt").read_text()
