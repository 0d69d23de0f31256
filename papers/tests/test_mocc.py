"""`weir paper mocc`: the experiment on few steps, and its arithmetic."""

import json

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_cli.app import build_app
from weir_cli.errors import InputError
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_papers.mocc.claims import REPETITION, measured
from weir_papers.mocc.mocc import CONFIGURATION
from weir_papers.mocc.networks import mocc_network
from weir_papers.mocc.testbed import Testbed
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_simulator
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import checked_configuration, load_configuration
from weir_train.gym.step import StepRecord
from weir_train.learning.ppo import make_policy
from weir_train.model.export import export


@pytest.fixture
def command(values, tmp_path, monkeypatch, fake_gym_simulator, write_toml):
    """Runs `weir paper mocc` with few steps on one network; returns its result, and the folder."""
    monkeypatch.setenv("WEIR_SIM", str(fake_gym_simulator))
    monkeypatch.setattr("weir_papers.mocc.mocc.TRAINING_NETWORKS", 1)
    monkeypatch.setattr("weir_papers.mocc.mocc.TEST_S", 2.0)
    monkeypatch.setattr("weir_papers.mocc.testbed.OBJECTIVES", ((0.6, 0.3, 0.1), (0.1, 0.6, 0.3)))
    monkeypatch.setattr("weir_papers.mocc.objectives.OBJECTIVES", ((0.6, 0.3, 0.1), (0.1, 0.6, 0.3)))
    monkeypatch.setattr("weir_papers.mocc.objectives.unavailable_controllers", lambda simulator: set())
    monkeypatch.setattr("weir_papers.mocc.objectives.AURORAS", ((0.6, 0.2, 0.2),))
    record = StepRecord.of(achievable_bps=np.full(4, 1e6), receive_rate_bps=9e5, base_one_way_delay_ms=25.0)
    monkeypatch.setattr(
        "weir_papers.mocc.testbed.reference_runs", lambda documents, names, **_: {key: [record] for key in names}
    )
    environment = {"environments": 2, "features": values["environment"]["features"], "reward": "mocc"}
    ppo = {"steps_per_update": 64, "batch_size": 64, "epochs": 1}
    path = write_toml({"environment": environment, "ppo": ppo, "policy": values["policy"]})
    words = f"paper mocc --out {tmp_path / 'out'} --configuration {path} --seeds 1 --networks 1 --judged 2"
    sizes = "--base-steps 256 --scratch-steps 384 --adaptation-steps 256"

    def invoke(*more):
        found = CliRunner().invoke(build_app(), [*words.split(), *sizes.split(), *more], catch_exceptions=False)
        return found, tmp_path / "out"

    return invoke


def test_the_experiment_ends_and_writes_its_figures(command):
    result, out = command()
    assert result.exit_code == 0, result.output
    assert "14.2" in result.output
    document = json.loads((out / "mocc.json").read_text())
    curves = document["runs"][0]["curves"]
    assert [steps for steps, _ in curves["from_scratch"]] == [0, 128, 256, 384]
    # Both adaptations start at the same policy, on the same networks.
    assert curves["with_replay"][0] == curves["without_replay"][0]
    assert len(document["runs"][0]["old_rewards"]["base"]) == 5
    assert REPETITION.model(out) == out / "models/landmarks-21-1001/checkpoint.zip"
    (objectives,) = document["objectives"]
    assert list(objectives["landmarks"]) == ["3", "6", "10", "36", "171"]
    assert {"mocc", "enhanced-aurora", "aurora-throughput", "aurora-latency", "gcc"} <= set(objectives["schemes"])
    assert 0.0 < objectives["dqn"] <= 1.0
    assert list(objectives["familiar"]) == ["3", "36"]
    # Under <0.6, 0.3, 0.1> and <0.1, 0.6, 0.3> a controller of 0.9 of the capacity without delay or loss.
    assert objectives["schemes"]["gcc"] == pytest.approx((0.94 + 0.99) / 2)
    found = measured(document)
    assert len(found["mocc/old_loss"]) == 1
    assert len(found["mocc/old_loss_without"]) == 1
    gains = {name: objectives["landmarks"][name] - objectives["nothing"] for name in ("36", "171")}
    expected = [gains["171"] / gains["36"]] if gains["36"] > 0 else []
    assert found["mocc/landmarks_171_gain"] == pytest.approx(expected)

    # The same command has nothing left to do, and another is refused.
    before = {path: path.read_bytes() for path in out.rglob("*.zip")}
    assert command()[0].exit_code == 0
    assert {path: path.read_bytes() for path in out.rglob("*.zip")} == before
    with pytest.raises(InputError, match="measured with other options"):
        command("--networks", "2")
    exported = CliRunner().invoke(
        build_app(), ["export", str(out / "models/landmarks-36-1"), "--out", str(out / "base.onnx")]
    )
    assert exported.exit_code == 0, exported.output


