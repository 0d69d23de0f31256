"""TD3 and SAC: they learn, export, resume with their replay buffer; what only they can do wrong."""

import functools

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_train.configuration.training import checked_configuration

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_papers.off_policy.policies import SATURATION, SaturationLimit  # noqa: E402
from weir_papers.off_policy.replay_buffer import REPLAY_BUFFER, REPLAY_FIELDS, load_replay_buffer, save_replay_buffer  # noqa: E402
from weir_papers.off_policy.training import make_model  # noqa: E402
from weir_traces.schema.scenario import Scenario  # noqa: E402
from weir_train.configuration.scenarios import ScenarioSampler  # noqa: E402
from weir_train.learning.algorithms import load_policy, make_environment  # noqa: E402
from weir_train.learning.curriculum import OrderedTraces  # noqa: E402
from weir_train.learning.evaluation import Evaluation  # noqa: E402
from weir_train.learning.train import train  # noqa: E402
from weir_train.model.golden_inputs import golden_inputs  # noqa: E402
from weir_train.policies.networks import DeployedPolicy  # noqa: E402

LEARNER = {
    "learning_rate": 3e-3,
    "learning_starts": 200,
    "batch_size": 64,
    "buffer_size": 4000,
    "gamma": 0.5,
    "steps_per_update": 2,
    "tau": 0.02,
}


@pytest.fixture
def values(values):
    """With the off-policy learners' tables."""
    environment = values["environment"] | {"objective": [0.7, 0.2, 0.1], "reward": "mocc"}
    policy = {"hidden": [32, 32], "preference_size": 4}
    learners = {"td3": LEARNER, "sac": LEARNER}
    return values | {"steps": 600, "environment": environment, "policy": policy} | learners


@pytest.fixture(params=["td3", "sac"])
def algorithm(request):
    return request.param


@pytest.fixture
def untrained(tmp_path, fake_gym_simulator):
    """A function from a configuration to its model, before training."""

    def make(configuration):
        environment = make_environment(configuration, fake_gym_simulator)
        try:
            return make_model(configuration, environment, tmp_path / "untrained")
        finally:
            environment.close()

    return make


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"td3": {"tau": 0}}, "td3.tau: .*greater than 0"),
        ({"td3": {"clip_range": 0.2}}, "td3.clip_range: unknown key"),
        ({"sac": {"entropy_coefficient": "none"}}, "sac.entropy_coefficient"),
        ({"td3": {"buffer_size": 10, "batch_size": 50}}, "td3.buffer_size 10 must hold .* 50"),
    ],
)
def test_bad_configuration_is_one_message(values, change, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | {"algorithm": "td3"} | change)
    assert "\n" not in str(raised.value)


def test_trained_steps_are_whole_updates(values):
    assert checked_configuration(values | {"algorithm": "td3", "steps": 3}).trained_steps == 4


def test_two_seeded_runs_are_equal_and_another_seed_is_not(values, tmp_path, fake_gym_simulator, algorithm):
    def parameters(name, **change):
        configuration = checked_configuration(values | {"algorithm": algorithm} | change)
        result = train(configuration, tmp_path / name, simulator=fake_gym_simulator)
        return {key: value.numpy() for key, value in load_policy(result.checkpoint).state_dict().items()}

    first, second, other = parameters("a"), parameters("b"), parameters("c", seed=4)
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])
    assert any(not np.array_equal(value, other[name]) for name, value in first.items())


def test_evaluation_changes_nothing_that_is_learned(values, tmp_path, fake_gym_simulator, monkeypatch, algorithm):
    quick = functools.partial(Evaluation, scenarios=2, duration_s=2.0)
    monkeypatch.setattr("weir_train.learning.reinforcement.Evaluation", quick)
    paths = {"source": "random_domain", "minimum_duration_s": 2.0, "maximum_duration_s": 4.0}
    settings = checked_configuration(values | {"algorithm": algorithm, "scenarios": paths})
    without, evaluated = (
        load_policy(
            train(settings, tmp_path / name, simulator=fake_gym_simulator, evaluate_every_steps=every).checkpoint
        ).state_dict()
        for name, every in (("without", None), ("with", 128))
    )
    for name, value in without.items():
        np.testing.assert_array_equal(value.numpy(), evaluated[name].numpy(), err_msg=name)
    with np.load(tmp_path / "with" / "evaluations.npz") as file:
        assert (file["timesteps"][0], file["timesteps"][-1]) == (0, 600)


