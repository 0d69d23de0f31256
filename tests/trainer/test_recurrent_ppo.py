"""Recurrent PPO: it learns what needs a memory, begins every episode without one, resumes, and exports its state."""

import itertools
import json

import gymnasium
import numpy as np
import pytest

from weir.trainer.configuration.training import checked_configuration

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

import onnxruntime  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.utils import set_random_seed  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from weir.cli.app import build_app  # noqa: E402
from weir.files.model import read_model  # noqa: E402
from weir.trainer.learning.algorithms import load_policy, make_environment, make_model, make_policy  # noqa: E402
from weir.trainer.learning.checkpoint import read_checkpoint  # noqa: E402
from weir.trainer.learning.evaluation import Evaluation  # noqa: E402
from weir.trainer.learning.run_record import AVERAGED  # noqa: E402
from weir.trainer.learning.train import train  # noqa: E402
from weir.trainer.model.export import export  # noqa: E402
from weir.trainer.model.golden_inputs import golden_inputs  # noqa: E402

TABLE = {"hidden": 8, "steps_per_update": 32, "batch_size": 64}
STEPS = 4


class Remembered(gymnasium.Env):
    """The first of four observations alone tells, by a queue, which of +0.6 and -0.6 is the right action."""

    def __init__(self, specification, right):
        low, high = specification.observation_limits()
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.queue = specification.observed.index("queueing_delay_mean_s")
        self.right = right

    def observe(self):
        observation = np.zeros(self.observation_space.shape, np.float32)
        observation[-3:] = (0.8, 0.1, 0.1)
        if self.step_of == 0 and self.right < 0.0:
            observation[self.queue] = 0.5
        return observation

    def reset(self, **arguments):
        self.step_of = 0
        return self.observe(), {}

    def step(self, action):
        self.step_of += 1
        reward = 1.0 - abs(float(action[0]) - self.right)
        return self.observe(), reward, False, self.step_of == STEPS, {}


@pytest.fixture
def values(values):
    """With the table of recurrent PPO, one interval of history, and a critic that sees more."""
    torch.set_num_threads(1)
    environment = values["environment"] | {"history": 1, "privileged_critic": True}
    return values | {"algorithm": "recurrent_ppo", "environment": environment, "recurrent_ppo": TABLE}


@pytest.fixture
def remembered(values):
    """A configuration, and four environments of which half want either action."""
    values["environment"] |= {"privileged_critic": False, "environments": 4}
    values["recurrent_ppo"] = TABLE | {"learning_rate": 1e-2, "learning_rate_end": 1e-3, "hidden": 16}
    specification = checked_configuration(values).environment.specification()
    rights = (0.6, -0.6, 0.6, -0.6)
    return values, DummyVecEnv([lambda right=right: Remembered(specification, right) for right in rights])


def spread(configuration):
    """A policy with random parameters, so that its actions spread."""
    policy = make_policy(configuration)
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(0.0, 0.5)
        policy.action_net.bias.zero_()
        policy.log_std.fill_(-2.0)
    return policy


def test_only_memory_tells_the_right_action(remembered):
    values, environment = remembered
    model = make_model(checked_configuration(values), environment)
    model.learn(4096)
    observations, state, starts = environment.reset(), None, np.ones(4, dtype=np.bool_)
    for _ in range(2 * STEPS):
        actions, state = model.policy.predict(observations, state, starts, deterministic=True)
        np.testing.assert_allclose(actions[:, 0], [0.6, -0.6, 0.6, -0.6], atol=0.2)
        observations, _, starts, _ = environment.step(actions)


