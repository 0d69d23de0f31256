"""The command line of `weir-sim`: exit codes, and the messages for wrong use."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from make_test_models import finish, telling_path_kind

from weir.trainer import SHIPPED_MODEL


@pytest.fixture
def run(real_simulator, tmp_path):
    """A function from arguments to a finished `weir-sim`, in an empty folder."""

    def start(*arguments, text=""):
        return subprocess.run(
            [real_simulator, *arguments], input=text, capture_output=True, text=True, cwd=tmp_path, timeout=60
        )

    return start


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give run, serve or link"),
        (["walk"], "not expected: walk"),
        (["run"], "SCENARIO.json is required"),
        (["run", "--colour", "red", "a.json"], "no option --colour"),
        (["run", "a.json", "--seed"], "--seed needs a value"),
        (["run", "a.json", "--seed", "-1"], "--seed -1: must be a whole number, at least 0"),
        (["run", "a.json", "--objective", "1,2"], "--objective 1,2: must be balanced, throughput, latency"),
        (["run", "a.json"], "cannot read the scenario a.json"),
        (["run", "a.json", "--controller", ""], "--controller : must be given"),
        (["run", "-", "--seed", "3"], "run - takes no options"),
        (["serve", "a.json"], "not expected: a.json"),
        (["link", "a.json", "b.json", "--left", "l", "--right", "r", "--log", "x"], "not expected: b.json"),
        (["link", "a.json", "--left", "l", "--right", "r"], "--log is required"),
        (["link", "a.json", "--left", "l", "--right", "r", "--log", "x", "--log-interval-ms", "9"], "10 to 10000"),
        (["link", "a.json", "--left", "l", "--right", "r", "--log", "x", "--controller", ""], "--controller : must be"),
        (["link", "a.json", "--left", "l", "--right", "l", "--log", "x"], "two network namespaces"),
    ],
)
def test_wrong_use_is_named_and_ends_with_status_2(run, arguments, message):
    ended = run(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("weir-sim: ")
    assert ended.stderr.count("\n") == 1
    assert message in ended.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_tells_of_every_command_and_option(run, option):
    ended = run(option)
    assert (ended.returncode, ended.stderr) == (0, "")
    for word in ("run", "serve", "link", "--no-series", "--log-interval-ms N", "--objective T,L,P", "exit status"):
        assert word in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 120


def test_a_number_that_no_number_holds_is_wrong_input(run, steady, tmp_path):
    (tmp_path / "huge.json").write_text(json.dumps(steady()).replace("1000000.0", "1e999"))
    ended = run("run", "huge.json")
    assert ended.returncode == 2
    assert "huge.json: a number in it is larger than any that can be used" in ended.stderr


def test_options_reach_the_run(run, steady, tmp_path):
    (tmp_path / "steady.json").write_text(json.dumps(steady(duration_s=1)))
    options = ("--controller", "fixed", "--seed", "010", "--seed", "7", "--objective", "2,2,4", "--no-series")
    ended = run("run", *options, "--", "steady.json")
    assert ended.returncode == 0, ended.stderr
    record = json.loads(ended.stdout)
    assert (record["controller"], record["seed"], record["objective"]) == ("fixed", 7, [0.25, 0.25, 0.5])
    assert "series" not in record
    assert json.loads(run("run", "steady.json", "steady.json").stdout.splitlines()[1])["controller"] == "rule"


def test_jobs_are_answered_line_by_line(run, steady):
    jobs = [{"job": 1, "scenario": steady(duration_s=1), "controller": "rule", "objective": [1, 2, 1]}, {"job": 2}]
    answers = [json.loads(line) for line in run("run", "-", text="\n".join(map(json.dumps, jobs))).stdout.splitlines()]
    assert (answers[0]["job"], answers[0]["objective"]) == (1, [0.25, 0.5, 0.25])
    assert (answers[1]["job"], answers[1]["error"]) == (2, "scenario: is missing; add it")


def test_the_kind_of_path_is_a_series_where_a_model_tells_it(run, steady, tmp_path):
    """A model that counts Mbps, on 3 Mbps; records of others do not know it."""
    (tmp_path / "kinds.onnx").write_bytes(finish(telling_path_kind(), "rate_bps"))

    def series(model):
        scenario = steady(rate_bps=3_000_000, duration_s=10)
        job = {"job": 1, "scenario": scenario, "controller": "weir", "model": str(model)}
        return json.loads(run("run", "-", text=json.dumps(job) + "\n").stdout)["flows"][0]["series"]

    told = series(tmp_path / "kinds.onnx")
    assert len(told["path_kind"]) == len(told["target_bps"])
    assert told["path_kind"][0] == 0
    assert max(told["path_kind"]) == 3
    assert "path_kind" not in series(SHIPPED_MODEL)


def test_a_guard_without_a_rule(run, steady):
    job = {"job": 1, "scenario": steady(duration_s=3), "controller": "weir", "model": str(SHIPPED_MODEL)}

    def answer(**more):
        return json.loads(run("run", "-", text=json.dumps(job | more) + "\n").stdout)

    whole, without = (answer(guard_off=off)["flows"][0]["guard"] for off in ([], ["floor", "slew"]))
    assert whole["slew"] + whole["floor"] > 0
    assert without["slew"] == without["floor"] == 0
    assert "names a rule without a switch" in answer(guard_off=["bounds"])["error"]
    assert "must be an array" in answer(guard_off="slew")["error"]


def test_a_full_disk_fails_the_run(real_simulator, steady, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    (tmp_path / "steady.json").write_text(json.dumps(steady(duration_s=1)))
    with open("/dev/full", "w") as full:
        command = [real_simulator, "run", tmp_path / "steady.json"]
        assert subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60).returncode == 1


def test_a_job_nested_too_deeply_is_answered_as_wrong(run):
    deep = 100_000
    ended = run("run", "-", text='{"job":' * deep + "1" + "}" * deep + '\n{"job":2}\n')
    assert (ended.returncode, ended.stderr) == (0, "")
    first, second = map(json.loads, ended.stdout.splitlines())
    assert first == {"job": None, "error": "nested deeper than 256 levels"}
    assert second["job"] == 2


def test_a_partial_scenario_is_refused_with_the_command_that_completes_it(run, tmp_path):
    partial = {
        "schema": "weir.scenario/1", "name": "x", "duration_s": 1.0, "flows": [{"kind": "rtp"}],
        "forward": {"capacity": {"times_s": [0.0], "rates_bps": [1e6]}},
    }  # fmt: skip
    (tmp_path / "partial.json").write_text(json.dumps(partial))
    ended = run("run", "partial.json")
    assert ended.returncode == 2
    assert "partial.json: description: is missing; add it" in ended.stderr
    assert "`weir traces convert FILE.json WHOLE.json` fills in defaults" in ended.stderr
    command = [Path(sys.executable).with_name("weir"), "traces", "convert", "partial.json", "whole.json"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert run("run", "whole.json").returncode == 0