def test_a_trivial_environment_is_learned(values, tmp_path, fake_gym_simulator, algorithm):
    shown = []
    values |= {"algorithm": algorithm, "steps": 3000}
    result = train(checked_configuration(values), tmp_path, simulator=fake_gym_simulator, on_progress=shown.append)
    assert [state.steps for state in shown] == [1000, 2000, 3000]
    # 1 is best; the middle, where an untrained policy is, fills a quarter of the capacity and gets 0.48.
    specification = checked_configuration(values).environment.specification()
    deployed = DeployedPolicy(load_policy(result.checkpoint), specification)
    environment = make_environment(checked_configuration(values), fake_gym_simulator)
    try:
        observation, rewards = environment.reset(), []
        for _ in range(20):
            cut = torch.from_numpy(observation[:, : specification.observation_size + 3])
            with torch.no_grad():
                action = deployed(cut[:, :-3], cut[:, -3:]).numpy()
            observation, reward, _, _ = environment.step(action)
            rewards.append(reward)
    finally:
        environment.close()
    assert 0.65 < np.mean(rewards[5:]) <= 1.0


def test_the_objective_changes_the_action(values, tmp_path, fake_gym_simulator, algorithm):
    values |= {"algorithm": algorithm}
    configuration = checked_configuration(values)
    policy = load_policy(train(configuration, tmp_path, simulator=fake_gym_simulator).checkpoint)
    specification = configuration.environment.specification()
    history, _ = golden_inputs(specification)
    observations = np.repeat(np.append(history[0], [0.1, 0.8, 0.1])[None], 2, axis=0).astype(np.float32)
    observations[1, -3:] = [0.8, 0.1, 0.1]
    actions = policy.predict(observations, deterministic=True)[0]
    assert actions[0] != actions[1]


def test_an_untrained_actor_is_in_the_middle(values, untrained, algorithm):
    configuration = checked_configuration(values | {"algorithm": algorithm})
    policy = untrained(configuration).policy
    history, objectives = golden_inputs(configuration.environment.specification())
    actions = policy.predict(np.concatenate([history, objectives], axis=1), deterministic=True)[0]
    assert 0.0 < np.abs(actions).max() < 0.05


def test_resume_goes_on_with_the_replay_buffer(values, tmp_path, fake_gym_simulator, algorithm):
    values |= {"algorithm": algorithm}
    train(checked_configuration(values), tmp_path, simulator=fake_gym_simulator)
    with np.load(tmp_path / REPLAY_BUFFER) as file:
        before = dict(file)
    assert before["rewards"].shape == (300, 2)
    result = train(checked_configuration(values | {"steps": 800}), tmp_path, simulator=fake_gym_simulator, resume=True)
    assert result.steps == 800
    with np.load(tmp_path / REPLAY_BUFFER) as file:
        assert file["rewards"].shape == (400, 2)
        for name in REPLAY_FIELDS:
            np.testing.assert_array_equal(file[name][:300], before[name])
    other = checked_configuration(values | {"algorithm": "sac" if algorithm == "td3" else "td3"})
    with pytest.raises(InputError, match=f"was trained with {algorithm}, not with"):
        train(other, tmp_path, simulator=fake_gym_simulator, resume=True)


def test_an_interrupted_training_has_the_same_parameters(values, tmp_path, fake_gym_simulator, algorithm):
    def interrupt(state):
        if state.steps >= 1000:
            raise KeyboardInterrupt

    # The buffer of 400 transitions is full when the training is interrupted.
    values |= {"algorithm": algorithm, "steps": 1200, algorithm: LEARNER | {"buffer_size": 400, "gradient_steps": 2}}
    configuration = checked_configuration(values)
    train(configuration, tmp_path / "whole", simulator=fake_gym_simulator)
    stopped = train(configuration, tmp_path / "stopped", simulator=fake_gym_simulator, on_progress=interrupt)
    assert (stopped.steps, stopped.interrupted) == (1000, True)
    train(configuration, tmp_path / "stopped", simulator=fake_gym_simulator, resume=True)
    for name in ("checkpoint.zip", REPLAY_BUFFER):
        with np.load(tmp_path / "whole" / name) as whole, np.load(tmp_path / "stopped" / name) as found:
            assert set(found.files) == set(whole.files)
            for key in whole.files:
                np.testing.assert_array_equal(found[key], whole[key], err_msg=key)


