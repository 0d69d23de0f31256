"""Curricula over traces: their orders and probabilities by hand, and in training runs."""

import json

import numpy as np
import pytest

from weir.errors import InputError
from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration.curriculum import TraceValues
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import checked_configuration
from weir.trainer.curriculum.curriculum import AdaptiveGap, OrderedTraces, make_curriculum, order_of_traces
from weir.trainer.gym.rewards import mocc
from weir.trainer.gym.step import StepRecord

FEATURES = ["receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]
NAMES = ("slow", "middle", "fast")


@pytest.fixture
def values(steady):
    """Three traces, told apart by their capacity."""
    return {
        "steps": 720,
        "environment": {"environments": 2, "interval_ms": 100, "history": 1, "features": FEATURES}
        | {"objective": "balanced", "action": {"kind": "log_rate"}},
        "scenarios": {
            "source": "documents",
            "documents": [
                steady(name, rate, 3.0) for name, rate in zip(NAMES, (1_000_000, 8_000_000, 64_000_000), strict=True)
            ],
        },
        "policy": {"hidden": [8], "preference_size": 4},
        "ppo": {"steps_per_update": 20, "batch_size": 40},
        "td3": {"steps_per_update": 20, "batch_size": 40, "learning_starts": 100},
        "trace_values": {
            "slow": {"reward": 0.5, "score": 80, "baseline": 70},
            "middle": {"reward": -0.5, "score": 70, "baseline": 75},
            "fast": {"reward": 0.1, "score": 65, "baseline": 45},
        },
    }


def documents(values):
    return ScenarioSampler(checked_configuration(values).scenarios).documents


def test_orders_are_recocos(values):
    for curriculum, expected in (("reward", ["middle", "fast", "slow"]), ("gap", ["fast", "slow", "middle"])):
        configuration = checked_configuration(values | {"curriculum": curriculum})
        assert [NAMES[index] for index in order_of_traces(configuration, documents(values))] == expected


def test_a_callback_gives_the_values(values):
    configuration = checked_configuration(values | {"curriculum": "reward", "trace_values": {}})
    capacity = {"slow": 3.0, "middle": 2.0, "fast": 1.0}
    order = order_of_traces(
        configuration, documents(values), lambda document: TraceValues(reward=capacity[document["name"]])
    )
    assert order == [2, 1, 0]


def test_each_trace_has_an_equal_share():
    curriculum = OrderedTraces([2, 0, 1])
    shares = [curriculum.probabilities(step / 300).argmax() for step in range(300)]
    assert shares == [2] * 100 + [0] * 100 + [1] * 100
    assert curriculum.probabilities(1.0).tolist() == [0.0, 1.0, 0.0]


def baselines(*utilisations):
    """Runs of four intervals without queue and loss: with MOCC's reward, w_thr * utilisation + w_lat + w_loss."""
    return [
        StepRecord.of(
            achievable_bps=np.full(4, 1e6),
            receive_rate_bps=np.full(4, u * 1e6),
            one_way_delay_mean_ms=25.0,
            base_one_way_delay_ms=25.0,
        )
        for u in utilisations
    ]


def test_adaptive_gap_by_hand():
    even = np.array([0.5, 0.25, 0.25])
    curriculum = AdaptiveGap(baselines(1.0, 0.6, 0.2), mocc, floor=0.3, smoothing=0.5)
    third = np.full(3, 1 / 3)
    np.testing.assert_allclose(curriculum.probabilities(0.0), third)
    curriculum.finished(0, 0.7, even)  # the baseline has 1.0: gap 0.3; the others count like it
    np.testing.assert_allclose(curriculum.probabilities(0.0), third)
    curriculum.finished(1, 0.7, even)  # 0.8: gap 0.1
    curriculum.finished(2, 0.9, even)  # 0.6: ahead of it, counts as 0
    np.testing.assert_allclose(curriculum.gaps, [0.3, 0.1, -0.3])
    np.testing.assert_allclose(curriculum.probabilities(0.0), 0.1 + 0.7 * np.array([0.75, 0.25, 0.0]))
    curriculum.finished(0, 0.9, even)  # gap 0.1 now: 0.2 with the old one
    np.testing.assert_allclose(curriculum.probabilities(0.0), 0.1 + 0.7 * np.array([2 / 3, 1 / 3, 0.0]))
    # Under another objective the baseline has another reward: 0.1 + 0.9 * 0.2.
    curriculum = AdaptiveGap(baselines(0.2), mocc, floor=0.3, smoothing=0.5)
    curriculum.finished(0, 0.2, np.array([0.9, 0.05, 0.05]))
    assert curriculum.gaps[0] == pytest.approx(0.28 - 0.2)


def test_adaptive_gap_is_even_where_the_policy_is_ahead_everywhere():
    curriculum = AdaptiveGap(baselines(0.5, 0.5), mocc, floor=0.3, smoothing=0.5)
    for trace in (0, 1):
        curriculum.finished(trace, 1.0, np.array([0.4, 0.3, 0.3]))
    assert curriculum.probabilities(0.5).tolist() == [0.5, 0.5]


def test_the_sampler_draws_by_its_probabilities(values):
    sampler = ScenarioSampler(checked_configuration(values).scenarios)
    assert [sampler(seed)["name"] for seed in range(3)] == list(NAMES)
    sampler.probabilities = np.array([0.7, 0.0, 0.3])
    drawn = [sampler.index_of(sampler(seed)) for seed in range(1000)]
    counts = np.bincount(drawn, minlength=3)
    assert counts[1] == 0
    assert 640 < counts[0] < 760
    assert drawn == [sampler.index_of(sampler(seed)) for seed in range(1000)]


def trained(values, out, simulator, **arguments):
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    from weir.trainer.learning.train import train

    result = train(checked_configuration(values), out, simulator=simulator, **arguments)
    lines = [json.loads(line) for line in (out / "sampling.jsonl").read_text().splitlines()]
    return result, lines


@pytest.mark.parametrize("algorithm", ["ppo", "td3"])
def test_ordered_traces_change_for_all_environments(values, tmp_path, fake_simulator, algorithm):
    values |= {"curriculum": "gap", "algorithm": algorithm}
    _, lines = trained(values, tmp_path / "run", fake_simulator)
    for line in lines[:-2]:  # at the very last step episodes may begin that nobody plays
        assert line["trace"] == ("fast", "slow", "middle")[min(line["step"] // 240, 2)] or line["step"] % 240 == 0
        assert line["probabilities"][NAMES.index(line["trace"])] == 1.0
    # The change is at once, at an update: two environments begin on the new trace.
    begun = {step: [line["trace"] for line in lines if line["step"] == step][-2:] for step in (0, 240, 480)}
    assert begun == {0: ["fast"] * 2, 240: ["slow"] * 2, 480: ["middle"] * 2}


def test_a_replay_buffer_survives_a_change_of_trace(values, tmp_path, fake_simulator):
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    from weir.trainer.learning.algorithms import REPLAY_BUFFER

    values |= {"curriculum": "gap", "algorithm": "td3"}
    values["environment"] |= {"privileged_critic": True}
    trained(values, tmp_path / "run", fake_simulator)
    with np.load(tmp_path / "run" / REPLAY_BUFFER) as file:
        capacity = file["next_observations"][:, 0, -5]
        steps = len(file["rewards"])
    assert steps == 360
    # The fake varies a trace's capacity by up to 1.6 from seed to seed: a factor of 8 stays apart.
    trace = np.digitize(capacity, [3e6, 24e6])
    assert [NAMES[index] for index in trace[[0, 119, 120, 239, 240, 359]]] == [
        *("fast", "fast"),
        *("slow", "slow"),
        *("middle", "middle"),
    ]


def test_a_resumed_order_goes_on_where_it_was(values, tmp_path, fake_simulator):
    values |= {"curriculum": "reward"}

    def interrupt(state):
        if state.steps >= 360:
            raise KeyboardInterrupt

    result, lines = trained(values, tmp_path / "run", fake_simulator, on_progress=interrupt)
    assert (result.interrupted, result.steps) == (True, 360)
    before = len(lines)
    _, lines = trained(values, tmp_path / "run", fake_simulator, resume=True)
    assert [lines[before]["trace"], lines[before]["step"]] == ["fast", 360]
    assert lines[-1]["trace"] == "slow"


def test_random_traces_are_logged_too(values, tmp_path, fake_simulator):
    _, lines = trained(values | {"steps": 1200}, tmp_path / "run", fake_simulator)
    assert {line["trace"] for line in lines} == set(NAMES)
    assert {tuple(line["probabilities"]) for line in lines} == {(0.333333,) * 3}


def test_adaptive_gap_in_training(values, tmp_path, fake_simulator, monkeypatch):
    monkeypatch.setattr("weir.trainer.curriculum.curriculum.run_baseline", lambda *_, **__: baselines(0.0, 0.0, 1.0))
    values |= {"curriculum": "adaptive_gap", "steps": 2400, "adaptive_gap": {"floor": 0.3}}
    values["environment"] |= {"reward": "mocc", "objective": [0.8, 0.1, 0.1]}
    _, lines = trained(values, tmp_path / "run", fake_simulator)
    # The policy fills a little of the fast trace, where the baseline fills all; elsewhere it is ahead.
    assert lines[0]["probabilities"] == [0.333333] * 3
    assert lines[-1]["probabilities"] == [0.1, 0.1, 0.8]
    counts = [sum(line["trace"] == name for line in lines) for name in NAMES]
    assert counts[2] > counts[0] + counts[1]
    assert min(counts) > 0


def test_adaptive_gap_against_a_real_baseline(values, real_simulator):
    for baseline in ("gcc", "rule"):
        settings = {"curriculum": "adaptive_gap", "adaptive_gap": {"baseline": baseline}}
        curriculum = make_curriculum(checked_configuration(values | settings), documents(values), None, real_simulator)
        curriculum.finished(0, -1.0, np.array([0.4, 0.5, 0.1]))
        # Rewards are at most 1; on a steady link no baseline is worse than 0.3.
        assert 1.3 < curriculum.gaps[0] <= 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"curriculum": "hardest"}, "curriculum: .*'adaptive_gap'"),
        ({"curriculum": "gap", "scenarios": {}}, "curriculum gap: needs scenarios"),
        ({"scenarios": {"source": "documents"}}, "documents"),
        ({"adaptive_gap": {"floor": 0.0}}, "adaptive_gap.floor"),
        ({"adaptive_gap": {"baseline": "pcc"}}, "adaptive_gap.baseline"),
        ({"trace_values": {"slow": {"qoe": 1.0}}}, "trace_values.slow.qoe: unknown key"),
        ({"trace_values": {"slow": {"reward": float("nan")}}}, "trace_values.slow.reward"),
    ],
)
def test_bad_curriculum_is_one_message(values, change, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | change, "my.toml")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("curriculum", "table", "message"),
    [
        (
            "gap",
            {"slow": {"score": 1.0, "reward": 1.0}},
            "a score and a baseline in trace_values for slow, middle, fast",
        ),
        ("reward", {"slow": {"reward": 1.0}}, "a reward in trace_values for middle, fast"),
        ("reward", {"Slow": {"reward": 1.0}}, "no scenario is named Slow; there are slow, middle, fast"),
    ],
)
def test_missing_trace_values_are_one_message_before_anything_runs(values, tmp_path, curriculum, table, message):
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    from weir.trainer.learning.train import train

    configuration = checked_configuration(values | {"curriculum": curriculum, "trace_values": table})
    with pytest.raises(InputError, match=message):
        train(configuration, tmp_path / "run", simulator=tmp_path / "there is none")
    assert not (tmp_path / "run").exists()


def test_files_and_documents_are_the_same(values, tmp_path):
    paths = []
    for document in values["scenarios"]["documents"]:
        paths.append(str(tmp_path / f"{document['name']}.json"))
        Scenario.from_dict(document).save(paths[-1])
    assert documents(values) == documents(values | {"scenarios": {"source": "files", "files": paths}})
