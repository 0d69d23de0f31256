"""MVFST-RL's agent: its environment, its network and its learner."""

import json
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")

from weir_eval.model_file import read_model  # noqa: E402
from weir_papers.common import Case  # noqa: E402
from weir_papers.mvfst import trials  # noqa: E402
from weir_papers.mvfst.actor import Actor  # noqa: E402
from weir_papers.mvfst.agent import Agent, Fragment  # noqa: E402
from weir_papers.mvfst.claims import REPETITION, measured  # noqa: E402
from weir_papers.mvfst.learner import Size, Variant, impala_loss, learn  # noqa: E402
from weir_papers.mvfst.mvfst_report import mvfst_markdown  # noqa: E402
from weir_papers.mvfst.mvfst_runs import EMULATORS  # noqa: E402
from weir_papers.mvfst.senders import (  # noqa: E402
    ACTIONS,
    HISTORY,
    LARGEST_WINDOW,
    SMALLEST_WINDOW,
    STATE_WIDTH,
    DelayedSpecification,
    RewardScale,
    Senders,
    log_reward,
    next_windows,
    queueing_delay_ms,
)
from weir_traces.schema.scenario import Scenario  # noqa: E402
from weir_train.gym.step import StepRecord  # noqa: E402


@pytest.fixture
def documents(steady):
    """Two emulators, of three seconds."""
    return [Scenario.from_dict(steady(name, rate, 3.0)).to_dict() for name, rate in (("a", 1e6), ("b", 4e6))]


@pytest.fixture
def senders(documents, fake_gym_simulator):
    senders = Senders(4, documents, simulator=fake_gym_simulator)
    yield senders
    senders.close()


def test_the_reward_by_hand():
    delays_ms = np.array([50.0, 51.0, 50.0 + np.e])
    record = StepRecord.of(receive_rate_bps=8e6, one_way_delay_p95_ms=delays_ms, base_one_way_delay_ms=50.0)
    assert log_reward(record) == pytest.approx([0.0, 0.0, -0.75], abs=1e-4), "below 1 ms there is no difference"


def test_actions_are_on_the_window():
    windows = np.array([10.0, 10.0, 30.0, 10.0, 1500.0, 3.0])
    found = next_windows(windows, np.array([0, 1, 2, 3, 4, 1]))
    assert found.tolist() == [10.0, 5.0, 20.0, 20.0, LARGEST_WINDOW, SMALLEST_WINDOW]


def test_rewards_are_normalized_for_each_emulator():
    scale = RewardScale()
    for rewards in ([1.0, 100.0], [3.0, 300.0], [1.0, 100.0], [3.0, 300.0]):
        found = scale(["a", "b"], np.array(rewards))
    # Means 2 and 200, deviations 1 and 100.
    assert found == pytest.approx([1.0, 1.0])


def test_decisions_come_late(steady):
    specification = DelayedSpecification(delay_ms=(10.0, 90.0))
    request = specification.reset_request(steady(), 1, (0.4, 0.5, 0.1))
    assert request["decision_delay_ms"] == [10.0, 90.0]
    assert {"scenario", "action", "side"} <= set(request)


def test_the_rate_before_stays_in_force_until_a_late_decision(steady, real_simulator):
    def sent(delay_ms):
        senders = Senders(1, [steady("wide", 50e6, 5.0)], delay_ms=(delay_ms, delay_ms), simulator=real_simulator)
        try:
            senders.reset(1)
            records = [senders.step(np.array([4 if index < 6 else 0])).record for index in range(12)]
        finally:
            senders.close()
        return np.array([record.send_rate_bps[0] for record in records])

    at_once, late = sent(0.0), sent(90.0)
    assert at_once[-1] == pytest.approx(late[-1], rel=0.1)
    # While the rate doubles in every interval, it is about half of it meanwhile.
    assert late[3:6].sum() < 0.75 * at_once[3:6].sum()


def test_a_state_has_the_actions_chosen_so_far(senders):
    states = senders.reset(1)
    assert states.shape == (4, STATE_WIDTH)
    history = states[:, -HISTORY * (len(ACTIONS) + 1) :].reshape(4, HISTORY, -1)
    assert not history.any()
    before = senders.step(np.array([4, 1, 0, 2]))
    step = senders.step(np.array([4, 4, 0, 3]))
    history = step.states[:, -HISTORY * (len(ACTIONS) + 1) :].reshape(4, HISTORY, -1)
    assert history[:, 0, :-1].argmax(axis=1).tolist() == [4, 4, 0, 3]
    assert history[:, 1, :-1].argmax(axis=1).tolist() == [4, 1, 0, 2]
    assert not history[:, 2:].any()
    # Ten packets, doubled twice.
    assert history[0, 0, -1] == pytest.approx(0.3 * np.log(4))
    # Windows of 40, 10, 10 and 12 packets in a round trip of 50 ms and the queueing delay before.
    round_trip_s = 0.05 + queueing_delay_ms(before.record) / 1e3
    windows_bits = np.array([40, 10, 10, 12]) * 1200 * 8
    assert step.record.target_bps == pytest.approx(windows_bits / round_trip_s, rel=1e-3)


