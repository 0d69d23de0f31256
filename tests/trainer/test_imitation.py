"""Dataset aggregation with a recurrent student: it learns what needs a memory, and its file gives what it learned."""

import json
import math
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

import onnxruntime  # noqa: E402
import typer  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from weir.errors import InputError  # noqa: E402
from weir.trainer.gym.specification import (  # noqa: E402
    DEFAULT_FEATURES,
    ActionSpecification,
    EnvironmentSpecification,
)
from weir.trainer.imitation import dagger  # noqa: E402
from weir.trainer.imitation.command import imitate as imitate_command  # noqa: E402
from weir.trainer.imitation.dagger import SETTLED_ITERATIONS, has_settled, imitate  # noqa: E402
from weir.trainer.imitation.episodes import Episodes  # noqa: E402
from weir.trainer.imitation.teachers import MeanTeacher, ModelTeacher, OracleTeacher, make_teacher  # noqa: E402
from weir.trainer.learning.algorithms import LinearSchedule  # noqa: E402
from weir.trainer.model.export import check_in_library, export  # noqa: E402
from weir.trainer.model.file import read_model  # noqa: E402
from weir.trainer.model.golden_inputs import golden_inputs  # noqa: E402
from weir.trainer.policies.recurrent import DeployedRecurrentPolicy, RecurrentPolicy  # noqa: E402

SPECIFICATION = EnvironmentSpecification(100, DEFAULT_FEATURES, 2, ActionSpecification("around_rule"))
RATE_BPS = 1e6


class Remembered:
    """A path whose first interval alone tells, by loss, whether 1.2 or 1 / 1.2 of the rule's rate is right: 16 of them
    side by side, for 4 intervals each.
    """

    num_envs = 16
    steps = 4

    def __init__(self):
        self.random = np.random.default_rng(3)
        self.latest = {}

    def reset(self):
        self.step_of = 0
        self.lossy = self.random.random(self.num_envs) < 0.5
        return self.observations()

    def observations(self):
        known = {"receive_rate_bps": RATE_BPS, "packets_received": 10.0, "last_estimate_bps": RATE_BPS}
        rows = np.zeros((self.num_envs, SPECIFICATION.width), dtype=np.float32)
        for index, name in enumerate(SPECIFICATION.observed):
            rows[:, index] = known.get(name, 0.0)
            if name == "loss_ratio" and self.step_of == 0:
                rows[:, index] = np.where(self.lossy, 0.9, 0.0)
        rows[:, -3:] = (0.4, 0.5, 0.1)
        return rows

    def step(self, actions):
        self.step_of += 1
        done = np.full(self.num_envs, self.step_of == self.steps)
        rule = 1.1 * RATE_BPS
        self.latest = {"optimal_bps": np.where(self.lossy, rule / 1.2, rule * 1.2)}
        observations = self.reset() if done[0] else self.observations()
        return observations, np.zeros(self.num_envs), done, [{}] * self.num_envs


def spread(classifies=True, hidden=12, layers=2):
    """A policy with random parameters, so that its actions spread."""
    torch.manual_seed(5)
    policy = RecurrentPolicy(SPECIFICATION, preference_size=4, hidden=hidden, layers=layers, classifies=classifies)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(0.0, 0.5)
    return policy


@pytest.mark.parametrize("classifies", [True, False])
def test_the_student_learns_what_only_its_memory_tells(classifies, monkeypatch):
    monkeypatch.setattr(dagger, "LEARNING_RATE", LinearSchedule(1e-2, 1e-3))  # so little is learned sooner
    torch.set_num_threads(1)
    torch.manual_seed(1)
    policy = RecurrentPolicy(SPECIFICATION, preference_size=4, hidden=16, classifies=classifies)
    progress = []
    imitate(
        policy,
        OracleTeacher(SPECIFICATION),
        Remembered(),
        iterations=25,
        decisions=16 * 4,
        on_iteration=progress.append,
    )
    assert [state.iteration for state in progress] == list(range(1, 26))
    assert progress[-1].loss < 0.2 * progress[0].loss
    environment = Remembered()
    observations, state = environment.reset(), torch.zeros(16, policy.actor.state_size)
    lossy = environment.lossy.copy()
    for _ in range(3):
        with torch.no_grad():
            actions, state = policy(policy.scaling(torch.from_numpy(observations))[:, None], state)
        observations = environment.step(actions)[0]
    right = np.where(lossy, -1.0, 1.0) * math.log(1.2) / math.log(3.0)
    np.testing.assert_allclose(actions[:, 0, 0].numpy(), right, atol=0.05)


