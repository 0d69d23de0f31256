"""ReCoCo's experiment: the published tables, what is trained, and training it, against the fake simulator."""

from dataclasses import replace

import numpy as np
import pytest

from weir_papers.recoco.tables import ORDERS, PAPER_TRACES
from weir_traces.schema.scenario import Scenario
from weir_train.gym.step import StepRecord

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

import torch
from stable_baselines3 import TD3

from weir_papers.recoco import models as recoco_models
from weir_papers.recoco import training as recoco_training
from weir_papers.recoco.models import (
    FEATURES,
    Configuration,
    TraceValues,
    models_of_all_traces,
    models_of_search,
    models_of_traces,
    ordered,
    training_configuration,
)
from weir_papers.recoco.recoco import chosen_configurations
from weir_papers.recoco.recoco_report import SearchRow
from weir_papers.recoco.training import mean_reward, run_policy, train_model
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.learning.algorithms import load_policy
from weir_train.learning.checkpoint import read_checkpoint
from weir_train.learning.evaluation import Evaluation
from weir_train.learning.run_record import EVALUATIONS, read_evaluations
from weir_train.model.file import BEST_MODEL, CHECKPOINT


@pytest.fixture
def files(tmp_path, steady):
    """A short steady scenario under the name of each of the paper's traces."""
    paths = {trace.name: tmp_path / f"{trace.name}.json" for trace in PAPER_TRACES}
    for name, path in paths.items():
        Scenario.from_dict(steady(name, rate_bps=2_000_000, duration_s=4.0)).save(path)
    return paths


def own_model(name, steps=640, seed=1):
    return next(model for model in models_of_traces(steps, [seed]) if model.traces == (name,))


def test_the_published_overall_scores_are_those_of_their_parts():
    rows = [(t, s) for t in PAPER_TRACES for s in (t.own, t.gcc, *t.single.values())]
    assert len(rows) == 45
    for trace, scores in rows:
        parts = 0.333 * (scores.rate + scores.delay + scores.loss)
        assert parts == pytest.approx(scores.overall, abs=0.02), trace.name


@pytest.mark.parametrize("order", ["random", None])
def test_a_model_has_a_gradient_step_for_each_step_and_a_constant_learning_rate(files, order):
    models = models_of_all_traces("random", 300_000, [1]) if order else models_of_traces(100_000, [1])
    for model in models:
        configuration = training_configuration(model, files)
        assert configuration.steps == (2_700_000 if order else 100_000)
        settings = configuration.off_policy
        assert settings.gradient_steps == configuration.steps_per_update
        rate = {"td3": 1e-3, "sac": 3e-4}[configuration.algorithm]
        assert (settings.learning_rate, settings.learning_rate_end) == (rate, rate)


def test_the_published_means():
    def mean(scores):
        return np.mean([scores(trace).overall for trace in PAPER_TRACES])

    assert mean(lambda trace: trace.own) == pytest.approx(80.85, abs=0.005)
    assert mean(lambda trace: trace.gcc) == pytest.approx(71.89, abs=0.005)
    means = [mean(lambda trace, o=order: trace.single[o]) for order in ORDERS]
    assert means == pytest.approx([70.44, 61.08, 72.09], abs=0.005)


def test_every_trace_has_the_configuration_of_table_1(files):
    models = models_of_traces(1000, [1, 2, 3])
    assert len(models) == len({model.name for model in models}) == 27
    assert sum(model.configuration.algorithm == "sac" for model in models) == 6
    undelayed = own_model("WIRED_200kbps")
    assert undelayed.configuration.words == "TD3, not delayed, not tuned"
    assert training_configuration(undelayed, files).environment.history == 1
    tuned = training_configuration(own_model("4G_3mbps"), files)
    assert (tuned.algorithm, tuned.sac.gamma, tuned.sac.batch_size) == ("sac", 0.9999, 512)
    assert tuned.environment.history == 5
    assert tuned.environment.features == FEATURES
    assert tuned.environment.reward == "recoco"
    assert not tuned.environment.guard
    assert tuned.environment.action.model_dump(include={"kind", "min_bps", "max_bps"}) == {
        "kind": "log_rate",
        "min_bps": 10_000.0,
        "max_bps": 8_000_000.0,
    }
    assert [path.stem for path in tuned.scenarios.files] == ["4G_3mbps"]
    td3 = training_configuration(own_model("trace_300k"), files).td3
    assert (td3.noise, td3.action_noise, td3.gamma) == ("ornstein_uhlenbeck", 0.5, 0.98)


