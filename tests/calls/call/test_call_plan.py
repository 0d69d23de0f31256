import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from weir_calls.call.plan import CallPlan, call_duration_s, done_calls, plan_calls
from weir_calls.call.weir_peer import receiver_arguments, sender_arguments
from weir_cli.files.output import file_name
from weir_eval.runs.custom_controllers import read_custom_controller
from weir_traces.catalogue import load_bundled
from weir_traces.schema.variation import vary


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "weir-peer"
    path.write_bytes(b"one build")
    return path


@pytest.fixture
def plan(tmp_path):
    model = tmp_path / "model.onnx"
    model.write_bytes(b"a model")
    return CallPlan(
        scenarios=[load_bundled("steady-1m"), load_bundled("outage")],
        sender="chromium",
        controllers=("weir", "gcc"),
        objective=(0.4, 0.5, 0.1),
        seeds=range(1, 3),
        width=640,
        height=360,
        codec="VP8",
        max_bitrate_bps=2_500_000,
        model=model,
    )


def test_pairs_are_made_one_after_the_other(plan, program, tmp_path):
    calls = list(plan_calls(plan, tmp_path, [program]).values())
    assert [(call.seed, call.scenario.name, call.controller) for call in calls][:5] == [
        (1, "steady-1m", "weir"), (1, "steady-1m", "gcc"), (1, "outage", "weir"), (1, "outage", "gcc"),
        (2, "steady-1m", "weir"),
    ]  # fmt: skip
    assert len({call.out for call in calls}) == 8
    assert calls[0].out == tmp_path / "calls" / file_name("steady-1m", "weir", 1)
    assert calls[0].model == plan.model
    assert calls[1].model is None


def test_a_call_has_the_path_of_its_seed_as_its_replay_does(plan, program, tmp_path):
    for call in plan_calls(plan, tmp_path, [program]).values():
        varied, random_path = vary(load_bundled(call.scenario.name), call.seed)
        assert (call.scenario, call.variation) == (varied, random_path)
    assert len({call.variation["trace_start_s"] for call in plan_calls(plan, tmp_path, [program]).values()}) == 4


def test_a_key_stands_for_what_determines_the_call(plan, program, tmp_path):
    keys = list(plan_calls(plan, tmp_path, [program]))

    def changed(**changes):
        return [a == b for a, b in zip(plan_calls(replace(plan, **changes), tmp_path, [program]), keys, strict=True)]

    assert changed() == [True] * 8
    assert changed(codec="VP9") == changed(max_bitrate_bps=1_000_000) == changed(height=720) == [False] * 8
    assert changed(duration_s=30.0) == changed(sender="native") == changed(receiver="chromium") == [False] * 8
    # The objective and the model mean nothing to GCC.
    assert changed(objective=(0.8, 0.1, 0.1)) == [False, True] * 4
    plan.model.write_bytes(b"another")
    assert changed() == [False, True] * 4
    program.write_bytes(b"another build")
    assert changed() == [False] * 8


def test_only_policies_have_a_decision_delay(plan, program, tmp_path):
    controllers = ("weir", "gcc", "shadow", "pilot=nada copilots=weir", "rule", "pilot=nada copilots=rule")
    plan = replace(plan, controllers=controllers, seeds=range(1, 2), scenarios=plan.scenarios[:1], sender="native")
    at_once = plan_calls(plan, tmp_path, [program])
    slow = plan_calls(replace(plan, decision_delay_ms=12.5), tmp_path, [program])
    assert [call.decision_delay_ms for call in slow.values()] == [12.5, 0.0, 12.5, 12.5, 0.0, 0.0]
    changed = [call.decision_delay_ms > 0 for call in slow.values()]
    assert [a != b for a, b in zip(at_once, slow, strict=True)] == changed
    assert [a.out != b.out for a, b in zip(at_once.values(), slow.values(), strict=True)] == changed
    command_lines = [receiver_arguments(call, "10.0.0.2", call.model) for call in slow.values()]
    assert ["--decision-delay-ms 12.5" in " ".join(arguments) for arguments in command_lines] == changed


def test_what_is_done_has_its_record_and_its_folder(plan, program, tmp_path):
    calls = plan_calls(plan, tmp_path, [program])
    first, second, third = list(calls)[:3]
    for key in (first, third):
        calls[key].out.mkdir(parents=True)
        (calls[key].out / "call.json").write_text("{}")
    records = [SimpleNamespace(key=key) for key in (first, second, "another")]
    assert list(done_calls(calls, records)) == [first]


def test_how_long_a_call_lasts():
    assert call_duration_s(load_bundled("muses-cross-traffic")) == 110
    assert call_duration_s(load_bundled("steady-50m")) == 20
    assert call_duration_s(load_bundled("rfc8867-5.5")) == 60


