"""Muses' own experiment: senders with a window, the teacher, its trees, and their tests."""

import json
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_cli.errors import InputError
from weir_papers.common import Case
from weir_papers.muses import trials
from weir_papers.muses.claims import CLAIMS, measured
from weir_papers.muses.decision_trees import SAMPLES, TreesByKind, among_two_nearest, extract
from weir_papers.muses.networks import muses_wifi_test
from weir_papers.muses.senders import MULTIPLES, SIGNALS, Flows, Oracle, nearest_levels, run_flows
from weir_papers.muses.sets import FLUCTUATING, LTE, STEADY, muses_sets
from weir_papers.muses.teaching import Network, Teaching, teach
from weir_papers.muses.trials import Size, case_of_flow, f1_of, in_flight_error, trial
from weir_train.gym.step import StepRecord

FEW = Teaching(2, batches=2, flows_per_batch=4, hidden=8)


def test_the_network_is_the_papers():
    network = Network(Teaching(30).hidden)
    assert (network.layers.num_layers, network.layers.hidden_size) == (2, 256)
    assert (network.layers.input_size, network.scores.out_features) == (len(SIGNALS), len(MULTIPLES)) == (7, 7)
    assert Teaching(30).gradient_steps == 6_000


def test_a_label_is_the_multiple_of_the_window_that_is_nearest_to_the_optimal_one():
    windows = np.full(7, 100.0)
    assert nearest_levels(100.0 * np.array(MULTIPLES), windows).tolist() == list(range(7))
    assert nearest_levels(np.array([5.0, 103.0, 900.0]), np.full(3, 100.0)).tolist() == [0, 4, 6]


def test_the_oracle_keeps_a_steady_link_full_with_a_fifth_of_a_bandwidth_delay_product_in_the_queue(real_simulator):
    scenario = muses_wifi_test("steady-wifi", 1, 20.0)
    flows = run_flows(Oracle(), [scenario.to_dict()], 300, seed=1, simulator=real_simulator)
    record = StepRecord(flows.record.values[0])
    case = case_of_flow(record, 15.0)
    assert case.utilisation > 0.98
    # 1.2 products in flight, in steps of 5 %.
    base_ms = 2 * record.base_one_way_delay_ms[0]
    assert 0.1 * base_ms < case.mean_queueing_delay_ms < 0.3 * base_ms
    settled = flows.labels[0, 100:]
    assert np.abs(settled - MULTIPLES.index(1.0)).max() <= 1
    assert np.isfinite(flows.states).all()


def test_a_teacher_is_taught_once(tmp_path, monkeypatch, real_simulator):
    monkeypatch.setattr("weir_papers.muses.teaching.SENDERS", 4)
    done = []
    agent, history = teach(FEW, tmp_path / "teacher.zip", 1, simulator=real_simulator, on_progress=done.append)
    # The oracle drives the first iteration.
    assert [entry["agreement"] == 1.0 for entry in history] == [True, False]
    assert done[-1] == 2 * 4 * 400
    again, nothing = teach(FEW, tmp_path / "teacher.zip", 1, simulator=real_simulator, on_progress=done.append)
    assert (nothing, len(done)) == ([], 2 * 400)
    for name, values in agent.network.state_dict().items():
        assert np.array_equal(values, again.network.state_dict()[name])


@pytest.fixture
def flows():
    """Two kinds: where the first signal is high, the teacher doubles the window in one, and halves it in the other."""
    random = np.random.default_rng(1)
    states = random.normal(size=(40, 2 * SAMPLES, len(SIGNALS))).astype(np.float32)
    states[::2, :, 1] += 6.0
    high = states[:, :, 0] > 0
    actions = np.where(high, 6, 3)
    actions[::2] = np.where(high[::2], 0, 3)
    return Flows(
        states, actions.astype(np.int8), actions.astype(np.int8), StepRecord.of(time_s=np.zeros(actions.shape))
    )


def test_trees_by_kind_decide_as_the_teacher_from_the_first_choice_on(flows):
    students = extract(flows, range(2, 5), 1)
    assert students.choice.kinds == max(students.silhouettes, key=students.silhouettes.get) == 2
    assert len(students.trees) == 3
    assert all(tree.get_n_leaves() <= 500 and tree.criterion == "entropy" for tree in students.trees)
    assert among_two_nearest(students, flows) == 1.0
    agent = TreesByKind(students)
    agent.begin()
    answers = np.stack([agent(flows.states[:, index], flows.labels[:, index]) for index in range(SAMPLES + 5)], axis=1)
    assert f1_of(replace(flows, actions=answers, labels=flows.actions[:, : SAMPLES + 5])) > 0.99