def test_the_search_tries_twelve_configurations_of_every_trace(files):
    models = models_of_search(1000, 9)
    assert len(models) == len({model.name for model in models}) == 9 * 12
    configurations = [training_configuration(model, files) for model in models if model.traces == ("4G_500kbps",)]
    assert [configuration.algorithm for configuration in configurations] == ["ppo"] * 4 + ["td3"] * 4 + ["sac"] * 4
    assert [configuration.environment.history for configuration in configurations[:4]] == [1, 1, 5, 5]
    assert [configuration.ppo.batch_size for configuration in configurations[:4]] == [64, 256, 64, 256]
    assert configurations[0].environment.environments * configurations[0].ppo.steps_per_update == 2048


def test_the_best_configuration_has_the_best_qoe_of_similar_rewards():
    td3, sac, ppo = (Configuration(name, True, False) for name in ("td3", "sac", "ppo"))
    rows = [
        SearchRow("a", td3, 0.80, 70.0),
        SearchRow("a", sac, 0.79, 75.0),
        SearchRow("a", ppo, 0.70, 90.0),
        SearchRow("b", ppo, 0.50, 60.0),
    ]
    assert chosen_configurations(rows) == {"a": sac, "b": ppo}
    assert chosen_configurations([]) == {}
    models = models_of_traces(10, [1], {"4G_3mbps": ppo})
    assert [model.configuration.algorithm for model in models[4:7]] == ["td3", "ppo", "td3"]


def test_the_orders_of_the_paper_follow_from_its_own_scores():
    values = {t.name: TraceValues(t.own.rate, t.own.overall, t.gcc.overall) for t in PAPER_TRACES}
    # The order in the paper's own repository.
    assert models_of_all_traces("gap", 10, [1], values)[0].traces == (
        "4G_3mbps", "trace_300k", "5G_12mbps", "5G_13mbps", "WIRED_900kbps", "WIRED_35mbps", "4G_700kbps",
        "WIRED_200kbps", "4G_500kbps",
    )  # fmt: skip
    reward = models_of_all_traces("reward", 10, [1], values)[0]
    assert (reward.traces[0], reward.traces[-1], reward.steps) == ("WIRED_35mbps", "WIRED_200kbps", 90)
    assert ordered("reward", values) == reward.traces


@pytest.mark.parametrize("name", ["5G_13mbps", "WIRED_900kbps"])
def test_training_is_interrupted_and_goes_on(files, tmp_path, fake_gym_simulator, name):
    model, seen = own_model(name, steps=1280), []

    def stop(steps):
        seen.append(steps)
        raise KeyboardInterrupt

    assert not train_model(model, files, tmp_path / "run", stop, fake_gym_simulator)
    assert 0 < seen[0] < 1280
    assert train_model(model, files, tmp_path / "run", seen.append, fake_gym_simulator)
    assert seen[-1] == 1280
    # Nothing is left to do, and nothing is done.
    assert train_model(model, files, tmp_path / "run", seen.append, fake_gym_simulator)
    record = run_policy(model, files, name, tmp_path / "run", fake_gym_simulator)
    # The first interval comes before the first decision.
    assert record.time_s.shape == (19,)
    assert np.all((record.target_bps >= 10_000 * 0.999) & (record.target_bps <= 8e6 * 1.001))
    assert -1.0 <= mean_reward(record) <= 1.0


def test_a_model_of_all_traces_trains_on_them_in_its_order(files, tmp_path, fake_gym_simulator, monkeypatch):
    names, call = [], ScenarioSampler.__call__

    def spy(self, seed):
        names.append(call(self, seed)["name"])
        return call(self, seed)

    monkeypatch.setattr(ScenarioSampler, "__call__", spy)
    values = {trace.name: TraceValues(-index, 0, 0) for index, trace in enumerate(PAPER_TRACES)}
    model = models_of_all_traces("reward", 320, [1], values)[0]
    assert train_model(model, files, tmp_path / "run", lambda steps: None, fake_gym_simulator)
    assert list(dict.fromkeys(names)) == [trace.name for trace in reversed(PAPER_TRACES)]


