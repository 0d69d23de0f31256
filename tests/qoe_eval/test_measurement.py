"""Records of results, and the fingerprint that binds those of replays to the simulator."""

import re
import subprocess

import pytest

from weir_cli.errors import InputError
from weir_eval import measurement
from weir_eval.measurement import Measurement, Value, read_measurement, stale, write_measurement


def record(**fields):
    defaults = {
        "measured": "replays", "about": "Two sets.", "command": "weir evaluate --suite policy", "date": "2026-11-23",
        "commit": "5785e59d", "values": {},
    }  # fmt: skip
    return Measurement(**{**defaults, **fields})


def test_a_commit_has_a_suffix_for_changes_except_of_documents(tmp_path, monkeypatch):
    def git(*words):
        identity = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    monkeypatch.setattr(measurement, "__file__", str(tmp_path / "code.py"))
    found = measurement.commit_with_changes.__wrapped__
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert found() == ""
    (tmp_path / "code.py").write_text("1")
    (tmp_path / "README.md").write_text("1")
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    committed = found()
    assert re.fullmatch(r"[0-9a-f]{7,}", committed)
    (tmp_path / "README.md").write_text("2")
    assert found() == committed
    (tmp_path / "code.py").write_text("2")
    changed = found()
    assert re.fullmatch(committed + r"\+[0-9a-f]{8}", changed)
    (tmp_path / "code.py").write_text("3")
    assert found() != changed


def test_a_record_survives_its_file(tmp_path):
    values = {"bundled/weir/challenge": Value(88.28, 83.37, 91.55), "goals/start": Value(1.0)}
    written = record(model_sha256="a", simulator="b", libwebrtc="150.0.1", values=values)
    write_measurement(tmp_path / "one.json", written)
    assert read_measurement(tmp_path / "one.json") == written


def test_values_are_rounded_to_what_they_are_good_for(tmp_path):
    write_measurement(tmp_path / "one.json", record(values={"rate": Value(1234567.8), "share": Value(0.00012345678)}))
    assert read_measurement(tmp_path / "one.json").values == {"rate": Value(1234570), "share": Value(0.000123457)}


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema": "weir.measurement/1", "values": {"x": []}}'])
def test_invalid_records_are_one_message(tmp_path, text):
    (tmp_path / "one.json").write_text(text)
    with pytest.raises(InputError, match=r"one\.json"):
        read_measurement(tmp_path / "one.json")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""),
        ({"model_sha256": "model", "simulator": "now", "libwebrtc": "150"}, ""),
        ({"model_sha256": "other"}, "another model"),
        ({"model_sha256": "other", "subject": "earlier model"}, ""),
        ({"model_sha256": "other", "subject": "simulator"}, ""),
        ({"simulator": "before", "libwebrtc": "150"}, "behaved otherwise"),
        ({"simulator": "before", "libwebrtc": "150", "subject": "earlier code"}, ""),
        ({"simulator": "now", "libwebrtc": "149"}, "behaved otherwise"),
    ],
)
def test_a_record_of_something_else_is_stale(fields, why):
    found = stale(record(**fields), "model", {"150": "now"})
    assert why in found if why else found == ""
