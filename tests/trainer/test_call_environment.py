"""`weir/Call-v0`: the environment on libwebrtc's stack."""

import contextlib

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import weir_train.gym
from weir_cli.errors import InputError, MissingComponent
from weir_sim.executables import find_virtual_call
from weir_traces.generate.families.path import bernoulli
from weir_traces.schema.scenario import Scenario
from weir_train.gym import BottleneckEnv, BottleneckVectorEnv
from weir_train.gym.specification import KEYS_OF_STACK, EnvironmentSpecification

SPECIFICATION = EnvironmentSpecification(60, history=2, stack="libwebrtc")


@pytest.fixture(autouse=True)
def _program():
    try:
        find_virtual_call()
    except MissingComponent as error:
        pytest.skip(str(error))


def rows(env, seed, steps=40):
    found = [env.reset(seed=seed)[0]]
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        observation, reward, _, truncated, _ = env.step(generator.uniform(-1, 1, 1).astype(np.float32))
        found.append(np.append(observation, [reward, truncated]))
    return found


def test_it_is_registered_and_keeps_gymnasiums_contract(steady):
    environment = gymnasium.make("weir_train.gym:weir/Call-v0", scenario=steady(duration_s=2.0))
    assert environment.unwrapped.specification.stack == "libwebrtc"
    check_env(environment.unwrapped, skip_render_check=True)
    environment.close()
    assert weir_train.gym.CALL_ENVIRONMENT_ID == "weir/Call-v0"


def test_the_same_seed_and_actions_give_the_same_episode(steady):
    environment = BottleneckEnv(steady(duration_s=5.0), SPECIFICATION)
    first, again = rows(environment, 7), rows(environment, 7)
    assert all(np.array_equal(observation, other) for observation, other in zip(first, again, strict=True))
    assert not np.array_equal(first[-1], rows(environment, 8)[-1])
    environment.close()


@pytest.mark.parametrize("side", ["receiver", "sender"])
def test_the_sender_follows_the_agent(steady, side):
    specification = EnvironmentSpecification(100, stack="libwebrtc", side=side)
    environment = BottleneckEnv(steady(rate_bps=4_000_000, duration_s=8.0), specification)
    environment.reset(seed=1)
    rates = []
    for action in [-0.1] * 30 + [0.3] * 40:
        *_, info = environment.step(np.array([action]))
        rates.append(info["receive_rate_bps"])
    assert np.mean(rates[60:]) > 1.3 * np.mean(rates[20:30]) > 0
    environment.close()


def test_an_episode_is_truncated_at_its_end_and_another_begins(steady):
    environment = BottleneckVectorEnv(2, steady(duration_s=1.0), SPECIFICATION)
    environment.reset(seed=1)
    ended = [environment.step(np.zeros((2, 1)))[3] for _ in range(40)]
    assert np.sum(ended, axis=0).tolist() == [2, 2]
    environment.close()


def test_the_viewers_reward_is_the_viewers_quality(steady):
    # An outage, and a rate that falls: freezes and changes of the picture's quality.
    scenario = steady(rate_bps=1_500_000, duration_s=20.0)
    scenario["forward"]["capacity"] |= {"times_s": [0, 8, 10, 14], "rates_bps": [1_500_000, 0, 1_500_000, 400_000]}
    specification = EnvironmentSpecification(60, stack="libwebrtc")
    with contextlib.closing(BottleneckEnv(scenario, specification, reward="viewer")) as environment:
        environment.reset(seed=1)
        rewards, infos, truncated = [], [], False
        while not truncated:
            _, reward, _, truncated, info = environment.step(np.array([0.0]))
            rewards.append(reward)
            infos.append(info)
    frozen_s = sum(info["frozen_share"] for info in infos) * 0.06
    assert 1.9 < frozen_s < 6
    assert min(rewards) < -1 < 0.3 < np.mean(rewards) < max(rewards) < 1
    assert 30 * 12 < sum(info["frames_rendered"] for info in infos) <= 30 * 20
    assert all(2 <= info["qp"] <= 106 for info in infos if info["qp"] != -1)
    assert 25 < np.median([info["end_to_end_delay_ms"] for info in infos]) < 1000


@pytest.mark.parametrize("side", ["receiver", "sender"])
def test_an_episode_has_the_repair_and_the_playout_limit_of_a_call_with_weir(steady, monkeypatch, side):
    scenario = steady(rate_bps=2_000_000, duration_s=12.0)
    scenario["forward"] |= {
        "loss": bernoulli(0.05),
        "jitter": {"kind": "spikes", "gap_mean_s": 1.0, "shortest_ms": 100.0, "longest_ms": 250.0},
    }
    scenario["flows"][0]["media"] = {"kind": "video", "max_rate_bps": 2.5e6, "audio_rate_bps": 32_000.0}
    scenario = Scenario.from_dict(scenario)
    specification = EnvironmentSpecification(100, stack="libwebrtc", side=side)

    def delays_ms(**call):
        monkeypatch.setitem(KEYS_OF_STACK, "libwebrtc", {"call": KEYS_OF_STACK["libwebrtc"]["call"] | call})
        with contextlib.closing(BottleneckEnv(scenario, specification)) as environment:
            environment.reset(seed=1)
            return [environment.step(np.array([-0.1]))[-1]["end_to_end_delay_ms"] for _ in range(100)]

    made = delays_ms()
    assert made == delays_ms(playout="limited", repair="adaptive")
    assert made != delays_ms(playout="unlimited", repair="adaptive")
    assert made != delays_ms(playout="limited", repair="fec")


def test_an_unknown_stack_is_refused():
    with pytest.raises(InputError, match="model, libwebrtc"):
        EnvironmentSpecification(stack="ns-3")
