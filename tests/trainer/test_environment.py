import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.schema.scenario import Scenario
from weir_train.gym import BottleneckEnv, BottleneckVectorEnv, SimulatorRefusal
from weir_train.gym.episode import EpisodeSource, random_objective
from weir_train.gym.rule import rate_window, rule_rate
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.gym.step import PRIVILEGED_FIELDS, STEP_FIELDS

AROUND_RULE = ActionSpecification("around_rule", span=2.0)


def run(env, steps, seed, options=None):
    rows = [env.reset(seed=seed, options=options)[0]]
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(generator.uniform(-1, 1, 1).astype(np.float32))
        rows.append(np.append(observation, [reward, terminated, truncated]))
        if truncated:
            rows.append(env.reset()[0])
    return rows


def remarks(check):
    """The warnings of a checker of environments, which raises AssertionError for faults."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        check()
    return [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]


def test_gymnasium_check(fake_simulator, steady):
    env = gymnasium.make("weir/Bottleneck-v0", scenario=steady(), simulator=fake_simulator)
    assert remarks(lambda: check_env(env.unwrapped, skip_render_check=True)) == []
    env.close()


def test_stable_baselines3_check(fake_simulator, steady):
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs weir-train[learning]")
    env = BottleneckEnv(steady(), simulator=fake_simulator)
    assert remarks(lambda: checker.check_env(env, warn=True)) == []
    env.close()


def test_importing_the_gym_needs_no_torch():
    code = "import sys, weir_train.gym; sys.exit('torch' in sys.modules or 'stable_baselines3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("simulator", ["fake_simulator", "real_simulator"])
def test_equal_seeds_give_equal_runs(request, simulator, steady):
    simulator = request.getfixturevalue(simulator)
    runs = []
    for seed in (5, 5, 6):
        env = BottleneckEnv(
            [steady(duration_s=3.0), steady(rate_bps=2_000_000, duration_s=2.0)],
            objective="random",
            simulator=simulator,
        )
        runs.append(run(env, 40, seed))
        env.close()
    for first, second in zip(runs[0], runs[1], strict=True):
        np.testing.assert_array_equal(first, second)
    assert any(not np.array_equal(first, other) for first, other in zip(runs[0], runs[2], strict=False))


@pytest.mark.parametrize("simulator", ["fake_simulator", "real_simulator"])
@pytest.mark.parametrize("action", [ActionSpecification(), AROUND_RULE])
def test_vector_is_single_environments(request, simulator, action, steady):
    simulator = request.getfixturevalue(simulator)
    specification = EnvironmentSpecification(100, action=action)
    options = {"objective": "random", "simulator": simulator, "reward": "challenge"}
    scenarios = [steady(duration_s=1.0), steady(rate_bps=400_000, duration_s=1.5)]
    vector = BottleneckVectorEnv(3, scenarios, specification, **options)
    singles = [BottleneckEnv(scenarios, specification, **options) for _ in range(3)]
    together, _ = vector.reset(seed=11)
    alone = [env.reset(seed=11 + i)[0] for i, env in enumerate(singles)]
    np.testing.assert_array_equal(together, np.stack(alone))
    generator = np.random.default_rng(2)
    ended = 0
    for _ in range(40):
        actions = generator.uniform(-1, 1, (3, 1)).astype(np.float32)
        together, rewards, terminations, truncations, infos = vector.step(actions)
        for i, env in enumerate(singles):
            observation, reward, terminated, truncated, info = env.step(actions[i])
            assert (rewards[i], terminations[i], truncations[i]) == (reward, terminated, truncated)
            assert infos["receive_rate_bps"][i] == info["receive_rate_bps"]
            np.testing.assert_array_equal(infos["objectives"][i], info["objectives"])
            if truncated:
                ended += 1
                np.testing.assert_array_equal(infos["final_obs"][i], observation)
                observation, _ = env.reset()
            np.testing.assert_array_equal(together[i], observation)
    assert ended >= 6
    vector.close()
    for env in singles:
        env.close()


def test_without_autoreset_the_caller_starts_the_next_episodes(fake_simulator, steady):
    env = BottleneckVectorEnv(
        2, steady(duration_s=1.0), simulator=fake_simulator, autoreset_mode=AutoresetMode.DISABLED
    )
    first, _ = env.reset(seed=1)
    episodes = env.episodes
    actions = np.zeros((2, 1), dtype=np.float32)
    for _ in range(4):
        *_, truncations, infos = env.step(actions)
    assert truncations.all()
    assert "final_obs" not in infos
    np.testing.assert_array_equal(env.start(episodes), first)
    env.close()


def test_a_step_after_the_end_is_refused_with_the_reason(real_simulator, steady):
    env = BottleneckEnv(steady(duration_s=1.0), simulator=real_simulator)
    env.reset(seed=1)
    action = np.zeros(1, dtype=np.float32)
    while not env.step(action)[3]:
        pass
    with pytest.raises(SimulatorRefusal, match="a step without a run: it is over, or was never reset"):
        env.step(action)
    env.reset(seed=1)
    env.close()


def test_an_episode_cannot_begin_a_step_late():
    with pytest.raises(InputError, match="autoreset_mode"):
        BottleneckVectorEnv(1, autoreset_mode=AutoresetMode.NEXT_STEP)


def test_truncation_is_not_termination(fake_simulator, steady):
    env = BottleneckEnv(steady(duration_s=1.0), simulator=fake_simulator)
    env.reset(seed=1)
    ends = [env.step(np.zeros(1, dtype=np.float32))[2:4] for _ in range(4)]
    assert ends == [(False, False)] * 3 + [(False, True)]
    env.close()


def test_info_holds_objectives_and_step_fields(fake_simulator, steady):
    env = BottleneckEnv(steady(), simulator=fake_simulator)
    _, info = env.reset(seed=1, options={"objective": (2, 1, 1)})
    np.testing.assert_allclose(info["objective"], [0.5, 0.25, 0.25])
    observation, reward, _, _, info = env.step(np.ones(1, dtype=np.float32))
    assert set(STEP_FIELDS) < set(info)
    assert info["objectives"].shape == (3,)
    assert ((info["objectives"] >= 0) & (info["objectives"] <= 1)).all()
    assert reward == pytest.approx(info["objectives"] @ [0.5, 0.25, 0.25])
    env.set_objective("latency")
    observation, reward, _, _, info = env.step(np.ones(1, dtype=np.float32))
    np.testing.assert_allclose(observation[-3:], [0.1, 0.8, 0.1], rtol=1e-6)
    assert reward == pytest.approx(info["objectives"] @ [0.1, 0.8, 0.1], rel=1e-6)
    env.close()


def test_scenario_sources(fake_simulator, steady):
    seeds = []

    def draw(seed):
        seeds.append(seed)
        return Scenario.from_dict(steady(f"drawn-{seed}", duration_s=1.0))

    env = BottleneckEnv(draw, simulator=fake_simulator)
    assert env.reset(seed=3)[1]["scenario"] == f"drawn-{seeds[-1]}"
    assert env.reset(options={"scenario": steady("mine")})[1]["scenario"] == "mine"
    assert env.reset()[1]["scenario"] == f"drawn-{seeds[-1]}"
    assert len(set(seeds)) == 2
    env.close()


@pytest.mark.parametrize(
    ("side", "expected"),
    [("receiver", ["receiver"] * 2), ("sender", ["sender"] * 2), ("both", ["receiver", "sender"])],
)
def test_the_agent_decides_at_the_side_of_its_specification_or_by_the_seed_of_the_episode(side, expected):
    specification = EnvironmentSpecification(side=side)
    assert [specification.reset_request({}, seed, (0.4, 0.5, 0.1))["side"] for seed in (6, 7)] == expected


def test_with_both_sides_half_of_the_episodes_are_at_the_sender(fake_simulator, steady):
    env = BottleneckEnv(steady(), EnvironmentSpecification(side="both"), simulator=fake_simulator)
    seeds = [env.reset(seed=seed)[1]["seed"] for seed in range(200)]
    sides = [env.specification.reset_request({}, seed, (0.4, 0.5, 0.1))["side"] for seed in seeds]
    assert 80 <= sides.count("sender") <= 120
    env.close()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"features": ("receive_rate",)}, "unknown: receive_rate"),
        ({"features": ()}, "at least one"),
        ({"history": 0}, "history 0"),
        ({"history": 65}, "history 65"),  # no model file may have it
        ({"interval_ms": 1}, "interval_ms 1"),
        ({"side": "middle"}, "side 'middle': one of receiver, sender, both"),
        ({"action": AROUND_RULE, "features": ("receive_rate_bps",)}, "needs the features"),
    ],
)
def test_bad_specifications_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        EnvironmentSpecification(**fields)


@pytest.mark.parametrize(
    ("fields", "message"), [({"kind": "brake"}, "one of log_rate"), ({"min_bps": 2e6, "max_bps": 1e6}, "bounds")]
)
def test_bad_actions_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        ActionSpecification(**fields)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reward": "applause"}, "one of mocc"),
        ({"objective": "fast"}, "balanced"),
        ({"objective": (1, 0, 0)}, "above 0"),
        ({"scenario": []}, "empty"),
        ({"render_mode": "human"}, "does not render"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, message, steady):
    with pytest.raises(InputError, match=message):
        BottleneckEnv(**({"scenario": steady()} | arguments))


@pytest.mark.parametrize("kind", ["document", "scenario", "file"])
def test_an_unknown_controller_of_another_flow_is_refused(kind, fake_simulator, steady, tmp_path):
    document = dict(steady())
    document["flows"] = [*document["flows"], {"kind": "rtp", "id": "other", "controller": "gccc"}]
    scenario = Scenario.from_dict(document)
    scenario.save(tmp_path / "x.json")
    source = {"document": document, "scenario": scenario, "file": read_trace(tmp_path / "x.json")}[kind]
    with pytest.raises(InputError, match="flow 'other': controller 'gccc': not known; did you mean gcc"):
        BottleneckEnv(source, simulator=fake_simulator).reset()


def test_bad_options_are_refused(fake_simulator, steady):
    env = BottleneckEnv(steady(), simulator=fake_simulator)
    with pytest.raises(InputError, match="scenery"):
        env.reset(options={"scenery": 1})
    with pytest.raises(InputError, match="not a int"):
        env.reset(options={"scenario": 7})


def test_random_objectives_lie_on_the_simplex():
    generator = np.random.default_rng(1)
    drawn = np.array([random_objective(generator) for _ in range(2000)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    assert 0.05 - 1e-9 <= drawn.min() < 0.06
    assert 0.15 < np.median(drawn[:, 2]) < 0.2
    assert drawn[:, 2].max() <= 0.6
    np.testing.assert_allclose(drawn[:, 0].mean(), drawn[:, 1].mean(), atol=0.02)


def test_episode_source_is_picklable(steady):
    source = pickle.loads(pickle.dumps(EpisodeSource(steady())))
    assert source.draw(np.random.default_rng(1)) == EpisodeSource(steady()).draw(np.random.default_rng(1))


def test_the_rule_by_hand():
    features = ("receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps")
    newest = np.array(
        [
            [1e6, 0.005, 10, 1e6],  # no queue: up by 10 %
            [1e6, 0.005, 10, 2e6],  # no queue, but bounded by twice the receive rate and 50 kbps
            [1e6, 0.005, 10, 3e6],  # no queue, and above that bound already: held
            [1e6, 0.1075, 10, 1e6],  # 100 ms above the target: two thirds of the receive rate
            [1e6, 2.0, 10, 1e6],  # never below 30 %
            [0.0, 0.0, 0, 1e6],  # no packets: 60 % of the target
        ],
        dtype=np.float32,
    )
    records = np.repeat(newest[:, None], 8, axis=1)
    expected = [1.1e6, 2.05e6, 3e6, 2e6 / 3, 0.3e6, 0.6e6]
    np.testing.assert_allclose(rule_rate(np, records, features, 3), expected, rtol=1e-5)
    records[0, 1:, 0] = 4e5  # the mean of the three newest is 600 kbps: 1.25 Mbps is no bound yet
    records[0, 3:, 0] = 0
    np.testing.assert_allclose(rule_rate(np, records, features, 3)[0], 1.1e6, rtol=1e-5)
    assert [rate_window(interval, 8) for interval in (60, 100, 200, 400)] == [5, 3, 2, 1]
    assert rate_window(60, 2) == 2


def test_actions_become_rates_in_the_simulator(fake_simulator, steady):
    env = BottleneckEnv(
        steady(), EnvironmentSpecification(action=ActionSpecification("log_rate", 1e5, 1e7)), simulator=fake_simulator
    )
    env.reset(seed=1)
    for action, rate in ((-1, 1e5), (0, 1e6), (1, 1e7), (7, 1e7)):
        assert env.step(np.array([action], dtype=np.float32))[4]["target_bps"] == pytest.approx(rate, rel=1e-5)
    env.close()


def test_around_the_rule_multiplies_the_rules_rate(fake_simulator, steady):
    env = BottleneckEnv(
        steady(rate_bps=10_000_000), EnvironmentSpecification(action=AROUND_RULE), simulator=fake_simulator
    )
    env.reset(seed=1)
    # The start rate has arrived without a queue: up by 10 %, then by 10 % more, doubled.
    assert env.step(np.zeros(1, dtype=np.float32))[4]["target_bps"] == pytest.approx(330_000, rel=1e-5)
    target = env.step(np.ones(1, dtype=np.float32))[4]["target_bps"]
    assert target == pytest.approx(2 * 1.1 * 330_000, rel=1e-5)
    env.close()


def test_at_the_sender_steps_are_those_of_the_feedback(real_simulator, steady):
    scenario = steady(duration_s=20.0) | {
        "reverse": {"one_way_delay_ms": 60.0, "loss": {"kind": "bernoulli", "ratio": 0.4}}
    }
    lengths_s = {}
    for side in ("receiver", "sender"):
        specification = EnvironmentSpecification(100, action=AROUND_RULE, side=side)
        env = BottleneckEnv(scenario, specification, reward="challenge", simulator=real_simulator)
        env.reset(seed=1)
        times_s: list[float] = []
        truncated = False
        while not truncated:
            observation, reward, _, truncated, info = env.step(np.zeros(1, dtype=np.float32))
            assert env.observation_space.contains(observation)
            assert -1 <= reward <= 1
            times_s.append(info["time_s"])
        env.close()
        assert times_s[-1] == 20
        lengths_s[side] = np.diff(times_s)
    np.testing.assert_allclose(lengths_s["receiver"], 0.1, atol=1e-9)
    at_sender = lengths_s["sender"]
    # Where several messages were lost, the next one brings several decisions.
    assert at_sender.min() == 0
    assert 0.2 < at_sender.max() < 0.6
    # The last messages may be lost.
    assert 188 <= len(at_sender) <= 200


def test_privileged_fields_are_the_step_records(fake_simulator, steady):
    plain = BottleneckVectorEnv(2, steady(duration_s=1.0), simulator=fake_simulator)
    privileged = EnvironmentSpecification(privileged=True)
    told = BottleneckVectorEnv(2, steady(duration_s=1.0), privileged, simulator=fake_simulator)
    plain.reset(seed=1)
    told.reset(seed=1)
    for _ in range(7):
        actions = np.full((2, 1), 0.3, dtype=np.float32)
        less, more = plain.step(actions), told.step(actions)
        width = less[0].shape[1]
        np.testing.assert_array_equal(more[0][:, :width], less[0])
        latest = more[0]
        if more[3].any():
            latest = np.stack(more[4]["final_obs"])
            np.testing.assert_array_equal(latest[:, :width], np.stack(less[4]["final_obs"]))
        expected = np.stack([more[4][name] for name in PRIVILEGED_FIELDS], axis=1).astype(np.float32)
        np.testing.assert_array_equal(latest[:, width:], expected)
    plain.close()
    told.close()