def test_ordered_traces_change_for_all_environments_and_the_replay_buffer_survives(
    values, tmp_path, steady, fake_gym_simulator, monkeypatch
):
    drawn_names, call = [], ScenarioSampler.__call__

    def spy(self, seed):
        drawn_names.append(call(self, seed)["name"])
        return call(self, seed)

    monkeypatch.setattr(ScenarioSampler, "__call__", spy)
    names = ("slow", "middle", "fast")
    for name, rate in zip(names, (1_000_000, 8_000_000, 64_000_000), strict=True):
        Scenario.from_dict(steady(name, rate, 3.0)).save(tmp_path / f"{name}.json")
    values["environment"] |= {"interval_ms": 100, "history": 1, "privileged_critic": True}
    values |= {"algorithm": "td3", "steps": 720, "td3": LEARNER | {"steps_per_update": 20, "learning_starts": 100}}
    values["scenarios"] = {"source": "files", "files": [str(tmp_path / f"{name}.json") for name in names]}
    order = OrderedTraces([2, 0, 1])
    train(checked_configuration(values), tmp_path / "run", simulator=fake_gym_simulator, curriculum=order)
    assert list(dict.fromkeys(drawn_names)) == ["fast", "slow", "middle"]
    # Each has a third of the steps: two environments of four episodes of 30 steps.
    assert [drawn_names.count(name) for name in ("fast", "slow")] == [10, 10]
    with np.load(tmp_path / "run" / REPLAY_BUFFER) as file:
        capacity, steps = file["next_observations"][:, 0, -5], len(file["rewards"])
    assert steps == 360
    # The fake varies a trace's capacity by up to 1.6 from seed to seed: a factor of 8 stays apart.
    trace = np.digitize(capacity, [3e6, 24e6])
    assert [names[index] for index in trace[[0, 119, 120, 239, 240, 359]]] == [
        *("fast", "fast"),
        *("slow", "slow"),
        *("middle", "middle"),
    ]


def test_replay_buffer_that_does_not_fit(values, tmp_path, fake_gym_simulator, untrained):
    values |= {"algorithm": "td3"}
    train(checked_configuration(values), tmp_path, simulator=fake_gym_simulator)
    values["environment"] |= {"environments": 3}
    model = untrained(checked_configuration(values))
    with pytest.raises(InputError, match="same environments and features"):
        load_replay_buffer(model, tmp_path / REPLAY_BUFFER)
    (tmp_path / REPLAY_BUFFER).write_bytes(b"PK")
    with pytest.raises(InputError, match="is damaged, or no replay buffer"):
        load_replay_buffer(model, tmp_path / REPLAY_BUFFER)


def test_a_full_replay_buffer_is_written_oldest_first_and_read_as_it_was(values, tmp_path, untrained):
    values |= {"algorithm": "td3", "td3": LEARNER | {"buffer_size": 64}}
    model, loaded = (untrained(checked_configuration(values)) for _ in range(2))
    shape = model.observation_space.shape
    for step in range(40):  # 32 fit
        rewards = np.full(2, float(step))
        model.replay_buffer.add(
            np.zeros((2, *shape)), np.zeros((2, *shape)), np.zeros((2, 1)), rewards, np.zeros(2), [{}, {}]
        )
    save_replay_buffer(model, tmp_path / "full.npz")
    load_replay_buffer(loaded, tmp_path / "full.npz")
    with np.load(tmp_path / "full.npz") as file:
        assert file["rewards"][:, 0].tolist() == list(range(8, 40))
    # Batches are drawn by row.
    np.testing.assert_array_equal(loaded.replay_buffer.rewards, model.replay_buffer.rewards)
    assert (loaded.replay_buffer.pos, loaded.replay_buffer.full) == (8, True)


def test_a_saturated_actor_is_brought_back():
    outputs = torch.tensor([[-40.0], [0.5], [7.0]], requires_grad=True)
    limited = SaturationLimit()(outputs)
    assert torch.equal(limited, outputs)
    torch.tanh(limited).mean().backward()
    slope = (1 - torch.tanh(outputs.detach()) ** 2) / 3
    excess = torch.tensor([[SATURATION - 40.0], [0.0], [7.0 - SATURATION]]) / 3
    torch.testing.assert_close(outputs.grad, slope + excess)
    # Descending that gradient alone leads back to where tanh has a slope.
    values = torch.tensor([-40.0, 7.0])
    for _ in range(200):
        values.requires_grad_()
        torch.tanh(SaturationLimit()(values)).mul(0.0).sum().backward()
        values = (values - 0.1 * values.grad).detach()
    assert values.abs().max() == pytest.approx(SATURATION, abs=0.01)


@pytest.mark.parametrize(("noise", "correlated"), [("gaussian", False), ("ornstein_uhlenbeck", True)])
def test_noise_of_td3(values, untrained, noise, correlated):
    values |= {"algorithm": "td3", "td3": LEARNER | {"action_noise": 0.5, "noise": noise}}
    action_noise = untrained(checked_configuration(values)).action_noise
    steps = np.array([np.ravel(action_noise())[0] for _ in range(4000)])
    # From one step to the next, Ornstein-Uhlenbeck noise with stable-baselines3's theta and dt moves by 0.05.
    assert np.diff(steps).std() == pytest.approx(0.05 if correlated else 0.5 * np.sqrt(2), rel=0.1)
    assert (steps[1:] * steps[:-1]).mean() / (steps**2).mean() == pytest.approx(1.0 if correlated else 0.0, abs=0.1)
