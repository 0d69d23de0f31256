"""The BUILD.gn files: they name every source, and what `make webrtc` has built of them runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ESTIMATOR = ROOT / "estimator"
ADAPTER = ROOT / "webrtc_patch/adapter"
SMOKE_TEST = ROOT / "build/libwebrtc/src/out/release/receive_side_smoke_test"
# With exceptions or threads, and what only they include (estimator/BUILD.gn).
CMAKE_ALONE = re.compile(
    r"src/(c/|worker/|controllers/(inline_)?custom_controller|exceptions\.h|onnx/(onnxruntime_loader|onnx_session)\.cc)"
    r"|include/weir/custom_controller\.h"
)
# The receive side needs them of CMake's weir_webrtc_adapter.
SHARED = {"conversions.cc", "gcc_remb_controller.cc", "libwebrtc_globals.cc"}


def named(text: str) -> list[str]:
    return re.findall(r"[\w/]+\.(?:cc|h)\b", text)


def sources(folder: Path) -> list[str]:
    """The sources of a BUILD.gn, which names each once."""
    quoted = re.findall(r'"([^"]+\.(?:cc|h))"', (folder / "BUILD.gn").read_text())
    paths = [one for one in quoted if not one.startswith("$")]
    assert len(paths) == len(set(paths))
    return paths


def test_the_estimator_names_each_of_its_sources():
    there = [path.relative_to(ESTIMATOR) for name in ("include", "src") for path in (ESTIMATOR / name).rglob("*")]
    wanted = {str(path) for path in there if path.suffix in (".cc", ".h") and not CMAKE_ALONE.match(str(path))}
    assert set(sources(ESTIMATOR)) == wanted, "add or remove the file in estimator/BUILD.gn"


def test_the_adapter_names_the_sources_of_cmake():
    cmake = (ADAPTER / "CMakeLists.txt").read_text()
    receive_side = cmake[cmake.index("add_library(weir_webrtc_receive_side") :].partition(")")[0]
    compiled = {one for one in sources(ADAPTER) if one.endswith(".cc")}
    assert compiled == set(named(receive_side)) | SHARED
    for one in sources(ADAPTER):
        assert (ADAPTER / one).is_file()


def test_the_model_is_embedded_byte_by_byte(tmp_path):
    model = bytes(range(256)) * 3
    (tmp_path / "model").write_bytes(model)
    command = [sys.executable, ADAPTER / "embed_model.py", tmp_path / "model", tmp_path / "shipped_model.cc"]
    subprocess.run(command, check=True)
    text = (tmp_path / "shipped_model.cc").read_text()
    array = text[text.index("kModel[] = {") :].partition("{")[2].partition("}")[0]
    assert bytes(int(number) for number in array.split(",") if number.strip()) == model
    assert subprocess.run(command[:-1], capture_output=True, check=False).returncode == 2


@pytest.mark.skipif(not SMOKE_TEST.exists(), reason="make webrtc has not built libwebrtc")
def test_what_gn_has_built_accepts_the_embedded_model():
    subprocess.run([SMOKE_TEST], check=True)
