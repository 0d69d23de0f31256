"""Adaptation to a new objective: replay, starting points, warm-up, the command."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import checked_configuration

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

NEW = (0.2, 0.6, 0.2)
FORMER = "the model it started from, on the held-out part"
KEEP = ": keep the old model, or train longer with --steps, or give more traces"


@pytest.fixture
def values(values):
    """Few steps, with what adaptation needs."""
    environment = values["environment"] | {"reward": "mocc", "privileged_critic": True}
    ppo = {"steps_per_update": 64, "batch_size": 64, "epochs": 2}
    return values | {"steps": 256, "environment": environment, "ppo": ppo}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a trained run and its exported model, once the first test has made them."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def run(values, tmp_path, fake_simulator, prepared):
    """A trained run and its exported model: folder and file."""
    if not any(prepared.iterdir()):
        make_run(values, prepared, fake_simulator)
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run", tmp_path / "small.onnx"


def make_run(values, folder, fake_simulator):
    from weir_train.learning.algorithms import load_policy
    from weir_train.learning.provenance import provenance_of_run
    from weir_train.learning.train import train
    from weir_train.model.export import export

    configuration = checked_configuration(values)
    result = train(configuration, folder / "run", simulator=fake_simulator)
    specification = configuration.environment.specification()
    provenance = provenance_of_run(folder / "run", result.checkpoint)
    policy = load_policy(result.checkpoint)
    export(policy, specification, folder / "small.onnx", name="small", provenance=provenance)


@pytest.fixture
def other(values):
    """Settings whose network and features are not the model's, for the sender's side."""
    return checked_configuration(
        values
        | {
            "environment": values["environment"]
            | {"history": 4, "interval_ms": 100, "action": {"kind": "around_rule"}, "side": "sender"},
            "policy": {"hidden": [4], "preference_size": 2},
        }
    )


def test_only_ppo_adapts(values, fake_simulator):
    from weir_train.learning.adaptation import learn

    other = checked_configuration(values).model_copy(update={"algorithm": "td3"})
    with pytest.raises(InputError, match=r"algorithm td3: .* ppo only"):
        learn(other, NEW, steps=128, simulator=fake_simulator)


def draw_requirements(replay, count=4000):
    generator = np.random.default_rng(1)
    return [tuple(replay(generator)) for _ in range(count)]


def test_replay_shares_the_episodes_out():
    from weir_train.learning.adaptation import RequirementReplay

    old = [(0.6, 0.3, 0.1), "latency"]
    objectives = draw_requirements(RequirementReplay((2, 6, 2), old, 0.5))
    shares = {weights: objectives.count(weights) / len(objectives) for weights in set(objectives)}
    assert set(shares) == {(0.2, 0.6, 0.2), (0.6, 0.3, 0.1), (0.1, 0.8, 0.1)}
    assert 0.47 < shares[(0.2, 0.6, 0.2)] < 0.53
    assert 0.22 < shares[(0.6, 0.3, 0.1)] < 0.28
    assert set(draw_requirements(RequirementReplay(NEW, old, 0.0), 100)) == {NEW}
    assert len(set(draw_requirements(RequirementReplay(NEW, ["random"], 0.5), 100))) > 30


@pytest.mark.parametrize(
    ("old", "share", "message"), [(["random"], 1.0, "below 1"), (["random"], -0.1, "below 1"), ([], 0.5, "no old")]
)
def test_replay_that_cannot_be(old, share, message):
    from weir_train.learning.adaptation import RequirementReplay

    with pytest.raises(InputError, match=message):
        RequirementReplay(NEW, old, share)


def test_a_model_file_gives_the_actor_back(run, other):
    import torch

    from weir_train.learning.algorithms import load_policy
    from weir_train.learning.starting_point import read_starting_point

    folder, file = run
    start = read_starting_point(file, other)
    policy = load_policy(folder / "checkpoint.zip").state_dict()
    assert not start.has_critic
    assert len(start.parameters) == 8
    for name, value in start.parameters.items():
        assert torch.equal(value, policy[name]), name
    assert start.old_objectives == ("throughput",)
    settings = start.configuration
    assert (settings.environment.history, settings.environment.interval_ms) == (2, 200)
    assert settings.environment.action.kind == "log_rate"
    assert settings.environment.side == "sender"
    assert settings.policy.hidden == (16, 8)
    for whole in (folder, folder / "checkpoint.zip"):
        start = read_starting_point(whole, other)
        assert start.has_critic
        assert set(start.parameters) == set(policy)
        assert start.configuration.environment == settings.environment


def test_the_critic_warms_up_before_the_actor_moves(run, other, fake_simulator):
    import torch

    from weir_train.learning.adaptation import adapt
    from weir_train.learning.starting_point import read_starting_point

    _, file = run
    start = read_starting_point(file, other)
    states = []

    def on_update(state):
        parameters = {name: value.clone() for name, value in state.policy.state_dict().items()}
        states.append((state.steps, state.warming_up, parameters))

    learned = adapt(start, NEW, steps=384, warm_up_steps=256, simulator=fake_simulator, on_update=on_update)
    assert [state[:2] for state in states] == [(0, True), (128, True), (256, False), (384, False)]
    assert learned.steps == 384
    assert not learned.interrupted
    first, _, warm, last = (state[2] for state in states)

    def moved(a, b):
        return {name for name in a if not torch.equal(a[name], b[name])}

    assert moved(first, {**first, **start.parameters}) == set()
    assert moved(first, warm)
    assert all("value" in name for name in moved(first, warm))
    assert {"action_net.weight", "log_std", "value_net.weight"} < moved(warm, last)


def test_adaptation_learns_the_new_objective(run, values, fake_simulator):
    from weir_train.learning.adaptation import adapt
    from weir_train.learning.starting_point import read_starting_point

    settings = checked_configuration(
        values
        | {
            "environment": values["environment"] | {"environments": 4},
            "ppo": {"steps_per_update": 128, "batch_size": 64, "learning_rate": 1e-3, "gamma": 0.5, "epochs": 6},
        }
    )
    rewards = []
    start = read_starting_point(run[1], settings)
    adapt(
        start,
        (0.7, 0.2, 0.1),
        steps=8_192,
        warm_up_steps=1024,
        simulator=fake_simulator,
        on_update=lambda state: rewards.append(state.mean_reward),
    )
    # Hardly anything is learned in the 256 steps of the run; best is about 1.
    assert rewards[1] < 0.75
    assert 0.8 < rewards[-1] <= 1.0


def test_a_model_that_cannot_be_adapted(tmp_path, run, other, fake_simulator):
    import onnx

    from weir_train.learning.adaptation import adapt
    from weir_train.learning.starting_point import read_starting_point

    model = onnx.load(str(run[1]))
    provenance = next(entry for entry in model.metadata_props if entry.key == "weir.provenance")
    description = json.loads(provenance.value)
    provenance.value = json.dumps(description | {"network": {"hidden": [8, 8], "preference": 4}})
    (tmp_path / "wrong.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=r"does not match its description: .*hidden"):
        adapt(read_starting_point(tmp_path / "wrong.onnx", other), NEW, steps=128, simulator=fake_simulator)
    provenance.value = json.dumps(description | {"algorithm": "TD3 (stable-baselines3)"})
    (tmp_path / "td3.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="was not trained with PPO"):
        read_starting_point(tmp_path / "td3.onnx", other)
    for broken in ({"adaptations": 5}, {"adaptations": [{}]}, {"network": "wide"}, {"objectives": [1, "2", None]}):
        provenance.value = json.dumps(description | broken)
        (tmp_path / "broken.onnx").write_bytes(model.SerializeToString())
        with pytest.raises(InputError, match="its provenance is broken"):
            read_starting_point(tmp_path / "broken.onnx", other)
    provenance.value = '"from a friend"'
    (tmp_path / "foreign.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="provenance lacks algorithm, action, network"):
        read_starting_point(tmp_path / "foreign.onnx", other)
    with pytest.raises(InputError, match="no such checkpoint"):
        read_starting_point(tmp_path / "nowhere", other)


@pytest.fixture
def settings_file(values, write_toml):
    environment = {"environments": 2, "features": values["environment"]["features"]}
    return write_toml({"environment": environment} | {key: values[key] for key in ("scenarios", "policy", "ppo")})


def test_the_command_twice(run, settings_file, tmp_path, weir, other):
    from weir_eval.model_file import read_model
    from weir_train.learning.starting_point import read_starting_point

    arguments = ["--objective", "2,6,2", "--steps", 256, "--configuration", settings_file]
    once = tmp_path / "once.onnx"
    result = weir("adapt", run[1], "--out", once, *arguments)
    assert result.exit_code == 0, result.output
    assert "256 steps for 0.2, 0.6, 0.2" in result.output
    assert "adaptations" in once.with_suffix(".md").read_text()
    twice = tmp_path / "twice.onnx"
    result = weir("adapt", once, "--out", twice, "--replay", 0.25, *arguments)
    assert result.exit_code == 0, result.output
    assert read_starting_point(once, other).old_objectives == ("throughput", (0.2, 0.6, 0.2))
    model = read_model(twice)
    assert "interrupted" not in model.provenance["adaptations"][0]
    assert model.version == "0.1.0+adapted"
    assert [entry["replay"] for entry in model.provenance["adaptations"]] == [0.5, 0.25]
    assert model.provenance["adaptations"][0]["objective"] == [0.2, 0.6, 0.2]


def test_what_a_model_has_beyond_this_version_stays_and_no_folder_is_left(
    run, settings_file, tmp_path, weir, monkeypatch
):
    import tempfile

    import onnx

    model = onnx.load(str(run[1]))
    model.metadata_props.add(key="weir.ranges", value="0,1")
    (tmp_path / "ranges.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    out = tmp_path / "once.onnx"
    arguments = ["--objective", "2,6,2", "--steps", 128, "--configuration", settings_file]
    assert weir("adapt", tmp_path / "ranges.onnx", "--out", out, *arguments).exit_code == 0
    assert {entry.key: entry.value for entry in onnx.load(str(out)).metadata_props}["weir.ranges"] == "0,1"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_interruption_keeps_what_is_learned(run, settings_file, tmp_path, weir, monkeypatch):
    from weir_eval.model_file import read_model
    from weir_train.learning import adaptation

    report = adaptation._Watch._report

    def interrupt(watch):
        report(watch)
        if watch.num_timesteps >= 256:
            raise KeyboardInterrupt

    monkeypatch.setattr(adaptation._Watch, "_report", interrupt)
    out = tmp_path / "new.onnx"
    result = weir(
        "adapt", run[1], "--objective", "latency", "--steps", 9999, "--out", out, "--configuration", settings_file
    )
    assert result.exit_code == 1
    assert "interrupted after 256 of 9,999 steps" in result.output
    (entry,) = read_model(out).provenance["adaptations"]
    assert (entry["steps"], entry["interrupted"]) == (256, True)


def test_a_model_learns_on_traces_and_is_judged_on_those_held_out(run, settings_file, tmp_path, weir, steady):
    from weir_eval.model_file import read_model
    from weir_train.learning.starting_point import read_starting_point

    traces = []
    for name in ("a", "b", "c"):
        Scenario.from_dict(steady(name, rate_bps=2e6, duration_s=4.0)).save(tmp_path / f"{name}.json")
        traces += ["--traces", tmp_path / f"{name}.json"]
    out = tmp_path / "mine.onnx"
    arguments = ["--steps", 256, "--configuration", settings_file, *traces]
    result = weir("adapt", run[1], "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    assert "256 steps\n" in result.output
    assert "mean reward 'mocc' per step (0 to 1, higher is better) on b, held out, 4 s: " in result.output
    assert "too short to tell which is better: intervals need 6 independent traces" in result.output
    assert "the reward is not call quality" in result.output
    (entry,) = read_model(out).provenance["adaptations"]
    assert entry["traces"] == ["a", "c"]
    assert "objective" not in entry
    # A later adaptation replays the objectives that are known.
    assert read_starting_point(out, checked_configuration(load(settings_file))).old_objectives == ("throughput",)
    both = tmp_path / "both.onnx"
    result = weir("adapt", out, "--objective", "latency", "--out", both, *arguments)
    assert result.exit_code == 0, result.output
    assert "objective" in read_model(both).provenance["adaptations"][1]


@pytest.mark.parametrize(
    ("scenarios", "gain", "expected"),
    [
        (6, 0.01, f"\nbetter than {FORMER}"),
        (6, -0.01, f"\nworse than {FORMER}{KEEP}"),
        (6, 0.0, f"\nnot shown to differ from {FORMER}{KEEP}"),
        (
            2,
            -0.01,
            f"\nworse than {FORMER}, by the mean alone{KEEP}\ntoo short to tell which is better: intervals need",
        ),
        (2, 0.01, "too few scenarios for an interval (2)\ntoo short to tell which is better: intervals need 6"),
        (1, float("nan"), "too short to tell which is better"),
    ],
)
def test_held_out_rewards_have_an_interval_over_independent_scenarios(steady, scenarios, gain, expected):
    from weir_train.adapt_command import held_out_verdict

    documents = [steady(f"t{number}", rate_bps=1e6 * (number + 1), duration_s=4.0) for number in range(scenarios)]
    before = np.linspace(0.4, 0.6, scenarios)
    text = held_out_verdict("challenge", documents, before, before + gain * np.linspace(0.9, 1.1, scenarios))
    assert "mean reward 'challenge' per step (-1 to 1, higher is better) on t0" in text
    assert f"held out, {4 * scenarios} s: " in text
    assert expected in text


def test_nearly_equal_held_out_scenarios_count_once(steady):
    from weir_train.adapt_command import held_out_verdict

    documents = [steady(f"t{number}", rate_bps=2e6, duration_s=4.0) for number in range(8)]
    assert "too few scenarios for an interval (1)" in held_out_verdict("mocc", documents, np.zeros(8), np.ones(8))


def test_an_objective_alone_prints_how_to_judge_the_model(run, settings_file, tmp_path, weir):
    out = tmp_path / "new.onnx"
    result = weir(
        "adapt", run[1], "--objective", "2,6,2", "--steps", 128, "--out", out, "--configuration", settings_file
    )
    assert result.exit_code == 0, result.output
    assert "(0 to 1, higher is better) on 16 scenarios, held out, 480 s: " in result.output
    assert re.search(f"(better than|worse than|not shown to differ from) {FORMER}", result.output)
    assert "the reward is not call quality" in result.output
    assert (
        f"weir replay TRACE --controller {out} --controller {run[1]} --controller weir --reference weir "
        "--objective 0.2,0.6,0.2"
    ) in result.output


def test_a_model_of_no_update_is_reported_as_unchanged(run, settings_file, tmp_path, weir, monkeypatch):
    from weir_train.learning import adaptation

    def interrupt(watch):
        raise KeyboardInterrupt

    monkeypatch.setattr(adaptation._Watch, "_on_rollout_end", interrupt)
    out = tmp_path / "new.onnx"
    result = weir("adapt", run[1], "--objective", "latency", "--out", out, "--configuration", settings_file)
    assert result.exit_code == 1
    assert f"nothing changed: {out} decides as {run[1]} does, since it ended before the first update" in result.output
    assert "mean reward" not in result.output


def test_repairs_of_traces_are_listed(run, settings_file, tmp_path, weir):
    pattern = [{"duration": 500, "capacity": 1000}] * 20 + [{"duration": 0, "capacity": 1000}] * 25
    (tmp_path / "spikes.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    arguments = ["--traces", tmp_path / "spikes.json", "--steps", 128, "--configuration", settings_file]
    result = weir("adapt", run[1], "--out", tmp_path / "new.onnx", *arguments)
    assert result.exit_code == 0, result.output
    assert result.output.count("weir: " + str(tmp_path / "spikes.json") + ": ") == 20
    assert result.output.count("repair: ") == 20
    assert "weir: and 5 more; 'weir traces validate' shows all" in result.output


def test_the_shipped_model_is_named_once_in_the_command_that_judges():
    from weir_train.adapt_command import how_to_judge

    command = how_to_judge(Path("new.onnx"), Path("models/weir.onnx"), None).splitlines()[-1]
    assert command == "weir replay TRACE --controller new.onnx --controller weir --reference weir"


def test_help_has_the_number_of_steps_without_options(weir):
    from weir_train.adapt_command import DEFAULT_CONFIGURATION

    steps = load(DEFAULT_CONFIGURATION)["steps"]
    text = " ".join(re.sub(r"[│|]", " ", weir("adapt", "--help").output).split())
    assert f"{steps:,} steps, or --minutes, whichever is first; for longer add --steps" in text
    assert f"Default: {steps:,}, or those of --configuration" in text


def load(path):
    return tomllib.loads(path.read_text())


def test_episodes_are_on_traces_and_former_paths_by_the_share():
    from weir_train.learning.adaptation import PathReplay

    replay = PathReplay(lambda seed: "trace", lambda seed: "path", 0.25)
    drawn = [replay(seed) for seed in range(2000)]
    assert 0.22 < drawn.count("path") / len(drawn) < 0.28
    assert [replay(seed) for seed in range(50)] == drawn[:50]


def test_a_time_limit_ends_an_adaptation_with_a_model(run, settings_file, tmp_path, weir, monkeypatch):
    from weir_eval.model_file import read_model
    from weir_train.learning import time_limit

    readings = iter(range(10**6))
    # A second per reading, one reading per step of both environments: over in the third update.
    monkeypatch.setattr(time_limit, "monotonic", lambda: float(next(readings)))
    out = tmp_path / "new.onnx"
    arguments = ["--objective", "latency", "--steps", 9999, "--minutes", 2.5, "--configuration", settings_file]
    result = weir("adapt", run[1], "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    assert "the time limit of 2.5 minutes ended it after 300 of 9,999 steps" in result.output
    (entry,) = read_model(out).provenance["adaptations"]
    assert (entry["steps"], entry["interrupted"]) == (300, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--objective": "fast"}, "--objective 'fast': give three weights"),
        ({"--objective": "1,2"}, "--objective '1,2': give three weights"),
        ({"--out": "new.pt"}, "ends with .onnx"),
        ({"--out": "nowhere/new.onnx"}, "its folder is missing"),
        ({"--out": "{model}"}, "is an input of the training"),
        ({"--configuration": "none.toml"}, "none.toml: no such file"),
    ],
)
def test_wrong_use_is_one_message(run, settings_file, tmp_path, weir, changes, message):
    options = {"--objective": "latency", "--out": str(tmp_path / "new.onnx"), "--configuration": str(settings_file)}
    options |= {key: value.format(model=run[1]) for key, value in changes.items()}
    result = weir("adapt", run[1], *(part for pair in options.items() for part in pair), catch=True)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_an_adaptation_to_nothing_is_refused(run, settings_file, weir):
    result = weir("adapt", run[1], "--configuration", settings_file, catch=True)
    assert isinstance(result.exception, InputError)
    assert "give --traces, --objective, or both" in str(result.exception)
