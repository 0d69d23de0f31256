"""The patch of the plug-in for mediasoup, and its goals."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins/mediasoup"
PATCH = PLUGIN / "mediasoup-worker.patch"
# `make -C plugins/mediasoup worker` brings it.
WORKER = ROOT / "build/plugins/mediasoup/node_modules/mediasoup/worker"

pytestmark = pytest.mark.skipif(not PLUGIN.is_dir(), reason="plugins/mediasoup is not here")


def test_the_patch_changes_fewer_than_60_lines():
    lines = PATCH.read_text(encoding="utf-8").splitlines()
    changed = [line for line in lines if line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- "))]
    assert 0 < len(changed) < 60


def test_the_patch_applies_to_the_pinned_version(tmp_path):
    if not WORKER.is_dir():
        pytest.skip("mediasoup's source is not here: make -C plugins/mediasoup worker")
    pinned = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))["dependencies"]["mediasoup"]
    here = json.loads((WORKER.parent / "package.json").read_text(encoding="utf-8"))["version"]
    assert here == pinned
    shutil.copytree(WORKER, tmp_path / "worker")
    command = ["patch", "--quiet", "--fuzz=0", "-p1", "-d", str(tmp_path / "worker")]
    with PATCH.open(encoding="utf-8") as patch:
        subprocess.run(command, stdin=patch, check=True)


def test_the_lock_file_pins_the_package_and_names_no_registry():
    lock = (PLUGIN / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(lock)["packages"]
    wanted = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version
    assert '"resolved"' not in lock


@pytest.mark.parametrize(
    ("direction", "label", "status", "says"),
    [("sideways", "weir", 2, "no direction"), ("uplink", "cubic", 2, "no label"), ("downlink", "weir", 3, "no worker")],
)
def test_an_end_of_a_call_refuses_what_it_does_not_know(tmp_path, direction, label, status, says):
    # A copy, beside which nothing is built but for what the first two need.
    end = tmp_path / "plugins/mediasoup/room/end.sh"
    end.parent.mkdir(parents=True)
    shutil.copy(PLUGIN / "room/end.sh", end)
    shutil.copytree(PLUGIN.parent / "browser", tmp_path / "plugins/browser")
    if status == 2:
        for name in ("out/mediasoup-worker", "room/client.js"):
            built = tmp_path / "build/plugins/mediasoup" / name
            built.parent.mkdir(parents=True)
            built.touch(mode=0o755)
    environment = os.environ | {
        "WEIR_CALL_ROLE": "sender", "WEIR_CALL_LABEL": label, "WEIR_LINK_LOCAL": "127.0.0.1",
        "WEIR_LINK_FAR": "127.0.0.1", "WEIR_CALL_FOLDER": str(tmp_path), "CHROMIUM": "true",
    }  # fmt: skip
    ended = subprocess.run([end, direction], env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == status
    assert says in ended.stderr
