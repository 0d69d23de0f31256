"""The command with all distributions: its help, and the components that it names."""

import json


def test_version_and_help(fake_simulator, run_weir):
    assert run_weir("--version")[1].startswith("weir ")
    status, out, _ = run_weir("--help")
    assert status == 0
    commands = ("replay", "report", "doctor", "bench", "evaluate", "traces", "train", "export", "model")
    assert all(command in out for command in commands)
    for group in ("webrtc", "traces"):
        out = run_weir(group, "--help")[1]
        assert out.startswith("Usage: weir "), group
        assert "completion" not in out, group


def test_doctor_names_every_component(fake_simulator, run_weir):
    status, out, error = run_weir("doctor", "--json")
    found = json.loads(out)
    rows = {row["name"]: row for row in found["components"]}
    assert rows["weir-sim"]["found"].startswith("0.0")
    assert rows["Python package numpy"]["found"]
    assert {"weir-peer", "weir-virtual-call", "weir-event-log"} <= rows.keys()
    assert not rows["Chromium"]["required"]
    assert all(row["found"] or row["remedy"] for row in rows.values())
    assert status == (0 if found["ok"] else 3)
    assert found["ok"] == (error == "")
