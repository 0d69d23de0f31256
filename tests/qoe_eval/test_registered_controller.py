"""A controller that is registered is known to every part in Python, with nothing else changed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weir_eval.measures.summary import ordered_controllers
from weir_sim.controllers import COMPARED, CONTROLLERS, DEFAULT_PRESET, PRESETS, SIMULATED

# Runs before anything else has read the table.
WITH_A_DUMMY = """
import importlib.util, sys
spec = importlib.util.find_spec("weir_sim.controllers")
text = spec.loader.get_source(spec.name)
table = "CONTROLLERS: Final[dict[str, Controller]] = {"
assert table in text
end = text.index("}\\n", text.index(table))
text = text[:end] + '    "dummy": Controller(summary="does nothing"),\\n' + text[end:]
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
exec(compile(text, spec.origin, "exec"), module.__dict__)
from weir_cli.main import main
sys.argv = ["weir", *sys.argv[1:]]
main()
"""


def test_a_registered_controller_is_replayed_and_reported(tmp_path: Path, fake_simulator: Path) -> None:
    flow = {"kind": "rtp", "controller": "under_test"}
    other = {"kind": "rtp", "id": "other", "controller": "dummy", "start_s": 1.0}
    scenario = {
        "schema": "weir.scenario/1", "name": "steady", "duration_s": 10.0,
        "forward": {"capacity": {"times_s": [0.0], "rates_bps": [1e6]}}, "flows": [flow, other],
    }  # fmt: skip
    (tmp_path / "steady.json").write_text(json.dumps(scenario))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITH_A_DUMMY, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    # No --controller: all that are registered.
    done = run("replay", "steady.json", "--seeds", "1", "--objectives", "0", "--out", "out")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert list(summary["controllers"]) == [*COMPARED, "dummy"]
    page = (tmp_path / "out/report.html").read_text()
    assert f"--c-dummy: var(--series-{len(SIMULATED) + 1})" in page
    help_text = run("replay", "--help-all").stdout
    assert f"{SIMULATED[-1]},dummy" in re.sub(r"[\s│]", "", help_text)
    unknown = run("replay", "steady.json", "--controller", "dumy")
    assert unknown.returncode == 2
    assert "dumy" in unknown.stderr
    assert "dummy" in unknown.stderr


def test_the_order_of_reports_is_that_of_the_table_of_controllers() -> None:
    assert ordered_controllers(reversed(["zebra", *SIMULATED])) == [*SIMULATED, "zebra"]
    assert [name for name in CONTROLLERS if name in SIMULATED] == list(SIMULATED)


def test_the_default_preset_is_that_of_the_compiled_library() -> None:
    assert PRESETS[DEFAULT_PRESET] == (0.5, 0.4, 0.1)
    assert all(sum(weights) == pytest.approx(1, abs=1e-12) for weights in PRESETS.values())
