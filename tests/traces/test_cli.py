"""`weir traces`: exit statuses, messages, files."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from weir_traces.catalogue import bundled_names
from weir_traces.formats.importers import read_trace
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.scenario import Scenario

GOOD = "time_s,rate_bps\n0,1000000\n1,2000000\n2,\n"
SPIKE = "time_s,rate_bps\n0,1000000\n1,8039999000\n2,2000000\n3,\n"
NEGATIVE = "time_s,rate_bps\n0,1000000\n1,-5\n2,2000000\n3,\n"


class Result(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def run(run_weir):
    return lambda *arguments: Result(*run_weir("traces", *arguments))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def negative(tmp_path: Path) -> Path:
    path = tmp_path / "negative.csv"
    path.write_text(NEGATIVE)
    return path


@pytest.fixture
def spike(tmp_path: Path) -> Path:
    path = tmp_path / "spike.csv"
    path.write_text(SPIKE)
    return path


def test_validate_accepts_a_sound_file(run, good: Path) -> None:
    result = run("validate", good)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{good}: csv, time_s in s, rate_bps in bit/s, each rate until the next row; mean 1.5 Mbps, lowest 1 Mbps, 0 s "
        "below 100 kbps, 2 s long, repeated for 60 s: usable (0 errors, 0 warnings)\n"
    )
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("length_s", "shown"),
    [(0.01, "0.01 s long, repeated for 60 s:"), (9.9, "9.9 s long, repeated"), (10, "10 s long:")],
)
def test_validate_states_that_a_run_repeats_a_short_trace(run, tmp_path: Path, length_s: float, shown: str) -> None:
    path = tmp_path / "short.csv"
    path.write_text(f"time_s,rate_bps\n0,1000000\n{length_s},\n")
    assert f", {shown}" in run("validate", path).stdout


def test_validate_states_that_a_scenario_repeats_its_trace(run, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    capacity = {"times_s": [0], "rates_bps": [1e6], "period_s": 5}
    Scenario.make(name="x", duration_s=7.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}]).save(path)
    assert ", 5 s long, repeated for 7 s:" in run("validate", path).stdout


def test_validate_refuses_a_faulty_file_and_names_the_line(run, good: Path, negative: Path) -> None:
    result = run("validate", good, negative)
    assert result.exit_code == 2
    assert f"weir: {negative}: line 3: error (negative_rate): capacity is -5 bit/s" in result.stderr
    assert all(line.startswith("weir: ") for line in result.stderr.splitlines())
    assert "--repair accepts the repairs" in result.stderr
    assert "1 s below 100 kbps, 3 s long, repeated for 60 s: refused (1 error, 2 warnings)" in result.stdout
    assert "usable" in result.stdout


def test_validate_accepts_what_can_be_repaired(run, negative: Path) -> None:
    result = run("validate", negative, "--repair")
    assert result.exit_code == 0
    assert "repaired (1 error, 2 warnings)" in result.stdout
    assert "line 3" in result.stderr
    assert negative.read_text() == NEGATIVE


def test_a_timer_artefact_is_repaired_unless_strict(run, spike: Path, tmp_path: Path) -> None:
    result = run("validate", spike)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "line 3: warning (spike): capacity is 8.04 Gbps, a timer artefact; repair: cut to 2 Mbps" in result.stdout
    assert "repaired (0 errors, 1 warning)" in result.stdout
    assert run("validate", spike, "--strict", "--repair").exit_code == 2
    target = tmp_path / "out.csv"
    refused = run("convert", spike, target, "--strict")
    assert (refused.exit_code, target.exists()) == (2, False)
    assert "omit --strict" in refused.stderr
    assert run("convert", spike, target).exit_code == 0


def test_validate_goes_on_after_a_file_that_cannot_be_read(run, good: Path, tmp_path: Path) -> None:
    result = run("validate", tmp_path / "none.csv", good, "--repair")
    assert result.exit_code == 2
    assert result.stderr == f"weir: {tmp_path}/none.csv: no such file; check the path\n"
    assert "good.csv: csv, time_s in s" in result.stdout


def test_validate_json(run, good: Path, negative: Path, tmp_path: Path) -> None:
    result = run("validate", good, negative, tmp_path / "none", "--json")
    assert result.exit_code == 2
    first, second, third = json.loads(result.stdout)
    reading = "time_s in s, rate_bps in bit/s, each rate until the next row"
    understood = {"reading": reading, "mean_bps": 1.5e6, "lowest_bps": 1e6, "low_s": 0.0, "length_s": 2.0, "run_s": 60}
    assert first == {
        "file": str(good),
        "format": "csv",
        "understood": understood,
        "usable": True,
        "error": None,
        "findings": [],
    }
    assert second["usable"] is False
    assert second["findings"][0] == {
        "code": "negative_rate",
        "severity": "error",
        "source": str(negative),
        "position": "line 3",
        "message": "capacity is -5 bit/s",
        "repair": "0 bit/s",
    }
    assert third["error"].endswith("no such file; check the path")


def test_convert_with_options(run, good: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    options = ("--one-way-delay", 40, "--queue", "120kB", "--loss", 0.01, "--duration", 30, "--name", "ride")
    assert run("convert", good, target, *options).exit_code == 0
    scenario = Scenario.load(target)
    assert (scenario.name, scenario.duration_s, scenario.forward.one_way_delay_ms) == ("ride", 30, 40)
    assert scenario.forward.queue.bytes == 120_000
    assert scenario.forward.loss.model_dump() == {"kind": "bernoulli", "ratio": 0.01}
    back = run("convert", target, tmp_path / "back.up")
    assert back.exit_code == 0
    assert back.stderr.startswith(f"weir: {tmp_path}/back.up: ")
    assert "a mahimahi file cannot hold: one-way delay (40 ms), loss (bernoulli), queue limit" in back.stderr
    assert read_trace(tmp_path / "back.up").format == "mahimahi"


def test_convert_to_stdout(run, good: Path) -> None:
    result = run("convert", good, "-", "--to", "opennetlab")
    assert result.exit_code == 0
    assert [entry["capacity"] for entry in json.loads(result.stdout)["uplink"]["trace_pattern"]] == [1000, 2000]


@pytest.mark.parametrize("name", ["x.csv", "x.up", "x.ride"])
def test_convert_cuts_a_trace_to_a_duration(run, good: Path, tmp_path: Path, name: str) -> None:
    to = ("--to", "opennetlab") if name == "x.ride" else ()
    assert run("convert", good, tmp_path / name, "--duration", "1.5", *to).exit_code == 0
    capacity = read_trace(tmp_path / name).capacity
    assert capacity is not None
    assert capacity.period_s == 1.5
    assert capacity.integrate(0, 1.5) == pytest.approx(2e6, abs=12_000)


def test_convert_repairs_only_on_request(run, negative: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    refused = run("convert", negative, target)
    assert refused.exit_code == 2
    assert "add --repair" in refused.stderr
    assert not target.exists()
    repaired = run("convert", negative, target, "--repair")
    assert repaired.exit_code == 0
    assert "repair: 0 bit/s" in repaired.stderr
    capacity = read_trace(target).capacity
    assert capacity is not None
    assert capacity.rates_bps.tolist() == [1e6, 0, 2e6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", "GOOD", "x.xyz"), "the ending does not give the format"),
        (("convert", "GOOD", "x.csv", "--to", "pcap"), "--to 'pcap': not known; use csv"),
        (("convert", "GOOD", "x.json", "--queue", "5apples"), "--queue '5apples'"),
        (("convert", "GOOD", "x.json", "--loss", "2"), "forward.loss.ratio: must be at most 1"),
        (("convert", "GOOD", "x.json", "--duration", "0"), "duration_s: must be greater than 0"),
        (("convert", "GOOD", "x.csv", "--duration", "3"), "--duration '3': the trace is 2 s long; give at most that"),
        (("convert", "GOOD", "none/x.json"), "cannot be written"),
        (("convert", "none.csv", "x.json"), "none.csv: no such file"),
        (("generate", "tides", "--out", "x.csv"), "tides: no such generator; use constant"),
        (("generate", "wifi", "--out", "x.csv", "--set", "depth=3"), "wifi takes shadowing_db"),
        (("generate", "wifi", "--out", "x.csv", "--set", "depth"), "--set 'depth': write NAME=NUMBER"),
        (("generate", "wifi", "--out", "x.csv", "--rate", "fast"), "rate 'fast'"),
        (("generate", "wifi", "--out", "x.csv", "--duration", "-3"), "must be greater than 0"),
        (("generate", "random", "--out", "x.json", "--queue", "3"), "random draws everything itself"),
        (("generate", "random", "--out", "x.json", "--rate", "3M"), "random draws everything itself"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(run, arguments: tuple[str, ...], message: str, good: Path) -> None:
    result = run(*(good if argument == "GOOD" else argument for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("weir: ")
    assert result.stdout == ""


def test_list(run) -> None:
    result = run("list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in bundled_names())
    assert "rfc8867" not in result.stdout
    rows = json.loads(run("list", "--json", "--rfc8867").stdout)
    assert [row["name"] for row in rows[: len(bundled_names())]] == bundled_names()
    assert sum(row["name"].startswith("rfc8867") for row in rows) == 10
    rows = json.loads(run("list", "--json", "--pantheon").stdout)
    assert [row["name"] for row in rows[len(bundled_names()) :]] == [f"pantheon-{number}" for number in range(1, 19)]
    assert next(row for row in rows if row["name"] == "steady-300k")["mean_capacity_bps"] == 300e3


def test_generate_is_reproducible(run, tmp_path: Path) -> None:
    paths = [tmp_path / f"{folder}.json" for folder in ("a", "b", "c")]
    for path, seed in zip(paths, (3, 3, 4), strict=True):
        assert run("generate", "wifi", "--seed", seed, "--duration", 20, "--rate", "1M", "--out", path).exit_code == 0
    first, second, third = (Scenario.load(path) for path in paths)
    assert first.forward == second.forward
    assert first.forward != third.forward
    assert first.duration_s == 20
    assert first.provenance["source"] == "weir traces generate wifi, seed 3, 20 s, 1M"


def test_generate_takes_parameters_and_writes_other_formats(run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    assert run("generate", "outage", "--set", "longest_s=0.7", "--set", "gap_mean_s=3", "--out", path).exit_code == 0
    capacity = read_trace(path, repair=True).capacity
    assert capacity is not None
    assert set(capacity.rates_bps.tolist()) == {0, 2.5e6}


def test_generate_random_to_stdout(run) -> None:
    result = run("generate", "random", "--seed", 9, "--duration", 30, "--out", "-")
    assert result.exit_code == 0
    assert Scenario.from_json(result.stdout) == random_scenario(9, duration_s=30)


def test_files_are_replaced_only_with_force(run, good: Path, tmp_path: Path) -> None:
    for arguments in (("convert", good), ("generate", "step", "--out")):
        target = tmp_path / "there.json"
        target.write_text("mine")
        refused = run(*arguments, target)
        assert refused.exit_code == 2
        assert f"{target}: is there already; choose another name, or add --force" in refused.stderr
        assert target.read_text() == "mine"
        assert run(*arguments, target, "--force").exit_code == 0
        assert read_trace(target).scenario is not None


def test_the_window_of_mahimahi_is_an_option(run, tmp_path: Path) -> None:
    path, out = tmp_path / "x.up", tmp_path / "x.csv"
    path.write_text("10\n20\n300\n400\n")
    assert run("convert", path, out, "--mahimahi-window-ms", 100).exit_code == 0
    capacity = read_trace(out).capacity
    assert capacity is not None
    assert capacity.rates_bps.tolist() == [240e3, 0, 0, 240e3]
    assert run("validate", path, "--mahimahi-window-ms", 100).exit_code == 0
    assert run("validate", path, "--mahimahi-window-ms", 0).exit_code == 2


def test_a_trace_for_the_return_path(run, good: Path, tmp_path: Path) -> None:
    down, out = tmp_path / "x.down", tmp_path / "x.json"
    down.write_text("100\n200\n")
    assert run("convert", good, out, "--reverse", down, "--one-way-delay", 40).exit_code == 0
    scenario = Scenario.load(out)
    assert scenario.reverse.capacity is not None
    assert scenario.reverse.capacity.trace().mean_bps() == 2 * 12_000 / 0.2
    assert scenario.reverse.one_way_delay_ms == 40
    assert scenario.provenance["source"] == "good.csv (csv); reverse: x.down"
    again = tmp_path / "again.json"
    assert run("convert", out, again, "--reverse", good).exit_code == 0
    assert Scenario.load(again).reverse.capacity == scenario.forward.capacity