def test_the_exported_agent_runs_behind_the_papers_interface(tmp_path):
    configuration = load_configuration(CONFIGURATION)
    model = tmp_path / "mocc.onnx"
    export(make_policy(configuration), configuration.environment.specification(), model)
    plan = ReplayPlan(
        [mocc_network("training", 1, 10.0)], ["mocc"], PRESETS["balanced"], [1], model, find_simulator(), "measured"
    )
    (record,) = complete_plans([plan], tmp_path, 1).records
    assert record.flows[0].packets_received > 100


def test_only_the_adaptation_is_measured_without_networks_for_all_objectives(command):
    result, out = command("--networks", "0")
    assert result.exit_code == 0, result.output
    document = json.loads((out / "mocc.json").read_text())
    assert document["objectives"] == []
    before, after = document["runs"][0]["aurora"]
    assert document["runs"][0]["loss_aurora"] == pytest.approx(1 - after / before)
    assert {key for key, values in measured(document).items() if values} <= {
        "mocc/steps_ratio",
        "mocc/initial",
        "mocc/old_loss",
        "mocc/old_loss_without",
    }


def test_only_landmarks_and_learners_are_measured_without_policies_of_one_objective(command, monkeypatch):
    result, out = command("--scratch-steps", "0")
    assert result.exit_code == 0, result.output
    document = json.loads((out / "mocc.json").read_text())
    assert document["runs"] == []
    assert not any("aurora" in name for name in document["objectives"][0]["schemes"])
    assert {key for key, values in measured(document).items() if values} <= {
        "mocc/landmarks_3_gain",
        "mocc/landmarks_171_gain",
        "mocc/dqn_gain",
    }
    assert not list((out / "models").glob("single-*"))
    assert REPETITION.model(out) == out / "models/landmarks-36-1/checkpoint.zip"

    # An interrupted comparison does not train again what it has measured.
    (out / "objectives-1.json").unlink()
    monkeypatch.delattr("weir_papers.mocc.objectives.train_dqn")
    assert command("--scratch-steps", "0")[0].exit_code == 0
    assert json.loads((out / "mocc.json").read_text()) == document


def test_a_visit_of_a_landmark_is_an_update_and_each_has_several(tmp_path):
    from weir_papers.mocc.objectives import Trainer

    settings = load_configuration(CONFIGURATION)
    update = settings.environment.environments * settings.ppo.steps_per_update
    assert update % settings.ppo.batch_size == 0
    schedule = Trainer(settings, tmp_path, tmp_path, lambda name, steps: None).schedule(600_000)
    visited = [schedule.at(step) for step in range(0, 600_000, update)]
    assert all(schedule.at(step) == schedule.at(step + update - 1) for step in range(0, 600_000, update))
    assert min(visited.count(landmark) for landmark in schedule.order) >= 8


def test_landmarks_near_the_unseen_objective_are_excluded():
    from weir_papers.mocc.adaptation import near_unseen
    from weir_papers.mocc.landmarks import landmarks

    assert {landmark for landmark in landmarks() if near_unseen(landmark)} == {
        landmark for landmark in landmarks() if landmark[0] >= 4
    }


