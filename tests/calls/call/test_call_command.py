"""`weir call` as a user meets it, over a made-up link: what is run, kept, made again, and said."""

import json
import os

import pytest

from weir_calls import call_command, requirements
from weir_calls.call.summary import read_calls
from weir_cli.errors import MissingComponent
from weir_cli.files.output import file_name
from weir_eval.records.call_record import CallRecord


@pytest.fixture
def weir(tmp_path, fake_call, fake_peer, simulated_link, monkeypatch, run_weir):
    """Runs `weir ARGUMENTS` in a folder with the scenario steady.json; status, standard output, standard error."""
    monkeypatch.setattr(call_command, "check_requirements", lambda sender, receiver: None)
    fake_call.call_settings(tmp_path).scenario.save("steady.json")
    # A call takes no less than 5 s, unless its scenario does.
    data = json.loads((tmp_path / "steady.json").read_text()) | {"duration_s": 0.4}
    (tmp_path / "steady.json").write_text(json.dumps(data))
    return run_weir


CALL = ("call", "steady.json", "--sender", "native", "--out", "here")


def results(tmp_path):
    return [json.loads(line) for line in (tmp_path / "here/results.jsonl").read_text().splitlines()]


def test_a_comparison_is_made_once_and_the_rest_is_reused(weir, tmp_path):
    status, out, _ = weir(*CALL, "--compare")
    assert status == 0
    assert "3 calls. Report: here/report.html" in out
    assert [(result["controller"], result["seed"]) for result in results(tmp_path)] == [
        ("weir", 1),
        ("gcc", 1),
        ("scream", 1),
    ]
    assert (tmp_path / "here/calls" / file_name("steady", "weir", 1) / "call.json").is_file()
    assert (tmp_path / "here/report.html").stat().st_size > 1000
    status, out, error = weir(*CALL, "--compare", "--seeds", 2)
    assert status == 0
    assert "6 calls (3 of them from an earlier run)" in out
    names = ("weir", "gcc", "scream")
    assert error.splitlines() == [f"steady, {name}, seed 2" for name in names]
    assert [(result["controller"], result["seed"]) for result in results(tmp_path)][3:] == [(name, 2) for name in names]


def test_any_controller_is_compared_with_libwebrtcs_and_can_fail(weir, tmp_path):
    command = (*CALL, "--controller", "rule", "--compare")
    status, out, error = weir(
        *command, "--reference", "scream", "--require", "frozen_share<=scream", "--require", "vmaf_mean>=1"
    )
    assert status == 1
    assert error.splitlines() == [f"steady, {name}, seed 1" for name in ("rule", "gcc", "scream")]
    lines = out.splitlines()
    assert [line for line in lines if " against " in line] == [
        f"{name} against scream: Call quality 0.0: level; Frozen 0.00 points: level" for name in ("gcc", "rule")
    ]
    required = [line for line in lines if line.startswith("required")]
    assert [line.endswith(": met") for line in required] == [True, True, False, False]
    assert required[2] == "required vmaf_mean>=1: gcc not measured: NOT MET"
    assert weir(*command, "--reference", "nada")[0] == 2
    assert weir(*command, "--require", "challenge>=gcc")[0] == 2


