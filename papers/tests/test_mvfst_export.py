"""MVFST-RL's agent as a model file: it decides as in its environment, and replays like any model at the sender."""

import csv
import gzip

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")

from weir_eval.model_file import read_model  # noqa: E402
from weir_papers.mvfst.agent import Agent  # noqa: E402
from weir_papers.mvfst.export import EXPORTED, DeployedAgent, export  # noqa: E402
from weir_papers.mvfst.senders import (  # noqa: E402
    ACTIONS,
    MAXIMUM_BPS,
    MINIMUM_BPS,
    SPECIFICATION,
    STATE_WIDTH,
    Senders,
    log_reward,
)
from weir_traces.schema.scenario import Scenario  # noqa: E402
from weir_train.gym.step import StepRecord  # noqa: E402
from weir_train.model.file import make_session  # noqa: E402
from weir_train.model.golden_inputs import golden_inputs  # noqa: E402


class WatchedSenders(Senders):
    """Keeps the newest features."""

    def _states(self, observations):
        self.features = {name: observations[:, index].copy() for index, name in enumerate(self.specification.observed)}
        return super()._states(observations)


def agent_of(*, recurrent=True, seed=1):
    torch.manual_seed(seed)
    return Agent(STATE_WIDTH, 8, recurrent=recurrent)


def always(action):
    """An agent that takes one action whatever happens."""
    agent = agent_of()
    with torch.no_grad():
        agent.scores.weight.zero_()
        agent.scores.bias.copy_(torch.nn.functional.one_hot(torch.tensor(action), len(ACTIONS)).float())
    return agent


def observation(**features):
    """A row of the features of EXPORTED; 0 where none is given."""
    return torch.tensor([[features.get(name, 0.0) for name in EXPORTED.observed]])


@pytest.mark.parametrize(("recurrent", "seed"), [(True, 9), (False, 1)])
def test_a_file_decides_as_the_agent_in_its_environment(steady, real_simulator, recurrent, seed):
    agent = agent_of(recurrent=recurrent, seed=seed)
    with torch.no_grad():
        # The file computes the reward from feedback, the environment from the simulator's packets.
        (agent.cell.weight_ih if recurrent else agent.layer[0].weight)[:, -1] = 0.0
        for values in agent.parameters():
            values.mul_(3.0)  # several actions occur
        agent.scores.bias.zero_()
    deployed = DeployedAgent(agent)
    senders = WatchedSenders(1, [steady("path", 5e6, 8.0)], simulator=real_simulator)
    taken, rates = [], []
    try:
        states, memory, state = (
            torch.from_numpy(senders.reset(1)),
            agent.no_memory(1),
            torch.zeros(1, deployed.state_size),
        )
        for _ in range(70):
            features = {name: float(values[0]) for name, values in senders.features.items()}
            with torch.no_grad():
                action, state = deployed(
                    observation(**features, queueing_delay_p95_s=features["queueing_delay_max_s"]), state
                )
                scores, _, memory = agent(states, torch.zeros(1), memory)
            own = state[0, 2 * agent.hidden :][: len(ACTIONS)].argmax()
            taken.append(int(scores.argmax()))
            assert own == taken[-1]
            step = senders.step(np.array([taken[-1]]))
            states = torch.from_numpy(step.states)
            rate_bps = MINIMUM_BPS * (MAXIMUM_BPS / MINIMUM_BPS) ** ((float(action) + 1) / 2)
            rates.append(rate_bps / step.record.target_bps[0])
    finally:
        senders.close()
    assert len(set(taken)) > 1
    # The round trip is that of feedback, too.
    assert np.median(rates) == pytest.approx(1.0, abs=0.1)


def test_the_last_reward_comes_from_feedback_and_is_zero_at_first(monkeypatch):
    deployed, seen = DeployedAgent(agent_of()), []
    forward = deployed.agent.forward
    monkeypatch.setattr(
        deployed.agent, "forward", lambda *given: (seen.append(float(given[1].detach())), forward(*given))[1]
    )
    row = observation(receive_rate_bps=4e6, queueing_delay_p95_s=0.02, base_round_trip_time_s=0.05)
    _, state = deployed(row, torch.zeros(1, deployed.state_size))
    deployed(row, state)
    record = StepRecord.of(receive_rate_bps=4e6, one_way_delay_p95_ms=70.0, base_one_way_delay_ms=50.0)
    assert seen == [0.0, pytest.approx(float(log_reward(record)), abs=1e-4)]


@pytest.mark.parametrize("recurrent", [True, False])
def test_a_file_has_the_state_of_its_agent_over_many_decisions(tmp_path, recurrent):
    agent, path = agent_of(recurrent=recurrent), tmp_path / "agent.onnx"
    export(agent, SPECIFICATION, path, name="agent")
    model = read_model(path)
    assert (model.name, model.action_kind, model.interval_ms) == ("agent", "log_rate", 100)
    assert model.parameters > 1000
    deployed, session = DeployedAgent(agent), make_session(path.read_bytes())
    observations, objectives = golden_inputs(EXPORTED)
    state = np.zeros((1, deployed.state_size), dtype=np.float32)
    for decision in range(60):
        row = observations[decision // 10, None]
        action, after = session.run(
            ["action", "next_state"], {"observation": row, "objective": objectives[:1], "state": state}
        )
        with torch.no_grad():
            expected, expected_after = deployed(torch.from_numpy(row), torch.from_numpy(state))
        assert action == pytest.approx(expected.numpy(), abs=1e-4)
        assert after == pytest.approx(expected_after.numpy(), rel=1e-4, abs=1e-4)
        state = after


def test_a_file_replays_at_the_sender_by_its_window(tmp_path, steady, run_weir, real_simulator):
    path = tmp_path / "path.json"
    Scenario.from_dict(steady("wide", 20e6, 8.0)).save(path)
    export(always(0), SPECIFICATION, tmp_path / "agent.onnx")
    status, _, error = run_weir(
        "replay", path, "--controller", "weir-send", "--model", tmp_path / "agent.onnx", "--decision-delay", "30",
        "--media", "filler", "--seeds", "0", "--objectives", "0", "--csv", "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 0, error
    with gzip.open(tmp_path / "out/series.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    # The guard has the first seconds of a flow; then ten packets are in a round trip of 50 ms.
    late_bps = [float(row["target_bps"]) for row in rows if float(row["time_s"]) > 4.0]
    assert np.median(late_bps) == pytest.approx(10 * 9600 / 0.05, rel=0.1)
