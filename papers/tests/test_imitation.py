"""Dataset aggregation with a recurrent student: it learns what needs a memory, and its file gives what it learned."""

import json
import math
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

import onnxruntime  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from weir import Policy  # noqa: E402
from weir_cli.app import build_app  # noqa: E402
from weir_cli.errors import InputError  # noqa: E402
from weir_eval.model_file import read_model  # noqa: E402
from weir_papers.imitation.dataset_aggregation import SETTLED_ITERATIONS, Episodes, Student, has_settled  # noqa: E402
from weir_papers.imitation.teachers import MeanTeacher, ModelTeacher, OracleTeacher, make_teacher  # noqa: E402
from weir_train.gym.specification import (  # noqa: E402
    DEFAULT_FEATURES,
    ActionSpecification,
    EnvironmentSpecification,
)
from weir_train.learning.algorithms import LinearSchedule  # noqa: E402
from weir_train.model.export import export  # noqa: E402
from weir_train.model.golden_inputs import golden_inputs  # noqa: E402
from weir_train.policies.recurrent import DeployedRecurrentPolicy, RecurrentPolicy  # noqa: E402

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


def spread(layers):
    """A policy with random parameters, so that its actions spread."""
    torch.manual_seed(5)
    policy = RecurrentPolicy(SPECIFICATION, preference_size=4, hidden=12, layers=layers)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(0.0, 0.5)
    return policy


def test_the_student_learns_what_requires_memory():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    policy = RecurrentPolicy(SPECIFICATION, preference_size=4, hidden=16)
    student, learning_rate = Student(policy, OracleTeacher(SPECIFICATION), Remembered(), 1), LinearSchedule(1e-2, 1e-3)
    losses = []
    for iteration in range(25):
        assert len(student.act(4)) == 4
        losses.append(student.learn(learning_rate(1.0 - iteration / 25)))
    assert losses[-1] < 0.2 * losses[0]
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


@pytest.mark.parametrize("layers", [1, 2])
def test_the_file_gives_what_torch_does_step_by_step(tmp_path, layers):
    policy = spread(layers)
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
        inputs = {"observation": observation, "objective": objective, "state": kept}
        found, kept = session.run(["action", "next_state"], inputs)
        np.testing.assert_allclose(found, action.numpy(), rtol=1e-5)
        np.testing.assert_allclose(kept, state.numpy(), rtol=1e-5, atol=1e-5)
        actions.append(action.item())
        rows.append(observation[0].tolist())
        weights.append(tuple(objective[0].tolist()))
    assert np.ptp(np.log(actions)) > 1.0
    library = Policy(data)
    assert library.needs_onnxruntime
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
    export(spread(1), SPECIFICATION, tmp_path / "model.onnx")
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
def train(tmp_path, values, write_toml):
    """Runs `weir train` on a small imitation with changes to its table, and `weir export`; results by command."""
    values["environment"]["action"]["kind"] = "around_rule"

    def run(name, *options, steps=80, **imitation):
        table = {"hidden": 8, "decisions_per_iteration": 40} | imitation
        path = write_toml(values | {"algorithm": "imitation", "steps": steps, "imitation": table})
        words = ["train", str(path), "--out", str(tmp_path / name), *options]
        result = CliRunner().invoke(build_app(), words)
        if result.exit_code == 0:
            file = str(tmp_path / f"{name}.onnx")
            exported = CliRunner().invoke(build_app(), ["export", str(tmp_path / name), "--out", file, "--force"])
            assert exported.exit_code == 0, exported.output
        return result

    return run


def test_imitation_is_trained_resumed_and_teaches_another(tmp_path, train, real_simulator):
    result = train("a")
    assert result.exit_code == 0, result.output
    model = read_model(tmp_path / "a.onnx")
    assert model.provenance["teachers"] == ["oracle"]
    assert model.provenance["network"] == {"hidden": 8, "layers": 1, "preference": 4}
    assert "80 decisions" in model.provenance["algorithm"]

    assert "already holds" in str(train("a").exception)
    assert "imitation.hidden differs" in str(train("a", "--resume", steps=120, hidden=4).exception)
    result = train("a", "--resume", steps=120)
    assert result.exit_code == 0, result.output
    assert "120 decisions" in read_model(tmp_path / "a.onnx").provenance["algorithm"]

    scenario = tmp_path / "steady.json"  # of 4 s; a decision every 200 ms
    command = [real_simulator, "run", scenario, "--controller", "weir", "--model", tmp_path / "a.onnx", "--no-series"]
    flow = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)["flows"][0]
    assert flow["estimator"] == {"decisions": 19, "faults": 0, "fallback_decisions": 0}

    result = train("b", steps=40, teachers=["oracle", str(tmp_path / "a.onnx")])
    assert result.exit_code == 0, result.output
    teachers = read_model(tmp_path / "b.onnx").provenance["teachers"]
    assert teachers == ["oracle", read_model(tmp_path / "a.onnx").sha256]


def test_wrong_use_of_imitation_is_one_message(tmp_path, values, train):
    assert "none.onnx" in str(train("a", teachers=[str(tmp_path / "none.onnx")]).exception)
    assert "--eval" in str(train("b", "--eval").exception)
    values["environment"]["action"]["kind"] = "log_rate"
    assert "around_rule" in str(train("c").exception)


def test_the_same_seed_gives_the_same_bytes(tmp_path, train):
    names = ("a", "b")
    for name in names:
        result = train(name, steps=40, hidden=4)
        assert result.exit_code == 0, result.output
    first, second = ((tmp_path / name / "checkpoint.zip") for name in names)
    with np.load(first) as first_arrays, np.load(second) as second_arrays:
        assert all(np.array_equal(first_arrays[key], second_arrays[key]) for key in first_arrays)