def test_the_untrained_student_is_the_rule():
    policy = RecurrentPolicy(SPECIFICATION)
    actions, _ = policy(torch.randn(3, 5, SPECIFICATION.width + 1), torch.zeros(3, policy.actor.state_size))
    np.testing.assert_allclose(actions.detach().numpy(), 0.0, atol=1e-7)


@pytest.mark.parametrize("classifies", [True, False])
def test_the_file_gives_what_torch_does_step_by_step(tmp_path, classifies):
    policy = spread(classifies)
    model = export(policy, SPECIFICATION, tmp_path / "a.onnx")
    export(policy, SPECIFICATION, tmp_path / "b.onnx")
    data = (tmp_path / "a.onnx").read_bytes()
    assert data == (tmp_path / "b.onnx").read_bytes()
    assert read_model(tmp_path / "a.onnx").inputs["state"] == [1, policy.actor.state_size]
    deployed = DeployedRecurrentPolicy(policy, SPECIFICATION).eval()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(2)
    paths = golden_inputs(SPECIFICATION)[0]
    state = torch.zeros(1, policy.actor.state_size)
    kept, actions, rows, weights = state.numpy(), [], [], []
    for _ in range(50):
        observation = (random.choice(paths) * random.uniform(0.5, 1.5, paths.shape[1]))[None].astype(np.float32)
        objective = random.dirichlet([1.0] * 3, 1).astype(np.float32)
        with torch.no_grad():
            action, state = deployed(torch.from_numpy(observation), torch.from_numpy(objective), state)
        given = {"observation": observation, "objective": objective, "state": kept}
        found, kept = session.run(["action", "next_state"], given)
        np.testing.assert_allclose(found, action.numpy(), rtol=1e-5)
        np.testing.assert_allclose(kept, state.numpy(), rtol=1e-5, atol=1e-5)
        actions.append(action.item())
        rows.append(observation[0].tolist())
        weights.append(tuple(objective[0].tolist()))
    assert np.ptp(np.log(actions)) > 1.0
    if check_in_library(data):
        from weir import _core

        library = _core.Policy(data)
        answers = [library.run(row, objective) for row, objective in zip(rows, weights, strict=True)]
        np.testing.assert_allclose(np.reshape(answers, -1), actions, rtol=1e-4)


def test_episodes_are_given_from_their_beginning_and_the_oldest_forgotten():
    episodes = Episodes(2, most_decisions=7)
    for step in range(5):
        episodes.add(np.full((2, 3), step), np.array([step, -step]))
        if step == 2:
            episodes.finish(np.array([1]))
    episodes.finish(np.array([0]))
    assert episodes.decisions == 5  # the first, of 3, is forgotten
    windows = list(episodes.windows(np.random.default_rng(1), 4, 3))
    assert [tuple(inputs.shape) for inputs, _ in windows] == [(4, 3, 3), (4, 2, 3)]
    np.testing.assert_array_equal(windows[1][1].numpy(), [[3, 4]] * 4)