def test_f1_is_of_the_decisions_from_the_first_choice_of_a_kind_on(flows):
    actions = flows.actions.copy()
    actions[:, : SAMPLES - 1] = 1
    assert f1_of(replace(flows, actions=actions)) == 1.0
    actions[:, SAMPLES - 1 :] = 1
    assert f1_of(replace(flows, actions=actions)) == 0.0


def test_the_choice_is_judged_by_the_fifteen_kinds_of_the_paper(tmp_path, monkeypatch, flows):
    monkeypatch.setattr(trials, "teach", lambda *arguments, **options: (Oracle(), []))
    monkeypatch.setattr(trials, "_students", lambda *arguments: (extract(flows, (2,), 1), flows))
    monkeypatch.setattr(trials, "table_ii_flows", lambda *arguments, **options: flows)
    monkeypatch.setattr(trials, "_tests", lambda *arguments: {})
    judged = []
    monkeypatch.setattr(trials, "among_two_nearest", lambda students, some: judged.append((students, some)) or 0.5)
    result = trial(1, Size(FEW, flows=40, rounds=0, kinds=(2,), tested=2), {}, tmp_path)
    ((students, some),) = judged
    assert (result["kinds"], students.choice.kinds, result["nearest"]) == (2, 15, 0.5)
    assert some is flows


def test_a_case_and_what_is_in_flight_by_hand():
    times_s = np.array([0.05, 0.1, 0.2, 0.25])
    record = StepRecord.of(
        time_s=times_s, capacity_bps=1e6, receive_rate_bps=np.array([1e6, 1e6, 0.5e6, 0.0]),
        one_way_delay_mean_ms=45.0, one_way_delay_p95_ms=65.0, base_one_way_delay_ms=25.0,
        loss_ratio=np.array([0.0, 0.5, 0.0, 0.0]), packets_received=np.array([5.0, 5.0, 10.0, 0.0]),
    )  # fmt: skip
    assert case_of_flow(record, 0.2) == Case(0.75, 40.0, 5 / 25, 20.0)
    # 70 ms of 1 and 0.5 Mbps, less 50 ms of 1 Mbps, in packets of 12 kbit.
    assert in_flight_error([record]) == pytest.approx(np.sqrt((20**2 + 20**2 + 15**2) / 3) / 12)


def test_a_seed_has_the_values_of_all_claims(tmp_path, monkeypatch, real_simulator):
    monkeypatch.setattr("weir_papers.muses.teaching.SENDERS", 4)
    monkeypatch.setattr(trials, "TEST_DURATION_S", 2.0)
    sets = {name: some.scenarios for name, some in muses_sets(None, 1).items()}
    sets[LTE] = sets[FLUCTUATING]
    size = Size(FEW, flows=16, rounds=1, kinds=(2, 3), tested=2)
    result = trial(1, size, sets, tmp_path, simulator=real_simulator)
    assert json.loads(json.dumps(result)) == result
    assert list(result["f1"]["teacher"]) == ["20", "50", "100", "150"]
    case = asdict(Case(0.5, 100.0, 0.0))
    rivals = {STEADY: {"cubic": case}, LTE: {"gcc": case}, "in_flight": {"bbr": 50.0}, "cross": {"gcc": 1e6}}
    rivals["jain"] = {"3": {"weir-send": 0.9, "cubic": 0.8}, "20": {"weir-send": 0.7}}
    found = measured({"trials": [result, result], "rivals": rivals})
    assert (found.pop("muses/jain_3"), found.pop("muses/jain_20")) == ([0.9], [0.7])
    assert {len(values) for values in found.values()} == {2}
    # Without a gap no part of it can be closed.
    missing = {claim.key for claim in CLAIMS} - found.keys() - {"muses/f1_closed"}
    assert missing == {"muses/jain_3", "muses/jain_20"}
    assert trial(1, size, sets, tmp_path, simulator=None) == result
    with pytest.raises(InputError, match="measured with other options"):
        trial(1, replace(size, flows=17), sets, tmp_path)


def test_a_teaching_has_two_iterations_at_least_and_makes_its_own_models(run_weir):
    weir = partial(run_weir, "paper", "muses", "--out", "out", "--teach", WEIR_SHARED="")
    status, _, error = weir("51199")
    assert status == 2
    assert "--teach 51199: at least 51,200, two iterations" in error
    status, _, error = weir("51200", "--kinds", "1")
    assert (status, "--kinds 1: with --teach at least 2" in error) == (2, True)
