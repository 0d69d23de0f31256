"""The command line of `weir-sim`: exit codes, and the messages for wrong use."""

import json
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from weir_sim.installed import shipped_model
from weir_traces.schema.scenario import Scenario


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
        ([], "give run, serve, open-loop or link"),
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
        (["link", "a.json", "b.json", "--left", "5", "--right", "6", "--log", "x"], "not expected: b.json"),
        (["link", "a.json", "--left", "5", "--right", "6"], "--log is required"),
        (["link", "a.json", "--left", "5", "--right", "6", "--log", "x", "--log-interval-ms", "9"], "10 to 10000"),
        (["link", "a.json", "--left", "5", "--right", "6", "--log", "x", "--controller", ""], "--controller : must be"),
        (["link", "a.json", "--left", "5", "--right", "5", "--log", "x"], "two descriptors"),
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


def test_a_guard_without_a_rule(run, steady):
    job = {"job": 1, "scenario": steady(duration_s=3), "controller": "weir", "model": str(shipped_model())}

    def answer(**more):
        return json.loads(run("run", "-", text=json.dumps(job | more) + "\n").stdout)

    whole, without = (answer(guard_off=off)["flows"][0]["guard"] for off in ([], ["floor", "slew"]))
    assert whole["slew"] + whole["floor"] > 0
    assert without["slew"] == without["floor"] == 0
    assert "names a rule without a switch" in answer(guard_off=["bounds"])["error"]
    assert "must be an array" in answer(guard_off="slew")["error"]


@pytest.fixture
def answer(run, steady):
    """A function from the keys of a job to the text of its answer."""
    job = {"job": 1, "scenario": steady(duration_s=10), "controller": "weir", "model": str(shipped_model())}
    return lambda **more: run("run", "-", text=json.dumps(job | more) + "\n").stdout


@pytest.mark.parametrize(
    "controller", ["weir", "weir-send", "pilot=weir copilots=nada fusion=min", f"pilot=weir:{shipped_model()}"]
)
def test_a_decision_delay(answer, controller):
    at_once = answer(controller=controller)
    assert answer(controller=controller, decision_delay_ms=0) == at_once
    assert answer(controller=controller, decision_delay_ms=[0, 0]) == at_once
    slow = answer(controller=controller, decision_delay_ms=50)
    assert answer(controller=controller, decision_delay_ms=[50, 50]) == slow
    drawn = answer(controller=controller, decision_delay_ms=[20, 80])
    assert answer(controller=controller, decision_delay_ms=[20, 80]) == drawn
    assert len({at_once, slow, drawn}) == 3
    for one in (at_once, slow, drawn):
        assert json.loads(one)["flows"][0].get("estimator", {}).get("faults", 0) == 0


def test_a_decision_delay_of_a_custom_policy_and_of_others(answer):
    custom = {"controller": "mine", "custom": {"kind": "policy", "model": str(shipped_model())}, "model": None}
    assert answer(**custom, decision_delay_ms=50) != answer(**custom)
    assert answer(controller="gcc", decision_delay_ms=50) == answer(controller="gcc")


def test_decisions_of_more_than_an_interval_leave_the_call_to_the_fallback(answer):
    late, in_time = (json.loads(answer(decision_delay_ms=ms))["flows"][0]["estimator"] for ms in (101, 100))
    assert late["decisions"] == 0
    assert late["faults"] > 90
    assert late["fallback_decisions"] > 0
    assert (in_time["faults"], in_time["fallback_decisions"]) == (0, 0)
    assert in_time["decisions"] > 90


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        (-1, "decision_delay_ms: must be at least 0"),
        (10_001, "decision_delay_ms: must be at most 10000"),
        ("50", "decision_delay_ms"),
        (True, "decision_delay_ms"),
        ([50], "decision_delay_ms: needs at least 2"),
        ([1, 2, 3], "decision_delay_ms: takes at most 2"),
        ([80, 20], "decision_delay_ms: must be [low, high]"),
        ([0, -1], "decision_delay_ms: must be at least 0"),
        (float("nan"), "not JSON"),
        (float("inf"), "not JSON"),
    ],
)
def test_a_decision_delay_that_is_none(answer, delay, message):
    assert message in json.loads(answer(decision_delay_ms=delay))["error"]