class Rollouts(BaseCallback):
    """Compares rollouts with the networks, run episode by episode from states of zeros."""

    ends = 0

    def _on_training_start(self):
        self.done = np.ones(self.training_env.num_envs, dtype=np.bool_)
        self.first = self.model._last_obs

    def _on_rollout_start(self):
        self.starts = [self.done]

    def _on_step(self):
        self.done = self.locals["dones"]
        self.starts.append(self.done)
        for index in np.flatnonzero(self.done):
            assert not np.array_equal(self.locals["infos"][index]["terminal_observation"], self.first[index])
            np.testing.assert_array_equal(self.locals["new_obs"][index], self.first[index])
        return True

    def _on_rollout_end(self):
        buffer, policy = self.model.rollout_buffer, self.model.policy
        np.testing.assert_array_equal(buffer.episode_starts, self.starts[:-1])
        for index in range(buffer.n_envs):
            starts = np.append(np.flatnonzero(buffer.episode_starts[:, index]), buffer.buffer_size)
            self.ends += len(starts) - 1
            for first, end in itertools.pairwise(starts):
                features = policy.features_extractor(torch.from_numpy(buffer.observations[first:end, index]))
                visible = features[None, :, : policy.visible]
                state = torch.zeros(1, policy.lstm_actor.state_size)
                with torch.no_grad():
                    means = policy.action_net(policy.lstm_actor(visible, state)[0])[0]
                    chances = policy.action_dist.proba_distribution(means, policy.log_std).log_prob(
                        torch.from_numpy(buffer.actions[first:end, index])
                    )
                np.testing.assert_allclose(buffer.log_probs[first:end, index], chances, rtol=1e-4, atol=1e-4)
        # Before the first gradient step the sequences of every batch give the probabilities of the rollout.
        for batch in buffer.get(100):
            with torch.no_grad():
                values, log_probabilities, _ = policy.evaluate_actions(
                    batch.observations, batch.actions, batch.lstm_states, batch.episode_starts
                )
            mask = batch.mask > 0
            np.testing.assert_allclose(values.flatten()[mask], batch.old_values[mask], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(log_probabilities[mask], batch.old_log_prob[mask], rtol=1e-4, atol=1e-4)


def test_every_episode_begins_without_a_state(values, fake_simulator):
    # Episodes of 20 steps begin within the rollout of 128.
    values["recurrent_ppo"] = TABLE | {"steps_per_update": 128, "layers": 2}
    configuration = checked_configuration(values)
    environment, rollouts = make_environment(configuration, fake_simulator), Rollouts()
    try:
        model = make_model(configuration, environment)
        model.policy.load_state_dict(spread(configuration).state_dict())
        model.learn(128 * 2, rollouts)
    finally:
        environment.close()
    assert rollouts.ends == 2 * 7


class Seeds(BaseCallback):
    """The random numbers of a rollout and of an update depend on the number of steps alone."""

    def _on_rollout_start(self):
        set_random_seed(self.num_timesteps)

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        set_random_seed(self.num_timesteps)


def test_a_resumed_training_equals_an_uninterrupted_one(remembered, tmp_path, monkeypatch):
    values, environment = remembered
    monkeypatch.setattr("weir.trainer.learning.train.make_environment", lambda *words, **options: environment)
    # Nothing that changes over all steps; two updates of 128 steps, then two more.
    constant = {"learning_rate_end": 1e-2, "entropy_coefficient_end": 0.003, "weight_average_decay": 0.5}
    values["recurrent_ppo"] |= constant
    for run, steps, resume in (("whole", 512, False), ("parts", 256, False), ("parts", 512, True)):
        configuration = checked_configuration(values | {"steps": steps})
        assert train(configuration, tmp_path / run, callbacks=[Seeds()], resume=resume).steps == steps
    for name in ("checkpoint.zip", AVERAGED):
        one, other = (read_checkpoint(tmp_path / run / name).arrays for run in ("whole", "parts"))
        assert one.keys() == other.keys()
        for key, expected in one.items():
            np.testing.assert_array_equal(other[key], expected, err_msg=f"{name} {key}")


class Spy:
    """Counts the steps since an episode began, in its state."""

    def __init__(self):
        self.counts = []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        state = np.where(episode_start, 0, 0 if state is None else state + 1)
        self.counts.append(state)
        return np.zeros((len(observation), 1), dtype=np.float32), state


def test_evaluation_keeps_the_state_of_an_episode(values, fake_simulator):
    spy = Spy()
    with Evaluation(checked_configuration(values), 2, 8.0, simulator=fake_simulator) as evaluation:
        evaluation.rewards(spy, (0.4, 0.5, 0.1))
    np.testing.assert_array_equal(spy.counts, np.repeat(np.arange(39)[:, None] % 20, 2, axis=1))


@pytest.mark.parametrize("kind", ["around_rule", "log_rate"])
def test_the_file_gives_what_the_policy_does_step_by_step(values, tmp_path, kind):
    values["environment"] |= {"action": {"kind": kind}}
    values["recurrent_ppo"] = TABLE | {"layers": 2}
    configuration = checked_configuration(values)
    specification, policy = configuration.environment.specification(), spread(configuration)
    model = export(policy, specification, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    core = pytest.importorskip("weir._core")
    library = core.Policy((tmp_path / "model.onnx").read_bytes())
    assert not library.needs_onnxruntime
    random, paths = np.random.default_rng(2), golden_inputs(specification)[0]
    state, kept, actions = None, np.zeros((1, policy.lstm_actor.state_size), np.float32), []
    for _ in range(50):
        observation = (random.choice(paths) * random.uniform(0.5, 1.5, paths.shape[1]))[None].astype(np.float32)
        objective = random.dirichlet([1.0] * 3, 1).astype(np.float32)
        truth = random.uniform(0.0, 1e6, (1, 5))
        action, state = policy.predict(np.hstack([observation, objective, truth]), state, deterministic=True)
        expected = specification.wire_actions(action, observation)
        given = {"observation": observation, "objective": objective, "state": kept}
        found, kept = session.run(["action", "next_state"], given)
        np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-5)
        computed = library.run(observation[0].tolist(), tuple(objective[0].tolist()))
        np.testing.assert_allclose(np.ravel(computed), expected, rtol=1e-4, atol=1e-5)
        actions.append(action.item())
    assert np.ptp(actions) > 0.2


def test_the_critic_sees_what_the_actor_does_not(values):
    configuration = checked_configuration(values)
    policy = spread(configuration)
    history, objectives = golden_inputs(configuration.environment.specification())
    values, starts = [], torch.ones(len(history))
    zeros = (torch.zeros(policy.lstm_hidden_state_shape).repeat(1, len(history), 1),) * 2
    for truth in (2e6, 6e6):
        whole = np.hstack([history, objectives, np.full((len(history), 5), truth)]).astype(np.float32)
        with torch.no_grad():
            values.append(policy.predict_values(torch.from_numpy(whole), zeros, starts))
    assert not torch.equal(*values)


def test_commands_end_to_end(values, tmp_path, write_toml, real_simulator):
    values["environment"] |= {"action": {"kind": "around_rule"}}
    run, model, replay = tmp_path / "run", tmp_path / "small.onnx", tmp_path / "replay"

    def weir(*words):
        result = CliRunner().invoke(build_app(), [str(word) for word in words], catch_exceptions=False)
        assert result.exit_code == 0, result.output

    weir("train", write_toml(values | {"steps": 256}), "--out", run)
    assert load_policy(run / "checkpoint.zip").lstm_actor.state_size == 16
    weir("export", run, "--out", model)
    found = read_model(model)
    assert found.inputs["state"] == [1, 16]
    assert found.provenance["network"] == {"hidden": 8, "layers": 1, "preference": 4}
    assert found.provenance["algorithm"].startswith("recurrent PPO (sb3-contrib), 256 steps")
    assert "sb3-contrib" in found.provenance["versions"]
    once = "--controller", "weir", "--seeds", "1", "--objectives", "0"
    weir("replay", tmp_path / "steady.json", "--model", model, "--out", replay, *once)
    (line,) = (replay / "results.jsonl").read_text().splitlines()
    assert json.loads(line)["flows"][0]["estimator"] == {"decisions": 19, "policy_faults": 0, "fallback_decisions": 0}
