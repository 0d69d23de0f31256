"""`weir-sim controllers` prints the table of controllers for programs."""

import json
import subprocess

from weir_sim.controllers import CONTROLLERS, SIMULATED
from weir_sim.executables import find_simulator


def printed(*arguments: str) -> str:
    return subprocess.run([find_simulator(), *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_table_has_the_controllers_of_the_list_in_their_order() -> None:
    table = json.loads(printed("controllers"))
    lines = [
        f"{row['name']} {row['summary']}" + ("" if row["available"] else " (not available: run `make webrtc`)")
        for row in table
    ]
    assert [" ".join(line.split()) for line in printed("--list").splitlines()] == lines


def test_the_table_has_what_a_comparison_needs_to_know() -> None:
    rows = {row.pop("name"): row for row in json.loads(printed("controllers"))}
    assert rows["gcc"]["field_trials"] == ""
    assert rows["scream"]["field_trials"] == "WebRTC-Bwe-ScreamV2/mode:always/"
    assert rows["pcc"]["field_trials"] is None
    assert (rows["scream"]["libwebrtc_milestone"], rows["gcc"]["libwebrtc_milestone"]) == (150, None)
    assert [name for name, row in rows.items() if row["knows_path"]] == ["oracle", "oracle-present", "oracle-receiver"]
    assert all(row["available"] for row in rows.values() if row["libwebrtc_milestone"] is None)
    assert "shadow" not in rows


def test_the_table_of_the_python_package_is_the_same() -> None:
    rows = {row.pop("name"): row for row in json.loads(printed("controllers"))}
    assert list(rows) == list(SIMULATED)
    for name, row in rows.items():
        expected = CONTROLLERS[name]
        assert row["summary"] == expected.summary
        assert row["field_trials"] == expected.field_trials
        assert (row["libwebrtc_milestone"] or 0) == expected.libwebrtc_milestone
        assert row["knows_path"] == expected.knows_path
