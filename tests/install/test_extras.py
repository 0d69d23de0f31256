"""The base needs NumPy alone; each extra has what it needs, and is locked."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from weir.installation import EXTRAS, packages_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = """
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
print(*(name for name in sys.modules if name.startswith("weir.")))
print("onnxruntime" in open("/proc/self/maps").read())
"""


def test_the_base_has_numpy_alone():
    assert [re.match(r"[\w-]+", one)[0] for one in PROJECT["dependencies"]] == ["numpy"]


def test_import_weir_loads_neither_onnx_runtime_nor_anything_of_the_bench():
    done = subprocess.run([sys.executable, "-c", BASE], capture_output=True, text=True, check=True)
    packages, modules, onnxruntime = done.stdout.splitlines()
    assert set(packages.split()) <= {"weir", "numpy"}
    assert set(modules.split()) <= {"weir._core", "weir.errors", "weir.installation"}
    assert onnxruntime == "False"


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_what_the_distribution_says_and_is_locked(extra):
    own = {
        found[0] for one in PROJECT["optional-dependencies"][extra] if (found := re.match(r"(?!weir-bwe)[\w-]+", one))
    }
    packages = set(packages_of(extra))
    assert own <= packages
    assert extra == "bench" or set(packages_of("bench")) <= packages
    files = {"bench": ("run",), "call": ("call",), "train": ("train", "cuda"), "distributed": ("distributed", "cuda")}
    locked = "".join(f"\n{(ROOT / 'requirements' / f'{name}.txt').read_text()}" for name in files[extra])
    assert [name for name in packages if f"\n{name}[" not in locked and f"\n{name}==" not in locked] == []
    assert "nvidia" not in (ROOT / "requirements/train.txt").read_text()