def test_several_controllers_make_the_same_calls_in_succession(weir, tmp_path):
    (tmp_path / "mine.py").write_text("class Controller: pass")
    names = ("gcc", "nada", "rule", "mine.py:Controller", "pilot=weir copilots=nada", "gcc")
    options = [word for name in names for word in ("--controller", name)]
    (tmp_path / "reverse.csv").write_text("time_s,rate_bps\n0,100000\n10,100000\n")
    path = ("--queue", "50ms", "--loss", "0.02", "--one-way-delay", "70", "--reverse", "reverse.csv")
    status, _, error = weir(*CALL, *options, *path, "--seeds", 2)
    assert status == 0, error
    labels = ["gcc", "nada", "rule", "mine", "pilot=weir copilots=nada"]
    assert error.splitlines() == [f"steady, {name}, seed {seed}" for seed in (1, 2) for name in labels]
    found = results(tmp_path)
    assert [(result["controller"], result["seed"]) for result in found] == [
        (name, seed) for seed in (1, 2) for name in labels
    ]
    scenarios = [
        json.loads((tmp_path / "here/calls" / result["call"]["folder"] / "scenario.json").read_text())
        for result in found
    ]
    # One path a seed, for every controller.
    assert all(scenario["forward"] == scenarios[0]["forward"] for scenario in scenarios[: len(labels)])
    assert scenarios[0]["forward"]["queue"] == {"milliseconds": 50}
    assert scenarios[0]["forward"]["loss"] == {"kind": "bernoulli", "ratio": 0.02}
    # Seeds vary the delays.
    assert all(60 < scenarios[0][link]["one_way_delay_ms"] < 80 for link in ("forward", "reverse"))
    assert set(scenarios[0]["reverse"]["capacity"]["rates_bps"]) == {100000}
    page = (tmp_path / "here/report.html").read_text()
    assert all(name in page for name in labels)


def test_json_is_the_summary_and_nothing_else(weir):
    status, out, error = weir(*CALL, "--json")
    assert (status, error) == (0, "")
    assert json.loads(out)["run"]["planned"] == 1


def test_a_decision_delay_is_in_the_record_and_on_the_page(weir, tmp_path):
    status, _, error = weir(*CALL, "--decision-delay", 30, "--controller", "weir", "--controller", "gcc")
    assert status == 0, error
    found = results(tmp_path)
    assert [(result["controller"], result["call"]["decision_delay_ms"]) for result in found] == [
        ("weir", 30.0),
        ("gcc", 0.0),
    ]
    page = (tmp_path / "here/report.html").read_text()
    assert "Decision delay" in page
    assert "weir-30ms" not in page
    # Beside calls without one it is part of the controller's name.
    delayed, other = (CallRecord.model_validate_json(json.dumps(result)) for result in found)
    at_once, without_transport_cc = (
        delayed.model_copy(update={"call": delayed.call.model_copy(update={"decision_delay_ms": 0.0} | more)})
        for more in ({}, {"transport_cc": False})
    )
    names = [call.controller for call in read_calls([at_once, delayed, without_transport_cc, other])]
    assert names == ["weir", "weir-30ms", "weir-remb-alone", "gcc"]
    assert [call.controller for call in read_calls([delayed, without_transport_cc])] == ["weir-30ms", "weir-remb-alone"]


def test_a_failed_call_is_status_1_and_is_made_again(weir, tmp_path, fake_peer):
    fake_peer(receive="die in call")
    status, out, error = weir(*CALL)
    assert status == 1
    assert "steady, weir, seed 1: the receiver (weir-peer) was killed by SIGKILL" in error
    assert "excluded: steady, weir, seed 1: ended early" in out
    assert results(tmp_path) == []
    fake_peer()
    again = weir(*CALL)
    assert again[0] == 0, again
    assert len(results(tmp_path)) == 1


def test_output_of_programs_is_escaped_on_the_terminal(weir, fake_peer):
    fake_peer(receive="escape")
    status, out, error = weir(*CALL)
    assert status == 1
    assert "\\x1b[2Jgone" in error
    assert "\\x1b[2Jgone" in out
    assert "\x1b" not in out + error


def test_a_disturbed_call_is_marked(weir, monkeypatch):
    monkeypatch.setattr("weir_calls.call.record.disturbances", lambda *_: ["the encoder was short of CPU"])
    status, out, _ = weir(*CALL)
    assert status == 0
    assert "excluded: steady, weir, seed 1: disturbed: the encoder was short of CPU" in out


def test_the_same_command_makes_disturbed_calls_again(weir, tmp_path):
    again = weir(*CALL)
    assert again[0] == 0, again
    (record,) = results(tmp_path)
    record["call"]["disturbed"] = ["the encoder was short of CPU"]
    (tmp_path / "here/results.jsonl").write_text(json.dumps(record) + "\n")
    assert "earlier run" not in weir(*CALL)[1]
    assert [result["call"]["disturbed"] for result in results(tmp_path)] == [[]]
    status, out, error = weir(*CALL)
    assert "(1 of them from an earlier run)" in out, (status, error)


