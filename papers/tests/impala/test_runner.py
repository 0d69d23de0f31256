"""Runners send fragments of late decisions and of the state of the LSTM, acted by the parameters of a request."""

import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")

from weir_cli.errors import InputError  # noqa: E402
from weir_papers.mvfst import senders  # noqa: E402
from weir_papers.mvfst.impala.runner import Runner, make_policy  # noqa: E402
from weir_papers.mvfst.impala.training import load, make_learner, save  # noqa: E402
from weir_train.configuration.scenarios import ScenarioSampler  # noqa: E402
from weir_train.configuration.training import checked_configuration  # noqa: E402


@pytest.fixture
def configuration(impala_values):
    return checked_configuration(impala_values)


@pytest.fixture
def make_runner(configuration, fake_gym_simulator, monkeypatch):
    """A function from an index to a runner in this process."""
    monkeypatch.setenv("WEIR_SIM", str(fake_gym_simulator))
    documents = ScenarioSampler(configuration.scenarios).documents
    return lambda index: Runner(configuration, documents, index)


def test_the_lstm_goes_on_from_fragment_to_fragment(configuration, make_runner):
    agent, own = make_policy(configuration), make_runner(0)
    first, second = (own.sample(agent.state_dict(), update) for update in (0, 3))
    assert (first.update, second.update) == (0, 3)
    assert not first.fragment.memory.any()
    assert second.fragment.memory.any()
    torch.testing.assert_close(second.fragment.states[:, 0], first.fragment.states[:, -1])
    # The learner, with the state that the fragment carries, has the probabilities of what acted.
    found = agent.evaluate(second.fragment)
    acted = torch.distributions.Categorical(logits=found.scores).log_prob(second.fragment.actions)
    torch.testing.assert_close(acted, second.fragment.log_probabilities)
    assert sum(map(len, first.rewards.values())) == 3, "an episode of each sender has ended"


def test_a_request_sets_the_parameters_that_act(configuration, make_runner):
    agent, own = make_policy(configuration), make_runner(0)
    with torch.no_grad():
        agent.scores.weight.zero_()
        agent.scores.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 100.0, 0.0]))
    assert (own.sample(agent.state_dict(), 0).fragment.actions == 3).all()


def test_runners_draw_other_actions_and_decide_late(configuration, make_runner, monkeypatch):
    delays_ms, specification = [], senders.DelayedSpecification

    def watched(*given, **more):
        delays_ms.append(more["delay_ms"])
        return specification(*given, **more)

    monkeypatch.setattr(senders, "DelayedSpecification", watched)
    parameters = make_policy(configuration).state_dict()
    first, second = (make_runner(index).sample(parameters, 0).fragment for index in (0, 1))
    assert not torch.equal(first.actions, second.actions)
    assert delays_ms == [(10.0, 80.0)] * 2


def test_a_resumed_learner_learns_on_as_the_first(configuration, make_runner, tmp_path):
    own, learners = make_runner(0), [make_learner(configuration, make_policy(configuration)) for _ in range(2)]
    fragments = [own.sample(learners[0].parameters(), 0).fragment for _ in range(2)]
    learners[0].learn(fragments[0])
    save(learners[0], tmp_path / "checkpoint.zip")
    load(learners[1], tmp_path / "checkpoint.zip")
    for learner in learners:
        torch.manual_seed(5)
        learner.learn(fragments[1])
    first, second = learners
    assert (first.steps, first.updates) == (second.steps, second.updates) == (240, 2)
    assert all(torch.equal(a, b) for a, b in zip(first.agent.parameters(), second.agent.parameters(), strict=True))


def test_a_training_that_diverges_is_an_error(configuration, make_runner):
    learner = make_learner(configuration, make_policy(configuration))
    fragment = make_runner(0).sample(learner.parameters(), 0).fragment
    fragment.rewards[0, 0] = float("inf")
    with pytest.raises(InputError, match="the training has diverged: its gradient"):
        learner.learn(fragment)
