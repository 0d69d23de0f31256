"""Curricula over traces: their orders and probabilities by hand, and in training runs."""

import json

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_eval.records.run_record import RunRecord
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.scenarios import ScenarioSampler, ScenarioSettings
from weir_train.configuration.training import checked_configuration
from weir_train.gym.rewards import challenge, mocc
from weir_train.gym.step import StepRecord

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_train.learning import curriculum
from weir_train.learning.curriculum import AdaptiveGap, OrderedTraces, TraceValues, order_of
from weir_train.learning.reference_runs import reference_runs, step_records

FEATURES = ["receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]
NAMES = ("slow", "middle", "fast")
RATES = (1_000_000, 8_000_000, 64_000_000)


@pytest.fixture
def values(tmp_path, steady):
    """Three traces, told apart by their capacity."""
    for name, rate in zip(NAMES, RATES, strict=True):
        Scenario.from_dict(steady(name, rate, 3.0)).save(tmp_path / f"{name}.json")
    return {
        "steps": 720,
        "environment": {"environments": 2, "interval_ms": 100, "history": 1, "features": FEATURES}
        | {"objective": "balanced", "reward": "mocc", "action": {"kind": "log_rate"}},
        "scenarios": {"source": "files", "files": [str(tmp_path / f"{name}.json") for name in NAMES]},
        "policy": {"hidden": [8], "preference_size": 4},
        "ppo": {"steps_per_update": 20, "batch_size": 40},
    }


def runs(*utilisations):
    """Runs of four intervals without queue and loss: with MOCC's reward, w_thr * utilisation + w_lat + w_loss."""
    return [
        StepRecord.of(
            achievable_bps=np.full(4, 1e6),
            fair_share_bps=1e6,
            receive_rate_bps=np.full(4, u * 1e6),
            one_way_delay_mean_ms=25.0,
            base_one_way_delay_ms=25.0,
        )
        for u in utilisations
    ]


@pytest.fixture
def references(monkeypatch):
    """Sets what GCC and the oracle reach of the three traces, instead of running them."""

    def use(gcc, oracle):
        found = {"gcc": runs(*gcc), "oracle": runs(*oracle)}
        monkeypatch.setattr(curriculum, "reference_runs", lambda *_, **__: found)

    return use


def test_orders_are_by_the_oracles_reward_and_by_gccs_distance_to_it():
    measured = [
        TraceValues("slow", reward=0.9, gcc=0.8, oracle=0.9),
        TraceValues("middle", reward=-0.7, gcc=0.6, oracle=0.8),
        TraceValues("fast", reward=0.8, gcc=0.2, oracle=0.7),
    ]
    assert [measured[index].name for index in order_of("reward", measured)] == ["middle", "fast", "slow"]
    assert [measured[index].name for index in order_of("gap", measured)] == ["fast", "middle", "slow"]


def test_each_trace_has_an_equal_share():
    ordered = OrderedTraces([2, 0, 1])
    assert [ordered.probabilities(step / 300).argmax() for step in range(300)] == [2] * 100 + [0] * 100 + [1] * 100
    assert ordered.probabilities(1.0).tolist() == [0.0, 1.0, 0.0]


def test_adaptive_gap_by_hand():
    even = np.array([0.5, 0.25, 0.25])
    adaptive = AdaptiveGap(runs(1.0, 0.6, 0.2), mocc)
    np.testing.assert_allclose(adaptive.probabilities(0.0), np.full(3, 1 / 3))
    adaptive.finished(0, 0.7, even)  # the baseline has 1.0: gap 0.3; the others count like it
    np.testing.assert_allclose(adaptive.probabilities(0.0), np.full(3, 1 / 3))
    adaptive.finished(1, 0.7, even)  # 0.8: gap 0.1
    adaptive.finished(2, 0.9, even)  # 0.6: ahead of it, counts as 0
    np.testing.assert_allclose(adaptive.gaps, [0.3, 0.1, -0.3])
    np.testing.assert_allclose(adaptive.probabilities(0.0), 0.1 + 0.7 * np.array([0.75, 0.25, 0.0]))
    adaptive.finished(0, 0.9, even)  # gap 0.1 now: 0.3 + 0.3 (0.1 - 0.3) with the old one
    np.testing.assert_allclose(adaptive.gaps[0], 0.24)
    # Under another objective the baseline has another reward: 0.1 + 0.9 * 0.2.
    adaptive = AdaptiveGap(runs(0.2), mocc)
    adaptive.finished(0, 0.2, np.array([0.9, 0.05, 0.05]))
    assert adaptive.gaps[0] == pytest.approx(0.28 - 0.2)


def test_adaptive_gap_is_even_where_the_policy_is_ahead_everywhere():
    adaptive = AdaptiveGap(runs(0.5, 0.5), mocc)
    for trace in (0, 1):
        adaptive.finished(trace, 1.0, np.array([0.4, 0.3, 0.3]))
    assert adaptive.probabilities(0.5).tolist() == [0.5, 0.5]


def test_the_sampler_draws_by_its_probabilities(values):
    sampler = ScenarioSampler(checked_configuration(values).scenarios)
    assert [sampler(seed)["name"] for seed in range(3)] == list(NAMES)
    sampler.probabilities = np.array([0.7, 0.0, 0.3])
    drawn_indices = [sampler.index_of(sampler(seed)) for seed in range(1000)]
    counts = np.bincount(drawn_indices, minlength=3)
    assert counts[1] == 0
    assert 640 < counts[0] < 760
    assert drawn_indices == [sampler.index_of(sampler(seed)) for seed in range(1000)]


def test_traces_of_any_format_are_scenarios(tmp_path):
    files = {
        "a.csv": "time_s,rate_bps\n0,1000000\n1,2000000\n2,2000000\n",
        "b.up": "0\n" + "".join(f"{12 * index}\n" for index in range(1, 400)),
        "c.json": json.dumps({"uplink": {"trace_pattern": [{"duration": 60000, "capacity": 300}]}}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    settings = ScenarioSettings(source="files", files=tuple(tmp_path / name for name in files))
    documents = ScenarioSampler(settings).documents
    assert [document["name"] for document in documents] == ["a", "b", "c"]
    assert documents[2]["forward"]["capacity"]["rates_bps"][0] == 300_000
    (tmp_path / "a.csv").write_text("nothing")
    with pytest.raises(InputError, match=r"a\.csv"):
        ScenarioSampler(settings)


def trained(values, out, simulator, **arguments):
    """The result, and the names of the traces in the order of the log, with the step and the probabilities."""
    from weir_train.learning.train import train

    result = train(checked_configuration(values), out, simulator=simulator, **arguments)
    lines = [json.loads(line) for line in (out / "progress.json").read_text().splitlines()]
    return result, [[line[f"curriculum/{name}"] for name in NAMES] for line in lines if "curriculum/slow" in line]


@pytest.fixture
def drawn_names(monkeypatch):
    """The names of the scenarios that begin, with the steps of the training at that time."""
    from weir_train.configuration.scenarios import ScenarioSampler

    names, call = [], ScenarioSampler.__call__

    def spy(self, seed):
        names.append(call(self, seed)["name"])
        return call(self, seed)

    monkeypatch.setattr(ScenarioSampler, "__call__", spy)
    return names


def test_ordered_traces_change_for_all_environments(values, tmp_path, fake_simulator, references, drawn_names):
    references(gcc=(0.5, 0.5, 0.2), oracle=(0.9, 0.6, 1.0))
    trained(values | {"curriculum": "gap"}, tmp_path / "run", fake_simulator)
    assert list(dict.fromkeys(drawn_names)) == ["fast", "slow", "middle"]
    # Each has a third of the steps: two environments of four episodes of 30 steps.
    assert [drawn_names.count(name) for name in ("fast", "slow")] == [10, 10]
    written = json.loads((tmp_path / "run/curriculum.json").read_text())
    assert [trace["name"] for trace in written["traces"]] == ["fast", "slow", "middle"]
    # In `challenge` with `balanced` utilisation weighs 0.5 of 1.58, in MOCC's reward 0.5 of 1.
    assert [trace["gap"] for trace in written["traces"]] == pytest.approx([gap * 0.5 / 1.58 for gap in (0.8, 0.4, 0.1)])
    assert [trace["reward"] for trace in written["traces"]] == pytest.approx([1.0, 0.95, 0.8])


def test_a_resumed_order_continues_where_it_was(values, tmp_path, fake_simulator, references, drawn_names):
    references(gcc=(0.0, 0.0, 0.0), oracle=(0.9, 0.5, 0.7))

    def interrupt(state):
        if state.steps >= 360:
            raise KeyboardInterrupt

    values |= {"curriculum": "reward"}
    result, _ = trained(values, tmp_path / "run", fake_simulator, on_progress=interrupt)
    assert (result.interrupted, result.steps) == (True, 360)
    assert list(dict.fromkeys(drawn_names)) == ["middle", "fast"]
    drawn_names.clear()
    trained(values, tmp_path / "run", fake_simulator, resume=True)
    assert list(dict.fromkeys(drawn_names)) == ["fast", "slow"]


def test_a_stage_has_a_curriculum_of_its_own(values, tmp_path, fake_simulator, references, drawn_names):
    from weir_train.learning.stages import train_in_stages

    references(gcc=(0.5, 0.5, 0.2), oracle=(0.9, 0.6, 1.0))
    stages = [{"steps": 240}, {"steps": 480, "curriculum": "gap"}]
    staged = {key: value for key, value in values.items() if key != "steps"} | {"stages": stages}
    train_in_stages(checked_configuration(staged), tmp_path / "run", simulator=fake_simulator)
    assert set(drawn_names[:8]) == set(NAMES)
    # The last third of the second stage begins 160 steps after its beginning.
    assert list(dict.fromkeys(drawn_names[-6:])) == ["slow", "middle"]
    lines = [json.loads(line) for line in (tmp_path / "run/progress.json").read_text().splitlines()]
    fast = {line["time/total_timesteps"]: line["curriculum/fast"] for line in lines if "curriculum/fast" in line}
    assert [steps for steps, probability in fast.items() if probability] == [280, 320]


def test_adaptive_gap_in_training(values, tmp_path, fake_simulator, references, drawn_names):
    references(gcc=(0.0, 0.0, 1.0), oracle=(1.0, 1.0, 1.0))
    values |= {"curriculum": "adaptive_gap", "steps": 2400}
    values["environment"] |= {"reward": "mocc", "objective": [0.8, 0.1, 0.1]}
    _, logged = trained(values, tmp_path / "run", fake_simulator)
    # The policy fills a little of the fast trace, where the baseline fills all; elsewhere it is ahead.
    assert logged[0] == pytest.approx([1 / 3] * 3)
    assert logged[-1] == pytest.approx([0.1, 0.1, 0.8])
    counts = [drawn_names.count(name) for name in NAMES]
    assert counts[2] > counts[0] + counts[1]
    assert min(counts) > 0


def test_step_records_of_a_run_by_hand():
    document = {
        "schema": "weir.result/1",
        "scenario": "two-steps",
        "controller": "gcc",
        "seed": 1,
        "duration_s": 0.4,
        "path": {"one_way_delay_ms": 25.0, "mean_capacity_bps": 2e6},
        "versions": {},
        "flows": [
            {
                "id": "a",
                "kind": "rtp",
                "packets_sent": 10,
                "bytes_sent": 12_500,
                "packets_lost": 1,
                "base_one_way_delay_ms": 25.0,
                # 1 Mbps, then 2 of the 3: 0.2 (1 + 2) / 8 MB.
                "achievable_bytes": 75_000,
                "series": {
                    "receive_rate_bps": [1e6, 1e6, 2e6, 0.0],
                    "send_rate_bps": [1e6, 1e6, 2e6, 0.0],
                    "one_way_delay_mean_ms": [None, 30.0, 50.0, None],
                    "packets_lost": [0, 0, 0, 20],
                },
            }
        ],
        "series": {"interval_s": 0.1, "capacity_bps": [1e6, 1e6, 3e6, 3e6]},
    }
    found = step_records(RunRecord.model_validate(document), 200)
    assert found.achievable_bps == pytest.approx([1e6, 2e6], rel=1e-6)
    assert found.receive_rate_bps.tolist() == [1e6, 1e6]
    assert found.one_way_delay_mean_ms.tolist() == [27.5, 50.0]
    # Packets have 1250 bytes: 0.2 Mbit are 20 of them.
    assert found.loss_ratio.tolist() == [0.0, 0.5]
    with pytest.raises(InputError, match="shorter than an interval of 1000 ms"):
        step_records(RunRecord.model_validate(document), 1000)


def test_the_references_of_a_real_simulator(steady, real_simulator):
    documents = [steady("a", 1_000_000, 20.0), steady("b", 2_000_000, 20.0)]
    found = reference_runs(documents, ("gcc", "oracle"), seed=1, interval_ms=100, simulator=real_simulator)
    assert found["oracle"][1].receive_rate_bps.shape == (200,)
    balanced = np.broadcast_to(np.array([0.4, 0.5, 0.1]), (200, 3))
    for gcc, oracle in zip(found["gcc"], found["oracle"], strict=True):
        gcc_reward, oracle_reward = (float(np.mean(challenge(record, balanced))) for record in (gcc, oracle))
        assert 0.5 < gcc_reward < oracle_reward <= 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"curriculum": "hardest"}, "curriculum: .*'adaptive_gap'"),
        (
            {"curriculum": "gap", "scenarios": {}},
            'curriculum gap: needs scenarios with source "random_traces" or "files"',
        ),
    ],
)
def test_a_bad_curriculum_is_one_message(values, change, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | change, "my.toml")
    assert "\n" not in str(raised.value)