def test_a_policy_is_measured_under_a_hundred_objectives(values, tmp_path, steady, fake_gym_simulator):
    files = [tmp_path / name for name in ("slow.json", "fast.json")]
    for file, rate_bps in zip(files, (1e6, 4e6), strict=True):
        Scenario.from_dict(steady(file.stem, rate_bps, 2.0)).save(file)
    received = []

    def act(observations):
        received.extend(map(tuple, observations[:, -3:].tolist()))
        return np.zeros((len(observations), 1), dtype=np.float32)

    testbed = Testbed(checked_configuration(values), files, fake_gym_simulator)
    try:
        rewards = testbed.rewards(act)
    finally:
        testbed.close()
    objectives = np.array(list(dict.fromkeys(received)))
    assert rewards.shape == (len(objectives), 2) == (105, 2)
    np.testing.assert_allclose(objectives.sum(axis=1), 1.0, atol=1e-6)
    # Evenly over the simplex, as far as a weight of 1/16 from its edges.
    np.testing.assert_allclose(objectives.mean(axis=0), 1 / 3, atol=1e-6)
    assert objectives.min() == pytest.approx(1 / 16)
    assert objectives.max() == pytest.approx(14 / 16)
    # The actions are the same under each, and so are the measures that the weights are multiplied with.
    measures = np.linalg.lstsq(objectives, rewards)[0]
    np.testing.assert_allclose(objectives @ measures, rewards, atol=1e-5)
    assert np.ptp(rewards[:, 1]) > 0.1


def test_networks_are_those_of_table_3():
    training = [mocc_network("training", seed, 20.0) for seed in range(50)]
    testing = [mocc_network("testing", seed, 20.0) for seed in range(50)]
    for networks, low_bps, high_bps, most_ms, most_packets in (
        (training, 1e6, 5e6, 50.0, 3000),
        (testing, 10e6, 50e6, 200.0, 5000),
    ):
        for network in networks:
            forward = network.forward
            assert low_bps <= forward.capacity.trace().mean_bps(20.0) <= high_bps
            assert 10.0 <= forward.one_way_delay_ms <= most_ms
            assert 1 <= forward.queue.packets <= most_packets
    assert mocc_network("training", 3, 20.0) == training[3]


def test_levels_are_actions_of_the_environment():
    from weir_papers.mocc.dqn import LEVELS, LevelVecEnv

    class Steps:
        num_envs = 3
        single_observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,))
        single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        render_mode = None

    environment = LevelVecEnv(Steps())
    assert environment.action_space.n == len(LEVELS)
    environment.step_async(np.array([0, 4, 8]))
    assert environment._actions.tolist() == [[-1.0], [0.0], [1.0]]


def curves(with_replay):
    return {
        "curves": {
            "from_scratch": [(0, 0.5), (100, 0.7), (200, 0.995), (300, 0.6), (400, 0.996), *[(500, 1.0)] * 6],
            "with_replay": with_replay,
            "without_replay": [(0, 0.6), (100, 0.7)],
        },
        "old_rewards": {
            "untrained": [0.4, 0.4],
            "base": [0.8, 0.5],
            "with_replay": [0.76, 0.5],
            "without_replay": [0.4, 0.5],
        },
        "aurora": [0.9, 0.15],
    }


def test_the_figures_by_hand():
    from weir_papers.mocc.adaptation import figures, summary

    run = curves([(0, 0.9), (100, 0.999), (200, 0.999)])
    run |= figures(run)
    assert run["threshold"] == pytest.approx(0.995)
    assert run["steps"] == {"from_scratch": 400, "with_replay": 100, "without_replay": None}
    assert run["loss_with_replay"] == pytest.approx(0.025)
    assert run["worst_loss_without_replay"] == pytest.approx(0.5)
    assert run["loss_of_gain_with_replay"] == pytest.approx(0.08)
    assert run["loss_aurora"] == pytest.approx(5 / 6)
    whole = summary([run])
    assert whole["steps_ratio"] == pytest.approx(4.0)
    assert whole["steps_ratio_without_replay"] is None
    assert not whole["steps_ratio_is_lower_bound"]


def test_a_policy_that_serves_the_unseen_objective_before_the_first_step_is_zero_shot():
    from weir_papers.mocc.adaptation import figures, summary

    run = curves([(0, 0.999), (100, 0.999)])
    run |= figures(run)
    whole = summary([run])
    assert (whole["steps_ratio"], whole["zero_shot"]) == (None, 1)
    assert not whole["steps_ratio_is_lower_bound"]
    assert measured({"runs": [run], "objectives": []})["mocc/steps_ratio"] == []


def test_an_adaptation_that_never_gets_there_counts_with_all_its_steps():
    from weir_papers.mocc.adaptation import figures, summary

    run = curves([(0, 0.9), (100, 0.95), (200, 0.95)])
    run |= figures(run)
    assert (summary([run])["steps_ratio"], run["steps"]["with_replay"]) == (None, None)
    assert measured({"runs": [run], "objectives": []})["mocc/steps_ratio"] == [2.0]