def test_a_sender_that_decides_has_the_model_and_its_receiver_only_reports(plan, program, tmp_path):
    plan = replace(plan, sender="native", controllers=("weir-send", "shadow"))
    deciding, shadow = list(plan_calls(plan, tmp_path, [program]).values())[:2]

    def after(arguments, option):
        return arguments[arguments.index(option) + 1] if option in arguments else None

    sent = sender_arguments(deciding, "10.211.0.1", tmp_path / "v.y4m", plan.model)
    received = receiver_arguments(deciding, "10.211.0.2", None)
    assert "--audio" in sent
    assert "--audio" in received
    assert (after(sent, "--controller"), after(sent, "--model")) == ("weir-send", str(plan.model))
    assert after(sent, "--objective") == ",".join(f"{weight:g}" for weight in plan.objective)
    assert (after(received, "--controller"), after(received, "--model")) == ("gcc", None)
    assert after(sent, "--audio-file") is None
    assert after(received, "--received-audio") == str(deciding.out / "received.wav")
    sent = sender_arguments(shadow, "10.211.0.1", tmp_path / "v.y4m", plan.model, tmp_path / "speech.wav")
    assert after(sent, "--audio-file") == str(tmp_path / "speech.wav")
    assert (after(sent, "--controller"), after(sent, "--model"), after(sent, "--objective")) == ("gcc", None, None)
    assert after(receiver_arguments(shadow, "10.211.0.2", plan.model), "--controller") == "shadow"


def test_the_scenario_sets_whether_the_answer_keeps_transport_cc(plan, program, tmp_path):
    usual = plan.scenarios[0]
    flows = [flow.model_copy(update={"transport_cc": False}) for flow in usual.flows]
    plan = replace(plan, scenarios=[usual, usual.model_copy(update={"flows": flows})], seeds=range(1, 2))
    settings = plan_calls(replace(plan, controllers=("weir",)), tmp_path, [program]).values()
    assert [call.name.endswith(", seed 1, REMB alone") for call in settings] == [False, True]
    command_lines = [receiver_arguments(call, "10.211.0.2", call.model) for call in settings]
    assert ["--remb-alone" in arguments for arguments in command_lines] == [False, True]


def test_a_native_sender_gets_the_field_trials_and_its_receiver_only_reports(plan, program, tmp_path):
    plan = replace(plan, sender="native", controllers=("gcc", "scream", "gcc:A/B/"))
    expected = (None, "WebRTC-Bwe-ScreamV2/mode:always/", "A/B/")
    for settings, trials in zip(list(plan_calls(plan, tmp_path, [program]).values())[:3], expected, strict=True):
        sent = sender_arguments(settings, "10.211.0.1", tmp_path / "v.y4m", None)
        received = receiver_arguments(settings, "10.211.0.2", None)
        assert (settings.field_trials or None, settings.model) == (trials, None)
        assert sent[sent.index("--controller") + 1] == received[received.index("--controller") + 1] == "gcc"
        assert (sent[sent.index("--field-trials") + 1] if trials else None) == trials
        assert "--field-trials" not in received


@pytest.mark.parametrize("name", ["nada", "rule"])
def test_a_controller_without_a_model_is_a_pool_of_one_at_the_receiver(plan, program, tmp_path, name):
    plan = replace(plan, sender="native", controllers=(name,))
    settings = next(iter(plan_calls(plan, tmp_path, [program]).values()))
    assert (settings.controller, settings.model, settings.runs_model) == (name, None, False)
    sent = sender_arguments(settings, "10.211.0.1", tmp_path / "v.y4m", None)
    received = receiver_arguments(settings, "10.211.0.2", None)
    assert sent[sent.index("--controller") + 1] == "weir"
    assert received[received.index("--controller") + 1] == f"pilot={name}"


def test_a_changed_file_of_a_custom_controller_makes_another_call(plan, program, tmp_path):
    file = tmp_path / "mine.py"

    def key(text):
        file.write_text(text)
        custom = read_custom_controller(f"{file}:Controller")
        calls = plan_calls(replace(plan, controllers=("mine", "weir"), custom={"mine": custom}), tmp_path, [program])
        settings = [call for call in calls.values() if call.controller == "mine"]
        assert all(call.custom == custom and call.model is None for call in settings)
        arguments = receiver_arguments(settings[0], "10.211.0.2", None)
        assert arguments[arguments.index("--controller") + 1] == "weir"
        assert json.loads(arguments[arguments.index("--custom-controller") + 1])["name"] == "mine"
        assert all(call.custom is None for call in calls.values() if call.controller == "weir")
        return {name for name, call in calls.items() if call.custom}

    first = key("class Controller: pass")
    assert key("class Controller: pass") == first
    assert not key("class Controller: ...") & first


@pytest.mark.parametrize(
    ("playout", "receiver", "limited"),
    [
        ("adaptive", "native", ["weir", "rule", "pilot=nada copilots=weir", "weir-send"]),
        ("limited", "native", ["weir", "rule", "pilot=nada copilots=weir", "weir-send", "gcc", "shadow"]),
        ("unlimited", "native", []),
        ("adaptive", "chromium", []),
    ],
)
def test_a_native_receiver_limits_playout_in_calls_in_which_weir_decides(
    plan, program, tmp_path, playout, receiver, limited
):
    controllers = ("weir", "rule", "pilot=nada copilots=weir", "weir-send", "gcc", "shadow")
    plan = replace(
        plan, controllers=controllers, seeds=[1], scenarios=plan.scenarios[:1], sender="native", playout=playout,
        receiver=receiver,
    )  # fmt: skip
    calls = plan_calls(plan, tmp_path, [program]).values()
    limits = [call.controller for call in calls if "--limit-playout" in receiver_arguments(call, "10.0.0.1", None)]
    assert limits == limited
    assert all(("playout" in call.name) == (playout != "adaptive") for call in calls)
