"""`weir paper all`: repeats papers once, and records what came out; the verdicts of claims."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from weir_eval.measurement import Value, origin_of, read_measurement, write_measurement
from weir_eval.report.goal_table import Bound
from weir_papers import repeat, table
from weir_papers.claims import NOT_MEASURED, Claim, Repetition, row_values, value_of
from weir_sim.installed import shipped_model

CLAIM = Claim("one/ratio", "a ratio", "2", 2.0, Bound("at least", 2.0, "times"), Bound("at least", 1.0, "times"))


@pytest.fixture
def weir(run_weir):
    """Runs `weir paper all ARGUMENTS`; returns status, standard output, standard error."""
    return partial(run_weir, "paper", "all")


@pytest.fixture
def papers(monkeypatch):
    """Two papers whose commands are not run; the arguments of those that would have been."""
    ran = []

    def paper(name, samples):
        claim = Claim(f"{name}/ratio", "a ratio", "2", 2.0, CLAIM.holds, CLAIM.partly, "for a reason")
        return Repetition(
            name,
            [claim, Claim(f"{name}/other", "another", "", None, CLAIM.holds)],
            lambda out, small: [["paper", name, *(["--few"] if small else []), "--out", str(out)]],
            lambda out: {f"{name}/ratio": samples, f"{name}/other": []},
            lambda out: shipped_model() if name == "one" else None,
        )

    def run_weir(command):
        ran.append(command)
        return 0

    monkeypatch.setattr(repeat, "REPETITIONS", (paper("one", [1.0, 2.0]), paper("two", [3.0])))
    monkeypatch.setattr(repeat, "run_weir", run_weir)
    return ran


def test_verdicts():
    values = (Value(2.0), Value(1.5), Value(0.5), Value(3.0, 2.5, 3.5), Value(3.0, 1.5, 4.5), None)
    assert [CLAIM.verdict(value) for value in values] == [
        "holds",
        "holds in part",
        "does not",
        "holds",
        "holds (undecided)",
        NOT_MEASURED,
    ]
    assert CLAIM.show([]) == ""
    assert CLAIM.show([1.5]) == "1.50 times"
    assert CLAIM.show([1.0, 2.0]) == "1.50 times [-4.85, 7.85]"
    about_2 = Claim("a/b", "a ratio", "2", 2.0, Bound("at most", 3.0), Bound("at least", 1.0))
    assert [about_2.verdict(Value(value)) for value in (0.5, 2.0, 9.0)] == ["does not", "holds", "holds in part"]
    range_of_2_to_4 = Claim("a/b", "a ratio", "2 to 4", 2.0, Bound("at least", 2.0), most=4.0)
    assert [range_of_2_to_4.verdict(Value(value)) for value in (1.0, 3.0, 9.0)] == [
        "does not",
        "holds",
        "holds in part",
    ]
    share = Claim("a/b", "a share", "", None, Bound("at most", 0.05, "%", scale=100, decimals=1))
    assert share.show([0.031, 0.033, 0.035]) == "3.3 % [2.8, 3.8]"


def test_every_paper_is_repeated_once_and_recorded(weir, papers, tmp_path):
    record = tmp_path / "papers.json"
    status, output, errors = weir("--out", "out", "--record", record)
    assert status == 0, errors
    assert papers == [["paper", name, "--out", str(Path("out") / name)] for name in ("one", "two")]
    assert "holds in part" in output
    found = read_measurement(record)
    assert found == read_measurement(tmp_path / "out/papers.json")
    assert (found.measured, found.command, found.taken_over) == ("papers", "make papers", "")
    assert found.values["one/ratio"].value == 1.5
    assert found.values["one/ratio"].low == pytest.approx(-4.853, abs=1e-3)
    assert found.values["two/ratio"] == (3.0, None, None)
    assert found.published == {"one/ratio": 2.0, "two/ratio": 2.0}
    origin = found.origins["one"]
    assert origin.command == "weir paper one --out OUT"
    assert (len(origin.model_sha256), found.origins["two"].model_sha256) == (64, "")
    assert origin.date.startswith("20")
    # It continues: what is complete is not repeated.
    papers.clear()
    kept = json.loads((tmp_path / "out/two/values.json").read_text())
    (tmp_path / "out/one/values.json").unlink()
    assert weir("--out", "out")[0] == 0
    assert papers == [["paper", "one", "--out", "out/one"]]
    assert json.loads((tmp_path / "out/two/values.json").read_text()) == kept
    # A record keeps what another folder has of other papers.
    assert weir("--out", "other", "--only", "one", "--record", record)[0] == 0
    assert read_measurement(record).model_dump(exclude={"origins"}) == found.model_dump(exclude={"origins"})
    assert read_measurement(record).origins["two"] == found.origins["two"]


def test_a_claim_without_a_value_keeps_an_earlier_one_with_its_origin(weir, papers, tmp_path):
    record = tmp_path / "papers.json"
    assert weir("--out", "out", "--record", record)[0] == 0
    found = read_measurement(record)
    earlier = found.model_copy(update={"values": found.values | {"one/other": Value(7.0)}})
    earlier.origins["one"] = found.origins["one"].model_copy(update={"commit": "before"})
    write_measurement(record, earlier)
    for folder in ("again", "once-more"):
        assert weir("--out", folder, "--only", "one", "--record", record)[0] == 0
        found = read_measurement(record)
        assert found.values["one/other"].value == 7.0
        assert origin_of(found, "one/other").commit == "before"
        assert origin_of(found, "one/ratio").commit != "before"
    assert weir("--out", "third", "--only", "two", "--record", record)[0] == 0
    assert origin_of(read_measurement(record), "one/other").commit == "before"
    assert read_measurement(record).about == "Papers: one, two. Intervals: 95 % over seeds."


def test_more_options_are_of_one_paper_and_in_its_origin(weir, papers, tmp_path):
    status, _, errors = weir("--out", "out", "--options", "--seeds 1")
    assert status == 2
    assert "--options --seeds 1: are for one paper; give one --only" in errors
    assert weir("--out", "out", "--only", "one", "--options", "--seeds 1")[0] == 0
    assert papers == [["paper", "one", "--out", "out/one", "--seeds", "1"]]
    assert read_measurement(tmp_path / "out/papers.json").origins["one"].command == "weir paper one --out OUT --seeds 1"


def test_small_sizes_are_no_record(weir, papers, tmp_path):
    status, _, errors = weir("--out", "out", "--small", "--record", "papers.json")
    assert status == 2
    assert "--record: is for values of the full size" in errors
    assert weir("--out", "out", "--small", "--only", "two")[0] == 0
    assert papers == [["paper", "two", "--few", "--out", "out/two"]]
    assert read_measurement(tmp_path / "out/papers.json").command == "make papers SMALL=1"
    assert weir("--out", "out", "--small", "--only", "one")[0] == 0
    assert read_measurement(tmp_path / "out/papers.json").origins.keys() == {"one", "two"}
    status, _, errors = weir("--out", "out", "--only", "two")
    assert status == 2
    assert "holds the small size" in errors
    assert "--only three: one of one, two" in weir("--out", "out", "--only", "three")[2]


def test_a_command_that_fails_ends_it(weir, papers, monkeypatch, tmp_path):
    monkeypatch.setattr(repeat, "run_weir", lambda command: 3)
    assert weir("--out", "out")[0] == 3
    assert not (tmp_path / "out/papers.json").exists()


def test_the_table_has_every_claim_and_what_is_missing(papers, weir, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "REPETITIONS", repeat.REPETITIONS)
    monkeypatch.setattr(table, "_NAMES", {"one": "One", "two": "Two"})
    assert table.claims_table(tmp_path / "none.json").count(NOT_MEASURED) == 4
    assert weir("--out", "out")[0] == 0
    text = table.claims_table(tmp_path / "out/papers.json")
    assert "| One | a ratio | 2 | 1.50 times [-4.85, 7.85] | holds in part (undecided) | for a reason |" in text
    assert text.count(NOT_MEASURED) == 2


def test_a_value_from_before_a_change_of_its_measure_is_of_earlier_code(weir, papers, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_NAMES", {"one": "One", "two": "Two"})
    assert weir("--out", "out")[0] == 0
    today = read_measurement(tmp_path / "out/papers.json").origins["one"].date

    def first_row(since):
        one, two = repeat.REPETITIONS
        claim = replace(one.claims[0], since=since)
        monkeypatch.setattr(table, "REPETITIONS", (replace(one, claims=[claim, *one.claims[1:]]), two))
        return table.claims_table(tmp_path / "out/papers.json").splitlines()[2]

    assert "| holds in part (undecided) |" in first_row(today)
    assert "| holds in part (undecided); earlier code |" in first_row("9999-01-01")


def test_rows_of_goals_are_values_of_seeds_where_they_have_them():
    rows = [
        {"name": "a", "value": 1.5, "figures": {"values": [1.0, 2.0]}},
        {"name": "b", "value": 3.0, "figures": {}},
        {"name": "c", "value": None, "figures": {}},
    ]
    names = {"x/a": "a", "x/b": "b", "x/c": "c", "x/d": "d"}
    assert row_values({"rows": rows}, names) == {"x/a": [1.0, 2.0], "x/b": [3.0]}
    assert value_of([2.0]) == (2.0, None, None)
