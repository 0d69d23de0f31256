"""Custom controllers in `weir replay`, with the real weir-sim; skipped where that is not built."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from processes import processes_with, wait_until

from weir_cli.errors import InputError, MissingComponent
from weir_eval.runs.custom_controllers import check_custom_names, is_custom, read_custom_controller
from weir_eval.runs.inputs import PathOptions, read_inputs
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_sim.controllers import SIMULATED
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "examples" / "controllers"
HEADER_FOLDER = REPOSITORY / "estimator" / "c"

try:
    find_simulator()
except MissingComponent as error:
    pytest.skip(str(error), allow_module_level=True)

STEADY = "time_s,rate_bps\n0,1000000\n"
GOOD = """
    class Controller:
        def __init__(self, constraints):
            self.constraints = constraints

        def on_packets(self, packets):
            pass

        def on_timeout(self, now_us):
            return 400_000
"""


@pytest.fixture
def steady(tmp_path):
    path = tmp_path / "steady.csv"
    path.write_text(STEADY)
    return path


@pytest.fixture
def write(tmp_path):
    """Writes a file of that name, a program where it begins with #!; returns what to give to --controller."""

    def make(name, text):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip())
        if text.lstrip().startswith("#!"):
            path.chmod(0o755)
        return f"{path}:Controller" if name.endswith(".py") else str(path)

    return make


