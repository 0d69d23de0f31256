"""The options that state how rows are read, the same for all commands, and what `weir traces validate` shows."""

import json
import re
from pathlib import Path

import pytest

from weir_traces.formats.recognize import FORMATS
from weir_traces.schema.scenario import Scenario

RATES = "802.12\n742.34\n426.06\n431.20\n"
README = Path(__file__).parents[2] / "traces/README.md"


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    path = tmp_path / "rates.txt"
    path.write_text(RATES)
    return path


def test_validate_refuses_an_ambiguous_file_and_shows_a_line_of_what_was_understood(run_weir, rates: Path) -> None:
    status, out, error = run_weir("traces", "validate", rates)
    assert (status, out) == (2, "")
    assert error.startswith(f"weir: {rates}: one number a row, and they do not rise")
    assert "--step SECONDS --unit UNIT" in error
    status, out, error = run_weir("traces", "validate", rates, "--step", 0.5, "--unit", "Mbps")
    assert (status, error) == (0, "")
    summary = "mean 600.4 Mbps, lowest 426.1 Mbps, 0 s below 100 kbps, 2 s long, repeated for 60 s"
    assert f"{rates}: rates, Mbps, a row for 0.5 s; {summary}: usable" in out


def test_validate_json_has_the_summary(run_weir, rates: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "x.json"
    flow = {"kind": "rtp"}
    Scenario.make(name="x", duration_s=10.0, forward={"capacity": None}, flows=[flow]).save(scenario)
    status, out, _ = run_weir("traces", "validate", rates, scenario, "--json", "--unit", "kbps", "--step", 1)
    first, second = json.loads(out)
    assert status == 0
    assert first["understood"]["mean_bps"] == pytest.approx(600_430)
    assert first["understood"]["length_s"] == 4
    assert second["understood"] is None
    status, out, _ = run_weir("traces", "validate", scenario)
    assert out == f"{scenario}: scenario, unlimited: usable (0 errors, 0 warnings)\n"


OWN_UNITS = {
    "sabre": '[{"duration_ms":1000,"bandwidth_kbps":500,"latency_ms":20},{"duration_ms":1000,"bandwidth_kbps":900}]',
    "opennetlab": '{"uplink": {"trace_pattern": [{"duration": 1000, "capacity": 500}]}}',
}


@pytest.mark.parametrize("name", OWN_UNITS)
def test_options_without_effect_on_a_format_are_named_and_change_nothing(run_weir, tmp_path: Path, name: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(OWN_UNITS[name])
    plain = json.loads(run_weir("traces", "validate", path, "--json")[1])[0]
    options = ["--unit", "s,Mbps", "--step", 1, "--rate-holds", "step"]
    status, out, _ = run_weir("traces", "validate", path, *options, "--json")
    (stated,) = json.loads(out)
    assert (status, stated["usable"]) == (0, True)
    assert stated["findings"][0]["message"] == (
        f"--unit, --step, --rate-holds: without effect; the format {name} has columns and units of its own"
    )
    assert stated["findings"][1:] == plain["findings"]
    assert stated["understood"] == plain["understood"]


def test_units_of_other_files_have_no_effect_on_deliveries(run_weir, tmp_path: Path) -> None:
    path = tmp_path / "drive.up"
    path.write_text("".join(f"{12 * number}\n" for number in range(1, 1001)))
    (plain,) = json.loads(run_weir("traces", "validate", path, "--json")[1])
    status, out, _ = run_weir("traces", "validate", path, "--unit", "s,kbps", "--json")
    (stated,) = json.loads(out)
    message = "--unit: without effect; the format mahimahi has columns and units of its own"
    assert (status, stated["findings"][0]["message"]) == (0, message)
    assert stated["understood"] == plain["understood"]
    # A few rising numbers may be rates.
    path.write_text("1000\n2000\n3000\n")
    assert "3 rates without times" in run_weir("traces", "validate", path, "--unit", "kbps")[2]


def test_a_missing_cell_changes_no_length(run_weir, tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("time,downlink_kbps\n0,1500\n5,\n10,2500\n15,2500\n")
    assert "20 s long" in run_weir("traces", "validate", path, "--unit", "s")[1]


def test_a_constant_has_no_length(run_weir, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("time_s,rate_bps\n0,1500000\n")
    assert "each rate until the next row; 1.5 Mbps without end: usable" in run_weir("traces", "validate", path)[1]


def test_convert_reads_as_stated(run_weir, rates: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert run_weir("traces", "convert", rates, target)[0] == 2
    assert run_weir("traces", "convert", rates, target, "--step", 1, "--unit", "kbps")[0] == 0
    assert target.read_text() == "time_s,rate_bps\n0.0,802120.0\n1.0,742340.0\n2.0,426060.0\n3.0,431200.0\n4.0,\n"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--unit", "furlong", "--unit 'furlong': write a rate (bps, kbps"),
        ("--step", "0", "--step '0'"),
        ("--rate-holds", "sideways", "--rate-holds 'sideways': not known; use before, after"),
    ],
)
def test_values_that_state_nothing(run_weir, rates: Path, option: str, value: str, message: str) -> None:
    status, _, error = run_weir("traces", "validate", rates, option, value)
    assert status == 2
    assert message in error


def test_the_readme_has_every_format() -> None:
    table = re.findall(r"^\| `([a-z0-9 -]+)` \|", README.read_text(), flags=re.MULTILINE)
    assert {form.name for form in FORMATS} <= set(table)
    assert len(table) == len(set(table)) >= 12