def test_an_episode_begins_without_a_history(senders):
    senders.reset(1)
    for _ in range(28):
        step = senders.step(np.full(4, 3))
        assert not step.ended.any()
    step = senders.step(np.full(4, 3))
    assert step.ended.all()
    assert not step.states[:, -HISTORY * (len(ACTIONS) + 1) :].any()
    assert step.finals[:, -HISTORY * (len(ACTIONS) + 1) :].any()


def test_the_memory_is_what_the_network_remembers():
    torch.manual_seed(1)
    agent = Agent(3, 8)
    states, memory = torch.randn(5, 3), agent.no_memory(5)
    first, _, later = agent(states, torch.zeros(5), memory)
    again, _, _ = agent(states, torch.zeros(5), later)
    assert not torch.allclose(first, again)
    plain = Agent(3, 8, recurrent=False)
    first, _, later = plain(states, torch.zeros(5), memory)
    assert torch.equal(later, memory)
    rewarded, _, _ = plain(states, torch.ones(5), memory)
    assert not torch.allclose(first, rewarded)


def test_a_fragment_is_evaluated_as_it_was_acted(senders):
    torch.manual_seed(1)
    agent = Agent(STATE_WIDTH, 8)
    fragment = Actor(senders, agent, 1).unroll(40)
    assert fragment.ended.sum() == 4
    actor = Actor(senders, agent, 1)
    actor.agent.load_state_dict(agent.state_dict())
    fragment = actor.unroll(40)
    found = agent.evaluate(fragment)
    acted = torch.distributions.Categorical(logits=found.scores).log_prob(fragment.actions)
    # The same parameters give the same probabilities, also after an episode has ended.
    torch.testing.assert_close(acted, fragment.log_probabilities)
    inside = ~fragment.ended[:, :-1]
    torch.testing.assert_close(found.next_values[:, :-1][inside], found.values[:, 1:][inside])
    assert not torch.allclose(found.next_values[:, 28], found.values[:, 29])


def bandit(agent, variant, steps=150):
    """The agent after updates on two-step episodes in which action 2 alone has a reward; it acts itself, or a policy
    that takes action 0 nine times out of ten does.
    """
    torch.set_num_threads(1)  # more only wait for each other
    generator, optimizer = torch.Generator().manual_seed(1), torch.optim.Adam(agent.parameters(), 1e-2)
    behind = torch.tensor([0.9, 0.025, 0.025, 0.025, 0.025])
    for _ in range(steps):
        actions = torch.multinomial(behind, 64, replacement=True, generator=generator)[:, None]
        zeros = torch.zeros(64, 1)
        fragment = Fragment(
            torch.zeros(64, 2, 3), torch.zeros(64, 2), actions, behind.log()[actions], (actions == 2).float(),
            torch.ones(64, 1, dtype=torch.bool), torch.zeros(64, 1, 3), zeros, agent.no_memory(64),
        )  # fmt: skip
        optimizer.zero_grad()
        impala_loss(agent, fragment, variant).backward()
        optimizer.step()
    scores, _, _ = agent(torch.zeros(1, 3), torch.zeros(1), agent.no_memory(1))
    return torch.softmax(scores, dim=1)[0]


def test_it_learns_from_what_another_policy_did():
    torch.manual_seed(1)
    probabilities = bandit(Agent(3, 8, recurrent=False), Variant(entropy=0.0))
    assert probabilities.argmax() == 2
    assert probabilities[2] > 0.9
    # With more entropy it keeps trying others.
    torch.manual_seed(1)
    assert bandit(Agent(3, 8, recurrent=False), Variant(entropy=1.0))[2] < 0.6


def test_each_ablation_trains_another_agent():
    agents, probabilities = {}, []
    for name, variant in trials.VARIANTS.items():
        torch.manual_seed(1)
        agents[name] = Agent(3, 8, recurrent=variant.recurrent)
        probabilities.append(bandit(agents[name], variant, steps=5))
    entropies = ("", ", low entropy", ", high entropy")
    assert set(agents) == {f"{network}{entropy}" for network in ("lstm", "no lstm") for entropy in entropies} | {
        "uncorrected"
    }
    assert not any(torch.equal(first, other) for first, other in combinations(probabilities, 2))
    memories = {name: agent(torch.ones(1, 3), torch.zeros(1), agent.no_memory(1))[2] for name, agent in agents.items()}
    assert all(memories[name].any() == (not name.startswith("no lstm")) for name in agents)


def test_two_trainings_with_a_seed_are_equal(documents, fake_gym_simulator):
    size = Size(steps=600, senders=4, hidden=8, lag=1)
    first, rewards = learn(Variant(), size, documents, 1, simulator=fake_gym_simulator)
    second, _ = learn(Variant(), size, documents, 1, simulator=fake_gym_simulator)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert set(rewards) == {"a", "b"}
    assert sum(map(len, rewards.values())) == 20