@pytest.fixture
def build(tmp_path):
    """Builds a shared library of C source; returns its path."""

    def make(name, source):
        code, library = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
        code.write_text(source if isinstance(source, str) else source.read_text())
        command = ["cc", "-shared", "-fPIC", "-O1", "-I", HEADER_FOLDER, code, "-o", library, "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        return str(library)

    return make


@pytest.fixture
def replay(run_weir, steady):
    """Replays a steady link for 5 s; returns status, summary and standard error."""

    def run(*controllers, seconds=5, limit_s=0.3, more=()):
        options = [option for controller in controllers for option in ("--controller", controller)]
        arguments = ["replay", steady, *options, "--duration", seconds, "--seeds", 1, "--objectives", 0, "--jobs", 1]
        status, out, err = run_weir(*arguments, "--controller-time-limit", limit_s, "--json", "--out", "out", *more)
        return status, json.loads(out) if out else None, err

    return run


def children():
    """Processes whose parent is this one, zombies included."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return sorted(map(int, found))


def test_the_examples_score_as_the_rule_that_is_built_in(replay, build):
    library = build("ten_line_library", EXAMPLES / "ten_line_library.c")
    custom = [f"{EXAMPLES / 'ten_line_rule.py'}:Controller", str(EXAMPLES / "ten_line_program"), library]
    # An encoder makes of a difference in rounding another video.
    status, summary, err = replay("rule", *custom, seconds=60, limit_s=10, more=("--media", "filler"))
    assert (status, err) == (0, "")
    rule = summary["controllers"]["rule"]
    for name in ("ten_line_rule", "ten_line_program", "ten_line_library"):
        measured = summary["controllers"][name]
        assert measured["challenge"]["mean"] == pytest.approx(rule["challenge"]["mean"], abs=0.5)
        assert measured["utilisation"]["mean"] == pytest.approx(rule["utilisation"]["mean"], abs=0.01)
        assert measured["p95_queueing_delay_ms"]["mean"] == pytest.approx(rule["p95_queueing_delay_ms"]["mean"], abs=5)


def test_every_run_is_the_same_also_in_a_process_that_has_made_others(replay, write, tmp_path):
    random = write(
        "lots.py",
        """
        import random

        class Controller:
            def __init__(self, constraints):
                self.high = constraints["max_bps"]

            def on_packets(self, packets):
                pass

            def on_timeout(self, now_us):
                return random.uniform(3e5, 9e5)
        """,
    )
    replay(random, seconds=5, more=["--seeds", "3"])
    first = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    shutil.rmtree(tmp_path / "out")
    replay(random, seconds=5, more=["--seeds", "2"])
    second = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    assert first[:2] == second
    assert first[0]["metrics"] != first[1]["metrics"]


def test_custom_controllers_are_in_results_tables_and_page_by_the_name_of_the_file(run_weir, steady, write, tmp_path):
    custom = write("mine.py", GOOD)
    status, out, _ = run_weir(
        "replay", steady, "--controller", custom, "--controller", "rule", "--duration", 5, "--seeds", 1, "--out", "out"
    )
    assert status == 0
    assert "mine" in out
    assert {json.loads(line)["controller"] for line in (tmp_path / "out/results.jsonl").open()} == {"mine", "rule"}
    run = json.loads((tmp_path / "out/summary.json").read_text())["run"]
    assert run["custom_controllers"]["mine"]["source"] == custom
    page = (tmp_path / "out/report.html").read_text()
    assert f"--c-mine: var(--series-{len(SIMULATED) + 1})" in page


def test_a_second_model_runs_beside_the_first_with_and_without_guard(replay, tmp_path):
    second = tmp_path / "second.onnx"
    second.write_bytes(shipped_model().read_bytes())
    status, summary, err = replay("weir", str(second), f"{second}:bare")
    assert (status, err) == (0, "")
    assert set(summary["controllers"]) == {"weir", "second", "second-bare"}
    # The same model, so the same run; and another one without the guard's limit on rises.
    assert summary["controllers"]["second"] == summary["controllers"]["weir"]
    assert summary["controllers"]["second-bare"] != summary["controllers"]["weir"]
    digest = hashlib.sha256(second.read_bytes()).hexdigest()
    assert {about["sha256"] for about in summary["run"]["custom_controllers"].values()} == {digest}
    records = [json.loads(line) for line in (tmp_path / "out/results.jsonl").open()]
    assert {record["model_sha256"] for record in records} == {digest}


def test_a_file_that_is_no_model_fails_its_runs_with_the_reason(replay, tmp_path):
    (tmp_path / "no.onnx").write_text("nothing")
    status, _, err = replay(str(tmp_path / "no.onnx"))
    assert status != 0
    assert "it is not an ONNX model" in err


def test_a_changed_file_is_run_again_and_an_unchanged_one_is_not(replay, write, tmp_path):
    def keys():
        return {json.loads(line)["key"] for line in (tmp_path / "out/results.jsonl").open()}

    replay(write("mine.py", GOOD))
    first = keys()
    replay(write("mine.py", GOOD))
    assert keys() == first
    replay(write("mine.py", GOOD.replace("400_000", "300_000")))
    assert not keys() & first


def test_a_controller_receives_packets_and_feedback(replay, write, tmp_path):
    seen = tmp_path / "seen.jsonl"
    custom = write(
        "curious.py",
        f"""
        import json

        class Controller:
            interval_us = 50_000

            def __init__(self, constraints):
                self.file = open({str(seen)!r}, "w")
                self.tell(constraints)

            def tell(self, what):
                self.file.write(json.dumps(what) + "\\n")
                self.file.flush()

            def on_round_trip_time(self, round_trip_time_us):
                self.tell({{"round_trip_time_us": round_trip_time_us}})

            def on_packets(self, packets):
                self.tell(packets)

            def on_timeout(self, now_us):
                self.tell(now_us)
                print("goes to standard error")
                return 900_000
        """,
    )
    assert replay(custom, seconds=10)[0] == 0
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    assert {"min_bps", "start_bps", "max_bps", "objective", "seed"} == lines[0].keys()
    times = [line for line in lines if isinstance(line, int)]
    assert {b - a for a, b in pairwise(times)} == {50_000}
    packets = [packet for line in lines if isinstance(line, list) for packet in line]
    assert len(packets) > 500
    assert packets[0].keys() == {
        "arrival_time_us", "ssrc", "sequence_number", "payload_type", "kind", "abs_send_time", "header_bytes",
        "payload_bytes", "padding_bytes", "queueing_delay_us", "lost_change",
    }  # fmt: skip
    assert [p["arrival_time_us"] for p in packets] == sorted(p["arrival_time_us"] for p in packets)
    round_trips = [line["round_trip_time_us"] for line in lines if isinstance(line, dict) and "min_bps" not in line]
    assert round_trips
    # Twice 25 ms, each a tenth less at most.
    assert all(45_000 <= round_trip_us < 500_000 for round_trip_us in round_trips)


def test_an_opennetlab_estimator_runs_as_it_is(replay, write, tmp_path):
    seen = tmp_path / "seen.jsonl"
    custom = write(
        "estimator.py",
        f"""
        import json

        class Controller:
            def __init__(self):
                self.file = open({str(seen)!r}, "w")

            def report_states(self, stats):
                self.file.write(json.dumps(stats) + "\\n")
                self.file.flush()

            def get_estimated_bandwidth(self):
                return 500_000
        """,
    )
    status, summary, _ = replay(custom, seconds=70)
    assert status == 0
    assert 0.4 < summary["controllers"]["estimator"]["utilisation"]["mean"] < 0.6
    packets = [json.loads(line) for line in seen.read_text().splitlines()]
    assert packets[0].keys() == {
        "send_time_ms", "arrival_time_ms", "payload_type", "sequence_number", "ssrc", "padding_length",
        "header_length", "payload_size",
    }  # fmt: skip
    # abs-send-time has wrapped once.
    delays = [packet["arrival_time_ms"] - packet["send_time_ms"] for packet in packets]
    assert max(delays) - min(delays) < 300


ANSWERS_START = "#!/bin/sh\nread a\necho '{\"version\":1}'\nread a\n"
# The fault, the text of the file, whether it shows at the start, and a part of the message.
FAULTS = {
    "exits at once": ("#!/bin/sh\necho cannot find my weights >&2\nexit 3\n", True, "status 3.*cannot find my"),
    "killed": ("#!/bin/sh\nkill -9 $$\n", True, "killed by signal 9"),
    "never answers": ("#!/bin/sh\nsleep 1000\n", True, "no answer within 1 s"),
    "closes its output": ("#!/bin/sh\nexec >&-\nexec sleep 1000\n", True, "ended|killed"),
    "garbage": ("#!/bin/sh\nread a\necho hello there\nread a\n", True, 'number "version": hello there'),
    "ten megabytes": ("#!/bin/sh\nhead -c 10000000 /dev/zero\n", True, "64 kB|bytes more than one line"),
    "ten megabytes of lines": ("#!/bin/sh\nyes | head -c 10000000\n", True, "more than one line"),
    "ten megabytes of errors": ("#!/bin/sh\nyes no | head -c 10000000 >&2\n", True, "status 0.*no / no"),
    "two lines": ("#!/bin/sh\nread a\nprintf '{\"version\":1}\\nmore\\n'\nread a\n", True, "more than one line"),
    "another version": (
        "#!/bin/sh\nread a\necho '{\"version\":2}'\nread a\n",
        True,
        "version of the line protocol is not 1",
    ),
    "interval": ('#!/bin/sh\nread a\necho \'{"version":1,"interval_us":0}\'\nread a\n', True, "interval_us is 0"),
    "no interpreter": ("#!/no/such/interpreter\n", True, "cannot be started"),
    "dies later": (ANSWERS_START + "echo weights are gone >&2\n", False, "weights are gone"),
    "stops to answer": (ANSWERS_START + "sleep 1000\n", False, "within 1 s"),
    "infinity": (ANSWERS_START + "echo '{\"target_bps\":Infinity}'\nread a\n", False, "no JSON object"),
    "too much": (ANSWERS_START + "echo '{\"target_bps\":1e300}'\nread a\n", False, r"1e\+300 bit/s"),
    "below zero": (ANSWERS_START + "echo '{\"target_bps\":-1}'\nread a\n", False, "target is -1 bit/s"),
    "echoes": ("#!/bin/sh\nexec cat\n", True, "answers with a question"),
    "escapes": (
        ANSWERS_START + "printf '\\033[31mred\\302\\2331m\\r' >&2\n",
        False,
        r"standard error: \?\[31mred\?1m$",
    ),
    "floods standard error": (ANSWERS_START + "yes >&2\n", False, "within 1 s"),
    "truth": (ANSWERS_START + "echo '{\"target_bps\":true}'\nread a\n", False, "no JSON object with a number"),
    "text": (ANSWERS_START + 'echo \'{"target_bps":"1000000"}\'\nread a\n', False, "no JSON object with a number"),
    "no target": (ANSWERS_START + "echo '{}'\nread a\n", False, "target_bps"),
}
PYTHON_FAULTS = {
    "syntax": ("class Controller:\n    def\n", True, "bad.py line 2: SyntaxError"),
    "no class": ("class Other: pass\n", True, "no class Controller; it has Other"),
    "no method": ("class Controller: pass\n", True, "no method on_packets"),
    "import": ("import no_such_module\n", True, "line 1.*no_such_module"),
    "constructor": (GOOD.replace("self.constraints = constraints", "1 / 0"), True, "bad.py line 3, in __init__: Zero"),
    "not a number": (GOOD.replace("400_000", "float('nan')"), False, "on_timeout returned nan"),
    "truth": (GOOD.replace("400_000", "True"), False, "on_timeout returned True; it must return a number"),
    "text": (GOOD.replace("400_000", "'1000000'"), False, "on_timeout returned '1000000'; it must return a number"),
    "escapes": (GOOD.replace("return 400_000", "raise ValueError('\x1b[31mred')"), False, r"ValueError: \?\[31mred$"),
    "nothing": (GOOD.replace("return 400_000", "pass"), False, "on_timeout returned None"),
    "raises": (GOOD.replace("return 400_000", "return self.nothing"), False, "in on_timeout: AttributeError"),
    "sleeps": (GOOD.replace("return 400_000", "__import__('time').sleep(1000)"), False, "within 1 s"),
}


@pytest.mark.parametrize(
    ("name", "fault"),
    [*(("bad", fault) for fault in FAULTS.values()), *(("bad.py", fault) for fault in PYTHON_FAULTS.values())],
    ids=[*FAULTS, *PYTHON_FAULTS],
)
def test_a_faulty_program_or_class_is_one_clear_message(steady, write, tmp_path, name, fault):
    text, at_start, message = fault
    # It has to be up within ten times its limit. What never answers is waited for.
    limit_s = 5.0 if "within" not in message else 0.1 if at_start else 1.0
    custom = read_custom_controller(write(name, text), limit_s)
    plan = ReplayPlan(
        read_inputs([str(steady)], PathOptions(duration_s=5)), ["bad"], (0.4, 0.5, 0.1), [1], None, find_simulator(),
        custom={"bad": custom},
    )  # fmt: skip
    before = children()
    (failure,) = complete_plans([plan], tmp_path / "out", 1).failures
    assert failure.refused == at_start
    assert failure.describe().startswith("steady, bad, seed 1: the controller bad: ")
    assert re.search(message, failure.error), failure.error
    assert failure.error.isprintable()
    assert len(failure.error) < 1200
    assert children() == before
    assert processes_with(str(tmp_path / name)) == []


def test_a_program_may_be_called_py(replay, write):
    text = (EXAMPLES / "ten_line_program").read_text()
    assert replay(write("program.py", text).removesuffix(":Controller"))[0] == 0


@pytest.mark.parametrize(("fault", "expected"), [("exits at once", 2), ("below zero", 1)])
def test_exit_status_is_2_for_a_failed_start_and_1_for_a_failed_run(replay, write, fault, expected):
    status, _, err = replay(write("bad", FAULTS[fault][0]))
    assert status == expected
    assert "steady, bad, seed 1: the controller bad: " in err


def test_children_of_a_program_end_with_the_replay(replay, write):
    seconds = "98765"
    status, _, _ = replay(write("bad", f"#!/bin/sh\nsleep {seconds}\n"), limit_s=0.02)
    assert status == 2
    wait_until(lambda: not processes_with(f"sleep\0{seconds}"), "the end of what it has started")


def test_other_controllers_go_on_when_one_fails_in_a_run(replay, write):
    bad = write("bad.py", GOOD.replace("return 400_000", "pass"))
    status, summary, _ = replay(bad, "rule")
    assert status == 1
    assert list(summary["controllers"]) == ["rule"]


LIBRARY = """
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir_controller.h>
static void* create(const weir_controller_start* s) { (void)s; return malloc(1); }
static double decide(void* state, const weir_controller_interval* i) { (void)state; (void)i; %s }
static const weir_controller_functions functions = {%s, %s, create, decide, free};
const weir_controller_functions* %s(void) { return &functions; }
"""


@pytest.mark.parametrize(
    ("body", "version", "interval_us", "entry", "status", "message"),
    [
        ("return 4e5;", "WEIR_CONTROLLER_VERSION", "100000", "weir_controller_entry", 0, ""),
        ("return 4e5;", "WEIR_CONTROLLER_VERSION", "100000", "another_name", 2, "exports no function"),
        ("return 4e5;", "WEIR_CONTROLLER_VERSION + 1", "100000", "weir_controller_entry", 2, "built with version 2"),
        ("return 4e5;", "WEIR_CONTROLLER_VERSION", "-7", "weir_controller_entry", 2, "interval_us is -7"),
        ("return NAN;", "WEIR_CONTROLLER_VERSION", "100000", "weir_controller_entry", 1, "target is"),
        ("return INFINITY;", "WEIR_CONTROLLER_VERSION", "100000", "weir_controller_entry", 1, "target is inf"),
        ("for (;;) sleep(1);", "WEIR_CONTROLLER_VERSION", "100000", "weir_controller_entry", 1, "within 0.3 s"),
        ("abort();", "WEIR_CONTROLLER_VERSION", "100000", "weir_controller_entry", 1, "SIGABRT"),
    ],
)
def test_a_shared_library(replay, build, body, version, interval_us, entry, status, message):
    found, _, err = replay(build("mylib", LIBRARY % (body, version, interval_us, entry)))
    assert (found, message in err) == (status, True), err
    if status:
        assert "mylib" in err


def test_an_invalid_library_is_refused(replay, write):
    status, _, err = replay(write("mylib.so", "not a library\n"))
    assert status == 2
    assert "the controller mylib: it cannot be loaded" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine.py", "name the class too"),
        ("missing.py:Controller", "cannot be read"),
        ("./missing", "cannot be read"),
        ("./plain", "no program"),
        ("./", "is no regular file"),
        ("./a b", "rename it"),
    ],
)
def test_invalid_controllers_are_refused_before_anything_runs(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "plain", "a b"):
        (tmp_path / name).write_text("")
    assert is_custom(text)
    with pytest.raises(InputError, match=message):
        read_custom_controller(text)


def test_duplicate_and_built_in_names_are_refused(tmp_path):
    paths = []
    for name in ("a/mine.py", "b/mine.py", "gcc.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        paths.append(read_custom_controller(f"{path}:Controller"))
    with pytest.raises(InputError, match=r"b/mine\.py.*would be called mine.*a/mine\.py"):
        check_custom_names(paths[:2], ["gcc"])
    with pytest.raises(InputError, match="already"):
        check_custom_names(paths[2:], ["gcc"])


def test_the_error_for_an_unknown_name_describes_custom_controllers(replay):
    status, _, err = replay("mine")
    assert status == 2
    assert "FILE.py:CLASS" in err


def test_ctrl_c_ends_the_controllers_too(write, steady, tmp_path, request):
    # Its first decision lasts until it is killed.
    decides = tmp_path / "decides"
    never = f"open({str(decides)!r}, 'w').close(); __import__('threading').Event().wait()"
    custom = write("slow.py", GOOD.replace("return 400_000", never))
    command = [Path(sys.executable).with_name("weir"), "replay", steady, "--controller", custom]
    process = subprocess.Popen(
        [*map(str, command), "--duration", "600", "--controller-time-limit", "600", "--out", tmp_path / "out"]
    )
    request.addfinalizer(process.kill)
    words = custom.removesuffix(":Controller") + "\0"
    wait_until(decides.exists, "the first decision")
    assert any(pid != process.pid for pid in processes_with(words))
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 1
    wait_until(lambda: not processes_with(words), "the end of the controller")
