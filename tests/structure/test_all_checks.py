"""`make test-all` runs every check that the Makefile has, and so does the hosted workflow, every night."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Targets that build or measure, and checks that another target runs.
NO_CHECKS = {
    "help", "build", "build-test", "train", "distributed", "webrtc", "chromium-patch", "amalgamation", "wasm",
    "packages", "model", "wheels", "report", "bench", "format", "lock", "clean", "cite", "results", "results-calls",
    "papers", "libwebrtc", "lint", "test-cpp", "asan", "test-python", "test-workspace", "test-plugins", "test-all",
}  # fmt: skip
MAKEFILE = """
good: ; @echo fine
bad: ; @echo broken; exit 1
lacks: ; @echo "it: 'buildah' is missing"; exit 3
nested: ; $(MAKE) lacks
mixed: ; $(MAKE) -k lacks bad
pytest: ; @echo "SKIPPED [2] tests/test_x.py:7: no browser"; echo "SKIPPED [1] tests/test_x.py: no browser"
ctest: ; @printf 'The following tests did not run:\\n\\t 12 - PeerTest.Calls (Skipped)\\n'
long: ; @echo begun >begun; sleep 600
"""


def checks():
    command = ["make", "--silent", "--no-print-directory", "--eval=checks: ; @echo $(CHECKS)", "checks"]
    environment = {name: value for name, value in os.environ.items() if name not in ("CHECKS", "MAKEFLAGS")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.split()


def start(folder, *names):
    (folder / "Makefile").write_text(MAKEFILE)
    return subprocess.Popen([ROOT / "tests/all.sh", *names], cwd=folder, stdout=subprocess.PIPE, text=True)


def results(output):
    """The table: check, result."""
    rows = output.split("result\n")[1].split("\n\n")[0].splitlines()
    return {name: result for name, _, result in (row.split(maxsplit=2) for row in rows)}


def test_every_target_is_a_check_or_known_to_be_none():
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
    plugins = {f"test-plugin-{path.parent.name}" for path in ROOT.glob("plugins/*/Makefile")}
    assert set(checks()) == targets - NO_CHECKS | plugins


def test_every_check_runs_every_night():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert sorted(" ".join(workflow["jobs"]["nightly"]["strategy"]["matrix"]["checks"]).split()) == sorted(checks())


@pytest.mark.parametrize(
    ("names", "status", "expected"),
    [
        (["good", "lacks"], 0, {"good": "passed", "lacks": "not here: it: 'buildah' is missing"}),
        (["bad", "good"], 1, {"bad": "failed: build/all/bad.log", "good": "passed"}),
        (["nested"], 0, {"nested": "not here: it: 'buildah' is missing"}),
        (["mixed"], 1, {"mixed": "failed: build/all/mixed.log"}),
    ],
)
def test_the_table_has_every_check_and_the_status_the_worst(tmp_path, names, status, expected):
    script = start(tmp_path, *names)
    output, _ = script.communicate()
    assert results(output) == expected
    assert script.returncode == status


def test_the_last_lines_say_what_was_not_tested_and_why(tmp_path):
    output, _ = start(tmp_path, "pytest", "good", "ctest").communicate()
    assert output.split("\n\nnot tested:\n")[1].splitlines() == [
        "  PeerTest.Calls: Skipped",
        "  tests/test_x.py: no browser",
        "",
        "3 passed, 0 failed",
    ]


def test_ctrl_c_ends_the_check_and_the_table_has_what_was_done(tmp_path):
    os.mkfifo(tmp_path / "begun")
    script = start(tmp_path, "good", "long", "bad")
    (tmp_path / "begun").read_text()
    output = None
    while output is None:
        # Again where bash was not yet in `wait`, which then sees a signal only when the check ends.
        script.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            output, _ = script.communicate(timeout=5)
    assert results(output) == {"good": "passed", "long": "stopped", "bad": "not begun"}
    assert script.returncode == 130