def test_a_trial_is_kept(tmp_path, documents, fake_gym_simulator, monkeypatch):
    emulators = [Scenario.from_dict(document) for document in documents]
    monkeypatch.setattr(trials, "pantheon_scenarios", lambda: emulators)
    monkeypatch.setattr(trials, "TRAINED_ON", ("a",))
    monkeypatch.setattr(trials, "POLICER", "b")
    monkeypatch.setattr(trials, "_STEPS", 30)
    monkeypatch.setattr(trials, "RUNS", 2)
    size = Size(steps=300, senders=4, hidden=8)
    found = trials.trial(trials.LSTM, 1, size, tmp_path, simulator=fake_gym_simulator)
    assert set(found["cases"]) == {"a", "b"}
    assert 0.0 <= found["cases"]["a"][trials.RANDOM]["utilisation"] <= 1.5
    assert len(found["curve"]) == trials.CURVE_PARTS
    assert (tmp_path / "lstm-1.zip").is_file()
    assert "state" in read_model(tmp_path / "lstm-1.onnx").inputs
    assert trials.trial(trials.LSTM, 1, size, tmp_path, simulator="nowhere") == found
    with pytest.raises(Exception, match="other options"):
        trials.trial(trials.LSTM, 1, Size(steps=301, senders=4, hidden=8), tmp_path)
    other = trials.trial("no lstm, low entropy", 1, size, tmp_path, simulator=fake_gym_simulator)
    assert "cases" not in other


def test_a_curve_has_the_mean_of_each_tenth_over_emulators():
    rewards = {"a": list(np.arange(20.0)), "b": [10.0] * 5}
    assert trials.curve(rewards) == [5.25, 6.25, 7.25, 8.25, 9.25, 10.5, 12.5, 14.5, 16.5, 18.5]
    assert trials.curve({"a": []}) == [None] * 10


def test_the_page_has_the_agent_beside_the_controllers():
    cases = {name: {"gcc": Case(0.9, 10.0, 0.02)} for name in ("blocked-0", *EMULATORS)}
    cases["pantheon-7"]["nada"] = Case(0.9, 10.0, 0.0)
    own = {f"pantheon-{number}": {"lstm": asdict(Case(0.8, 20.0, 0.1))} for number in range(1, 8)}
    results = [
        {"seed": seed, "variant": "lstm", "curve": [seed] + 9 * [None], "cases": own if seed == 1 else {}}
        for seed in (1, 2)
    ]
    page = mvfst_markdown([], cases, {"runs": 1, "seeds": [1], "model": {}, "finished": ""}, results)
    assert "| agent | 80.0 %, 20 ms, 10.0 % | 80.0 %, 20 ms, 10.0 % |" in page
    assert "| gcc | 90.0 %, 10 ms, 2.0 % | 90.0 %, 10 ms, 2.0 % |" in page
    assert "| lstm | 1.50 |  |  |" in page
    assert page.count("nada") == 2  # not among those of figure 3, as it did not run everywhere
    assert "agent" not in mvfst_markdown([], cases, {"runs": 1, "seeds": [1], "model": {}, "finished": ""}, [])


def test_the_values_of_claims_by_hand():
    own, random = (
        {"utilisation": share, "mean_queueing_delay_ms": delay} for share, delay in ((0.8, 20.0), (0.4, 80.0))
    )
    cases = {f"pantheon-{number}": {"lstm": own, "random": random} for number in range(1, 8)}
    rewards = {"lstm": 2.0, "no lstm": 1.5, "lstm, low entropy": 1.0, "lstm, high entropy": 2.5, "uncorrected": 1.9}
    document = {
        "rows": [{"name": "blocked_25", "value": 0.02}],
        "cases": {"pantheon-7": {"gcc": {"utilisation": 0.9}, "oracle": {"utilisation": 1.0}}},
        "trials": [{"seed": 1, "variant": name, "reward": reward, "cases": cases} for name, reward in rewards.items()],
    }
    found = measured(json.loads(json.dumps(document)))
    assert found["mvfst/lost_25"] == [0.02]
    assert found["mvfst/random_delay"] == pytest.approx([0.25])
    assert found["mvfst/random_throughput"] == pytest.approx([2.0])
    assert found["mvfst/policer"] == pytest.approx([0.8 / 0.9])
    assert [found[f"mvfst/{key}"][0] for key in ("lstm", "low_entropy", "high_entropy", "vtrace")] == pytest.approx(
        [0.5, 1.0, -0.5, 0.1]
    )


def test_asynchrony_is_a_ratio_of_seconds_in_a_file_of_its_own(tmp_path):
    found = [{"asynchronous": {"seconds": 3.0}, "synchronous": {"seconds": 4.0}}] * 2
    (tmp_path / "asynchrony.json").write_text(json.dumps({"asynchrony": found}))
    assert REPETITION.measured(tmp_path) == {"mvfst/asynchrony": [0.75, 0.75]}
    assert REPETITION.model(tmp_path) is None
