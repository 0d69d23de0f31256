"""Records of results, and the fingerprint that binds those of replays to the simulator."""

import pytest

from weir_cli.errors import InputError
from weir_eval.measurement import Measurement, Value, read_measurement, stale, write_measurement


def record(**fields):
    defaults = {
        "measured": "replays", "about": "Two sets.", "command": "weir evaluate --suite policy", "date": "2026-11-23",
        "commit": "5785e59d", "values": {},
    }  # fmt: skip
    return Measurement(**{**defaults, **fields})


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