def test_a_full_disk_fails_the_run(real_simulator, steady, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    (tmp_path / "steady.json").write_text(json.dumps(steady(duration_s=1)))
    for arguments in (["run", tmp_path / "steady.json"], ["--list"], ["--help"]):
        with open("/dev/full", "w") as full:
            ended = subprocess.run([real_simulator, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
        assert (ended.returncode, ended.stderr) == (1, b"weir-sim: cannot write to standard output\n")


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
    assert "partial.json: forward.capacity.period_s: is missing; add it" in ended.stderr
    assert "`weir traces convert FILE.json WHOLE.json` fills in defaults" in ended.stderr
    command = [Path(sys.executable).with_name("weir"), "traces", "convert", "partial.json", "whole.json"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert run("run", "whole.json").returncode == 0


def limited(bytes_of_memory):
    """Less than weir-sim's own limit, which a test would take long to fill."""
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (bytes_of_memory, bytes_of_memory))


def hard(steady, what):
    """A scenario that is legal, and whose numbers would take all time or memory."""
    scenario = steady(rate_bps=10_000_000_000, duration_s=86_400 if what.startswith("day") else 10)
    (rtp,) = scenario["flows"]
    if what == "tcp that never waits":
        scenario["forward"]["capacity"] = None
        scenario["forward"]["one_way_delay_ms"] = scenario["reverse"]["one_way_delay_ms"] = 0
        scenario["flows"] = [
            {"kind": "tcp", "id": "t", "direction": "forward", "start_s": 0, "stop_s": None,
             "extra_one_way_delay_ms": 0, "congestion_control": "cubic",
             "transfers": {"bytes": [10**9, 10**9], "idle_mean_s": 0, "start_on": True}}
        ]  # fmt: skip
    elif what == "day of 2000 flows":
        scenario["flows"] = [rtp | {"id": f"m{number}", "start_s": 86_399.5} for number in range(2000)]
    elif what == "packets that wait for eleven days":
        scenario["forward"]["one_way_delay_ms"] = 1e9
        rtp |= {"start_rate_bps": 10**10, "min_rate_bps": 10**10}
        rtp["media"]["max_rate_bps"] = 10**10
    return scenario


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("tcp that never waits", "after 0 ms of simulated time it stands still; give the path a delay or a capacity"),
        ("day of 2000 flows", "out of memory, over 4 GiB; shorten the scenario"),
        ("packets that wait for eleven days", "out of memory"),
    ],
)
def test_numbers_that_take_all_time_or_memory_fail_their_job_only(real_simulator, steady, what, message):
    scenario = hard(steady, what)
    jobs = [{"job": 1, "scenario": scenario, "controller": "rule"}]
    jobs += [{"job": 2, "scenario": steady(duration_s=1), "controller": "rule"}]
    ended = subprocess.run(
        [real_simulator, "run", "-"], input="\n".join(map(json.dumps, jobs)), capture_output=True, text=True,
        preexec_fn=limited(1 << 29), timeout=60,
    )  # fmt: skip
    first, second = map(json.loads, ended.stdout.splitlines())
    assert message in first["error"]
    assert "error" not in second
    assert second["flows"][0]["packets_received"] > 0


def extreme(random, value, name=""):
    """The scenario with some of its numbers at the ends of their ranges, and the length of what takes them."""
    if isinstance(value, dict):
        return {key: extreme(random, inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [extreme(random, inner, name) for inner in value]
    ends = {
        "one_way_delay_ms": [0, 1e9], "extra_one_way_delay_ms": [0, 1e9], "rates_bps": [0, 1, 10**10],
        "rate_bps": [1, 10**10], "packet_bytes": [29, 65_535], "max_rate_bps": [10**10], "start_rate_bps": [10**10],
        "frames_per_second": [0.1, 1000], "key_frame_interval_s": [1e-9, 1e9], "audio_rate_bps": [0, 10**10],
        "audio_packets_per_second": [0.1, 1000], "milliseconds": [1e-9, 1e15], "maximum_ms": [0, 1e9],
        "interval_ms": [0.1, 10_000], "initial_rate_bps": [0, 10**10],
        "standard_deviation_ms": [0, 1e9], "bytes": [1, 10**9], "idle_mean_s": [0, 1e9], "start_s": [0, 1e9],
        "minimum_output_share": [1e-9, 1], "stall_probability": [0, 1], "ratio": [0, 1],
        "rise_time_constant_s": [0, 60], "fall_time_constant_s": [0, 60], "sender_clock_ppm": [-5000, 5000],
    }  # fmt: skip
    return random.choice(ends[name]) if name in ends and random.random() < 0.3 else value


def test_every_legal_scenario_is_answered(real_simulator, steady):
    """A fifth of a second of simulated time, so that no run takes all of its four billion steps."""
    random = Random(1)
    media = [
        {"kind": "filler"},
        {"kind": "video", "frames_per_second": 30, "audio_rate_bps": 32_000, "rise_time_constant_s": 0.1},
    ]
    jitters = [
        {"kind": "none"}, {"kind": "slotted", "interval_ms": 20}, {"kind": "uniform", "maximum_ms": 5},
        {"kind": "truncated_gaussian", "standard_deviation_ms": 5, "maximum_ms": 20, "reorder": True},
        {"kind": "spikes", "gap_mean_s": 0.1, "shortest_ms": 1, "longest_ms": 50},
    ]  # fmt: skip
    jobs = []
    for number in range(15):
        path = {"capacity": {"times_s": [0.0], "rates_bps": [2_000_000]}, "jitter": random.choice(jitters)}
        path["queue_discipline"] = random.choice(["drop_tail", "codel", "dualpi2"])
        flows = [
            {"kind": "rtp", "media": random.choice(media)},
            {"kind": "tcp", "congestion_control": random.choice(["cubic", "bbr", "copa"])},
            {"kind": "tcp", "id": "short", "transfers": {"bytes": [1, 10_000], "idle_mean_s": 0.01}},
            {"kind": "cbr", "rate_bps": 1_000_000},
        ]
        whole = Scenario.make(name="x", duration_s=0.2, forward=path, flows=flows).to_dict()
        controller = random.choice(["rule", "gcc", "gcc-remb", "nada", "pcc", "oracle"])
        jobs.append({"job": number, "scenario": extreme(random, whole), "controller": controller, "series": False})
    ended = subprocess.run(
        [real_simulator, "run", "-"], input="\n".join(map(json.dumps, jobs)), capture_output=True, text=True,
        preexec_fn=limited(1 << 30), timeout=300,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["job"] for answer in answers] == list(range(15))
    refused = [answer["error"] for answer in answers if "error" in answer]
    assert len(refused) < 10, refused


@pytest.mark.parametrize("most_bps", [500_000_000, 10**10])
def test_what_libwebrtc_cannot_count_is_refused(run, steady, most_bps):
    scenario = steady(rate_bps=10**10, duration_s=0.1)
    scenario["flows"][0] |= {"start_rate_bps": most_bps}
    scenario["flows"][0]["media"]["max_rate_bps"] = most_bps
    job = {"job": 1, "scenario": scenario, "controller": "gcc-remb", "series": False}
    (answer,) = run("run", "-", text=json.dumps(job)).stdout.splitlines()
    assert ("gcc-remb takes media of at most 500 Mbps" in json.loads(answer).get("error", "")) == (
        most_bps > 500_000_000
    )


def test_an_environment_out_of_memory_can_be_reset(real_simulator, steady):
    process = subprocess.Popen(
        [real_simulator, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limited(1 << 29)
    )
    request = {
        "interval_ms": 200, "features": ["loss_ratio"],
        "action": {"kind": "rate_bps", "min_bps": 1, "max_bps": 1e10},
    }  # fmt: skip

    def send(kind, payload):
        process.stdin.write(struct.pack("<IB", len(payload), ord(kind)) + payload)
        process.stdin.flush()

    def frame():
        length, kind = struct.unpack("<IB", process.stdout.read(5))
        return chr(kind), process.stdout.read(length)

    send("R", json.dumps(request | {"scenario": hard(steady, "packets that wait for eleven days")}).encode())
    step = struct.pack("<4f", 1e10, *[float("nan")] * 3)
    while (found := frame())[0] in "CO":
        if found[0] == "O":
            send("S", step)
    assert found == ("E", found[1])
    assert found[1].startswith(b"out of memory")
    send("R", json.dumps(request | {"scenario": steady(duration_s=1)}).encode())
    assert [frame()[0], frame()[0]] == ["C", "O"]
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()


def test_a_job_that_is_too_long_is_answered_as_wrong(run):
    first, second = run("run", "-", text='"' + "x" * (65 << 20) + '"\n{"job":2}\n').stdout.splitlines()
    assert json.loads(first) == {"job": None, "error": "a job of more than 64 MiB; shorten its scenario"}
    assert json.loads(second)["job"] == 2


def test_no_name_reaches_the_terminal_as_it_is(run):
    ended = run("run", "\x1b]0;mine\x07\x9b2J.json")
    assert ended.returncode == 2
    assert ended.stderr == "weir-sim: cannot read the scenario ?]0;mine??2J.json (No such file or directory)\n"