def steps_in_buffers(monkeypatch):
    """The number of environment steps in the replay buffer before each update, as they come."""
    found, train_td3 = [], TD3.train

    def spy(self, *arguments, **options):
        found.append(self.replay_buffer.size() * self.n_envs)
        return train_td3(self, *arguments, **options)

    monkeypatch.setattr(TD3, "train", spy)
    return found


@pytest.fixture
def without_random_steps(monkeypatch):
    """Updates begin with the first steps."""
    monkeypatch.setattr(recoco_models, "RANDOM_STEPS", 0)


@pytest.mark.usefixtures("without_random_steps")
def test_an_order_begins_each_trace_with_an_empty_replay_buffer(files, tmp_path, fake_gym_simulator, monkeypatch):
    model = replace(models_of_all_traces("gap", 64, [1])[0], steps=192, traces=tuple(list(files)[:3]))
    sizes = steps_in_buffers(monkeypatch)
    assert train_model(model, files, tmp_path / "gap", lambda steps: None, fake_gym_simulator)
    assert sizes == [32, 64] * 3
    sizes.clear()
    random = replace(model, order="random")
    assert train_model(random, files, tmp_path / "random", lambda steps: None, fake_gym_simulator)
    assert sizes == [32, 64, 96, 128, 160, 192]


@pytest.mark.usefixtures("without_random_steps")
@pytest.mark.parametrize("stop_at", [32, 64, 96])
def test_an_interrupted_order_goes_on_as_if_it_had_not_been(files, tmp_path, fake_gym_simulator, monkeypatch, stop_at):
    # Progress is reported after every update.
    monkeypatch.setattr("weir_papers.off_policy.training.STEPS_BETWEEN_RECORDS", 0)
    model = replace(models_of_all_traces("gap", 64, [1])[0], steps=128, traces=tuple(list(files)[:2]))

    def stop(steps):
        if steps == stop_at:
            raise KeyboardInterrupt

    assert train_model(model, files, tmp_path / "whole", lambda steps: None, fake_gym_simulator)
    assert not train_model(model, files, tmp_path / "parts", stop, fake_gym_simulator)
    assert train_model(model, files, tmp_path / "parts", lambda steps: None, fake_gym_simulator)
    whole, parts = (load_policy(tmp_path / name / CHECKPOINT).state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(value, parts[name]) for name, value in whole.items())


@pytest.mark.usefixtures("without_random_steps")
def test_a_model_of_one_trace_is_that_of_its_best_validation(files, tmp_path, fake_gym_simulator, monkeypatch):
    monkeypatch.setattr(recoco_training, "VALIDATION_STEPS", 64)
    rewards = iter([0.9, 0.1, 0.5, 0.2])
    monkeypatch.setattr(Evaluation, "rewards", lambda self, policy, objective: np.array([next(rewards)]))
    loaded = []
    monkeypatch.setattr(recoco_training, "load_policy", lambda path: loaded.append(path) or load_policy(path))
    model = own_model("4G_700kbps", steps=192)
    folder = tmp_path / "run"
    assert train_model(model, files, folder, lambda steps: None, fake_gym_simulator)
    # The untrained policy, which comes first, is not kept.
    assert read_evaluations(folder / EVALUATIONS)[0].tolist() == [0, 64, 128, 192]
    assert read_checkpoint(folder / BEST_MODEL).steps == 128
    run_policy(model, files, "4G_700kbps", folder, fake_gym_simulator)
    run_policy(replace(model, order="random"), files, "4G_700kbps", folder, fake_gym_simulator)
    assert [path.name for path in loaded] == [BEST_MODEL, CHECKPOINT]


def test_mean_reward_is_that_of_equation_6():
    # Full use without delay or loss is 1; a receive rate above the capacity is -1.
    record = StepRecord.of(
        receive_rate_bps=np.array([0.95e6, 1.2e6]),
        capacity_bps=1e6,
        achievable_bps=1e6,
        one_way_delay_mean_ms=26.0,
        loss_ratio=0.0,
    )
    assert mean_reward(record) == pytest.approx(0.0)