def test_teachers(tmp_path):
    export(spread(), SPECIFICATION, tmp_path / "model.onnx")
    model = ModelTeacher(tmp_path / "model.onnx", SPECIFICATION)
    observations = Remembered().reset()
    unknown = np.full(len(observations), np.nan)
    first, second = model(observations, unknown), model(observations, unknown)
    assert np.abs(first).max() <= 1.0
    assert not np.array_equal(first, second)  # it has a state
    model.forget(np.arange(len(observations)))
    np.testing.assert_array_equal(model(observations, unknown), first)

    oracle = OracleTeacher(SPECIFICATION)
    rule = 1.1 * RATE_BPS
    rates = rule * np.array([1.0, 3.0, 1 / 3, 100.0, 0.0, np.nan] + [1.0] * 10)
    np.testing.assert_allclose(oracle(observations, rates)[:6], [0, 1, -1, 1, -1, np.nan], atol=1e-6)
    both = MeanTeacher([oracle, oracle])
    np.testing.assert_array_equal(both(observations, rates), oracle(observations, rates))
    assert isinstance(make_teacher(["oracle"], SPECIFICATION), OracleTeacher)
    other = EnvironmentSpecification(100, DEFAULT_FEATURES, 3, ActionSpecification("around_rule"))
    with pytest.raises(InputError, match="history"):
        ModelTeacher(tmp_path / "model.onnx", other)


def test_settled_is_when_a_hundred_losses_stay():
    falling = list(np.linspace(1.0, 0.5, 60))
    assert not has_settled([0.5] * (SETTLED_ITERATIONS + 9))
    assert has_settled([0.5] * (SETTLED_ITERATIONS + 10))
    assert not has_settled(falling + [0.5] * 99)
    assert not has_settled([0.5] * 109 + [0.51])


@pytest.fixture
def configuration(tmp_path, values):
    values["environment"]["action"]["kind"] = "around_rule"
    path = tmp_path / "small.toml"
    tables = {name: table for name, table in values.items() if isinstance(table, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items() if name not in tables]
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict)]
        for key, value in table.items():
            if isinstance(value, dict):
                lines.append(f"[{name}.{key}]")
                lines += [f"{inner} = {json.dumps(number)}" for inner, number in value.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments):
    app = typer.Typer()
    app.command()(imitate_command)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_learns_goes_on_and_teaches_another(tmp_path, configuration, real_simulator):
    out = tmp_path / "a.onnx"
    options = "--hidden", 8, "--decisions", 40, "--configuration", configuration
    result = run("--out", out, *options, "--iterations", 2)
    assert result.exit_code == 0, result.output
    model = read_model(out)
    assert model.provenance["teachers"] == ["oracle"]
    assert model.provenance["network"]["hidden"] == 8
    assert len(model.provenance["losses"]) == 2
    assert "2 iterations" in out.with_suffix(".md").read_text()

    assert "is there already" in str(run("--out", out, *options).exception)
    assert "has not the network" in str(run("--out", out, *options, "--resume", "--layers", 2).exception)
    result = run("--out", out, *options, "--iterations", 3, "--resume")
    assert result.exit_code == 0, result.output
    assert read_model(out).provenance["losses"][:2] == model.provenance["losses"]

    scenario = tmp_path / "steady.json"  # of 4 s; a decision every 200 ms
    command = [real_simulator, "run", scenario, "--controller", "weir", "--model", out, "--no-series"]
    flow = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)["flows"][0]
    assert flow["estimator"] == {"decisions": 19, "policy_faults": 0, "fallback_decisions": 0}

    other = tmp_path / "b.onnx"
    result = run("--out", other, *options, "--iterations", 1, "--teacher", "oracle", "--teacher", out, "--regression")
    assert result.exit_code == 0, result.output
    assert read_model(other).provenance["teachers"] == ["oracle", read_model(out).sha256]


def test_the_command_refuses_what_cannot_be(tmp_path, configuration):
    for arguments, said in (
        (("--out", tmp_path / "a.zip"), ".onnx"),
        (("--out", tmp_path / "a.onnx", "--resume"), "no such model"),
        (("--out", tmp_path / "a.onnx", "--teacher", tmp_path / "none.onnx"), "none.onnx"),
    ):
        result = run(*arguments, "--configuration", configuration)
        assert isinstance(result.exception, InputError)
        assert said in str(result.exception)


def test_the_same_seed_gives_the_same_bytes(tmp_path, configuration, real_simulator):
    files = [tmp_path / name for name in ("a.onnx", "b.onnx")]
    for file in files:
        options = "--iterations", 1, "--hidden", 4, "--decisions", 40, "--configuration", configuration
        result = run("--out", file, *options)
        assert result.exit_code == 0, result.output
    assert files[0].read_bytes() == files[1].read_bytes()
