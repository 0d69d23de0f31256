"""A training in stages is one command after the other, with the settings of each."""

from pathlib import Path

import numpy as np
import pytest

import weir_train
from weir_cli.errors import InputError, MissingComponent
from weir_train.configuration.training import checked_configuration, load_configuration

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

WEIR_TOML = Path(weir_train.__file__).parent / "configs" / "weir.toml"
STAGES = (
    {"steps": 512, "ppo": {"weight_average_decay": 0.5}},
    {"steps": 768, "ppo": {"weight_average_decay": 0.9}},
)


@pytest.fixture
def staged(values):
    return {key: value for key, value in values.items() if key != "steps"} | {"stages": list(STAGES)}


def weights(folder):
    from weir_train.learning.algorithms import load_policy

    return {name: value.numpy() for name, value in load_policy(folder / "averaged.zip").state_dict().items()}


def test_stages_are_the_commands_one_after_the_other(values, staged, tmp_path, fake_simulator):
    from weir_train.learning.checkpoint import read_checkpoint
    from weir_train.learning.run_record import load_run_configuration, read_training_record
    from weir_train.learning.stages import stage_file, train_in_stages
    from weir_train.learning.train import train

    result = train_in_stages(checked_configuration(staged), tmp_path / "staged", simulator=fake_simulator, command="c")
    expected = []
    for number, stage in enumerate(STAGES):
        stage_values = values | {"steps": stage["steps"], "ppo": values["ppo"] | stage["ppo"]}
        train(checked_configuration(stage_values), tmp_path / "by hand", resume=number > 0, simulator=fake_simulator)
        expected.append(weights(tmp_path / "by hand"))
    assert result.steps == 768
    first, last = expected
    found = weights(tmp_path / "staged")
    assert all(np.array_equal(found[name], last[name]) for name in last)
    kept = read_checkpoint(tmp_path / "staged" / stage_file(1))
    assert kept.steps == 512
    assert {f"policy/{name}" for name in first} == set(kept.arrays)
    assert all(np.array_equal(kept.arrays[f"policy/{name}"], first[name]) for name in first)
    record, configuration = read_training_record(tmp_path / "staged"), load_run_configuration(tmp_path / "staged")
    assert (record.steps, record.interrupted) == (768, False)
    assert [(part.first_step, part.command) for part in record.parts] == [(0, "c")]
    assert (configuration.stages, configuration.ppo.weight_average_decay) == (STAGES, 0.9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": [{"steps": 768}, {"steps": 512}]}, "stages: each needs steps, more than the one before it"),
        ({"stages": [{"ppo": {"epochs": 3}}]}, "stages: each needs steps"),
        ({"stages": [{"steps": 512, "ppo": {"epochs": "three"}}]}, "epochs"),
        ({"steps": 1024}, "steps 1024: the stages have theirs; change those of the last, 768"),
        (
            {"tune": {"parameters": {"ppo.epochs": {"choices": [3, 4]}}}},
            "tune: searches settings of a training without",
        ),
    ],
)
def test_stages_that_contradict_are_refused(staged, change, message):
    with pytest.raises(InputError, match=message):
        checked_configuration(staged | change)


def test_a_stage_whose_program_is_missing_is_refused_before_the_first(staged, tmp_path, monkeypatch):
    from weir_train.learning.stages import train_in_stages

    monkeypatch.setenv("WEIR_VIRTUAL_CALL", str(tmp_path / "none"))
    stages = [*STAGES, {"steps": 1024, "environment": {"stack": "libwebrtc"}}]
    with pytest.raises(MissingComponent, match="weir-virtual-call"):
        train_in_stages(checked_configuration(staged | {"stages": stages}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_shipped_training_ends_on_traces_in_gap_order_and_on_libwebrtc():
    from weir_train.learning.provenance import provenance_of
    from weir_train.learning.run_record import TrainingRecord

    *paths, traces, calls = load_configuration(WEIR_TOML).in_stages()
    assert {(stage.scenarios.source, stage.curriculum) for stage in [*paths, calls]} == {("random_domain", "random")}
    assert (traces.scenarios.source, traces.curriculum) == ("random_traces", "gap")
    assert [stage.environment.stack for stage in (*paths, traces, calls)] == ["model"] * 3 + ["libwebrtc"]
    assert {stage.environment.objective for stage in (*paths, traces, calls)} == {"random"}
    assert provenance_of(calls, calls.steps, TrainingRecord())["stages"][-2:] == [
        "to step 18,000,000 (curriculum gap; source random_traces)",
        "to step 18,300,000 (stack libwebrtc)",
    ]


def test_the_option_steps_is_not_for_stages(staged, tmp_path, weir, write_toml):
    path = write_toml({key: value for key, value in staged.items() if key != "stages"} | {"steps": 768})
    text = path.read_text().replace("steps = 768\n", "", 1)
    path.write_text(text.replace("[environment]", "[[stages]]\nsteps = 512\n[[stages]]\nsteps = 768\n[environment]", 1))
    with pytest.raises(InputError, match=r"--steps: .* trains in stages; change their steps there"):
        weir("train", path, "--out", tmp_path / "run", "--steps", 512)
    assert weir("train", path, "--out", tmp_path / "run").exit_code == 0