def test_a_model_that_vanishes_is_status_3_and_ends_everything(weir, tmp_path, fake_peer):
    fake_peer(receive="missing model")
    status, _, error = weir(*CALL, "--seeds", 3)
    assert status == 3
    assert "m.onnx: no such file" in error
    assert not (tmp_path / "here/calls" / file_name("steady", "weir", 2)).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sender", "firefox"), "--sender 'firefox': not known; use chromium, native"),
        (
            ("--controller", "pcc"),
            "--controller 'pcc': not known; did you mean gcc? use weir, gcc, shadow, scream, weir-send,",
        ),
        (("--size", "1x1"), "--size '1x1': not known; use 1280x720, 640x360"),
        (("--codec", "AV1"), "--codec 'AV1': not known; use VP8, VP9"),
        (("--objective", "1,2"), "--objective '1,2'"),
        (("--max-bitrate", "1G"), "must be between 50k and 50M"),
        (("--model", "none.onnx"), "--model 'none.onnx': no such file"),
        (("--queue", "many"), "many"),
        (("--reverse", "none.up"), "none.up: no such file"),
        (
            ("--sender", "chromium", "--controller", "gcc", "--controller", "weir-send"),
            "'weir-send': runs at the sender",
        ),
        (("--receiver", "chromium", "--controller", "gcc", "--controller", "nada"), "--receiver 'chromium': requires"),
        (
            ("--receiver", "chromium", "--sender", "native", "--controller", "gcc", "--playout", "limited"),
            "--playout 'limited': requires --receiver native",
        ),
        (("--decision-delay", "-1"), "--decision-delay '-1': must be greater than or equal to 0"),
        (("--decision-delay", "10001"), "--decision-delay '10001': must be less than or equal to 10000"),
        (("--decision-delay", "nan"), "--decision-delay 'nan': must be"),
        (
            ("--decision-delay", "30", "--controller", "gcc"),
            "--decision-delay '30': requires a controller with a policy",
        ),
        (("--decision-delay", "30", "--controller", "pilot=nada copilots=rule"), "requires a controller with a policy"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(weir, arguments, message):
    status, _, error = weir(*CALL, *arguments)
    assert status == 2
    assert message in error
    assert "Traceback" not in error


@pytest.mark.skipif(os.geteuid() != 0, reason="of root alone")
def test_root_makes_no_calls_in_a_folder_of_another_user(weir, tmp_path):
    (tmp_path / "here/calls").mkdir(parents=True)
    os.chown(tmp_path / "here", 1234, 1234)
    status, _, error = weir(*CALL)
    assert (status, "here belongs to user 1234" in error) == (2, True), error
    assert list((tmp_path / "here").rglob("*")) == [tmp_path / "here/calls"]
    status, _, error = weir("serve", "--out", "here/served", "--no-browser")
    assert (status, "here belongs to user 1234" in error) == (2, True), error


def test_everything_that_is_missing_is_one_message_before_anything_starts(weir, tmp_path, monkeypatch):
    def forbidden():
        raise MissingComponent("user and network namespaces cannot be made here: use sudo")

    monkeypatch.setattr(call_command, "check_requirements", requirements.check_requirements)
    monkeypatch.setattr(requirements, "find_link_devices", forbidden)
    monkeypatch.setattr(requirements, "CHROMIUM", "/nowhere/chromium")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("WEIR_PEER", "/nowhere/weir-peer")
    monkeypatch.setenv("WEIR_SIM", "/nowhere/weir-sim")
    status, out, error = weir("call", "steady.json", "--out", "here")
    assert (status, out) == (3, "")
    missing = [line for line in error.splitlines() if line.startswith("  - ")]
    for number, name in enumerate(("namespaces", "/nowhere/chromium", "setpriv", "weir-peer", "weir-sim")):
        assert name in missing[number]
    assert all(":" in line for line in missing)
    assert not (tmp_path / "here").exists()
    # A native call needs no browser.
    assert "chromium" not in weir(*CALL)[2]
