"""MOCC's landmarks, Algorithm 1 by hand, and the schedule in a training run."""

import numpy as np
import pytest

from weir.errors import InputError
from weir.traces.schema.scenario import Scenario
from weir.trainer.configuration.algorithms import PpoSettings
from weir.trainer.configuration.landmarks import LandmarkSettings, landmarks
from weir.trainer.configuration.training import checked_configuration
from weir.trainer.curriculum.landmarks import LandmarkSchedule, neighbours, sort_by_neighbourhood

FEATURES = ["receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]


def test_there_are_36_landmarks_as_in_table_2():
    grid = landmarks(10)
    assert len(grid) == len(set(grid)) == 36
    assert all(sum(landmark) == 10 and min(landmark) >= 1 for landmark in grid)
    assert len(landmarks(3)) == 1
    assert len(landmarks(20)) == 171


def test_neighbours_are_those_of_the_papers_example():
    assert (2, 5, 3) in neighbours((2, 4, 4))
    assert (1, 5, 4) in neighbours((2, 4, 4))
    assert (1, 3, 6) not in neighbours((2, 4, 4))
    assert len(set(neighbours((2, 4, 4)))) == 6


def test_order_of_six_landmarks_by_hand():
    # Step 1/5. V: 113 122 131 212 221 311; O: 311 131 113; each search takes ceil(6 / 3) = 2.
    #   311: neighbours 212 and 221 are at 1; 212 is the first of them.
    #   131: neighbours 122 and 221 are at 1; 122 is the first.
    #   113: its neighbours 122 and 212 are taken; 221 is left.
    order = sort_by_neighbourhood(landmarks(5), [(3, 1, 1), (1, 3, 1), (1, 1, 3)])
    assert order == [(3, 1, 1), (2, 1, 2), (1, 3, 1), (1, 2, 2), (1, 1, 3), (2, 2, 1)]


def test_order_from_one_origin_is_by_distance():
    # 113 is at 0, then 122 and 212 at 1, then 131, 221, 311 at 2.
    order = sort_by_neighbourhood(landmarks(5), [(1, 1, 3)])
    assert order == [(1, 1, 3), (1, 2, 2), (2, 1, 2), (1, 3, 1), (2, 2, 1), (3, 1, 1)]


def test_an_origin_that_an_earlier_search_took_is_not_taken_twice():
    # 113 takes itself, 122 and 212. 122 then takes its neighbours at 1, 131 and 221 (its other two are taken), then 311
    # at 2.
    order = sort_by_neighbourhood(landmarks(5), [(1, 1, 3), (1, 2, 2)])
    assert order == [(1, 1, 3), (1, 2, 2), (2, 1, 2), (1, 3, 1), (2, 2, 1), (3, 1, 1)]


def test_the_papers_order_has_all_36_and_stays_near():
    settings = LandmarkSettings()
    order = sort_by_neighbourhood(landmarks(10), settings.bootstrap_landmarks)
    assert sorted(order) == landmarks(10)
    assert (order[0], order[12], order[24]) == ((6, 3, 1), (1, 6, 3), (3, 1, 6))
    for begin in (0, 12):  # the first search at least, and the second, never leave what is already reached
        for index in range(begin + 1, begin + 12):
            assert set(neighbours(order[index])) & set(order[:index])


def test_schedule_bootstraps_then_traverses_in_rounds():
    settings = LandmarkSettings(step=0.2, bootstrap=((0.6, 0.2, 0.2), (0.2, 0.6, 0.2)), bootstrap_share=0.25, visits=2)
    schedule = LandmarkSchedule(settings, 1600)  # 400 to bootstrap, then 2 rounds of 6 visits of 100
    assert [schedule.at(step) for step in (0, 99, 100, 200, 399)] == [
        (0.6, 0.2, 0.2),
        (0.6, 0.2, 0.2),
        (0.2, 0.6, 0.2),
        (0.6, 0.2, 0.2),
        (0.2, 0.6, 0.2),
    ]
    assert [schedule.at(400 + 100 * visit) for visit in range(12)] == schedule.order * 2
    assert len(set(schedule.order)) == 6
    drawn = {schedule(np.random.default_rng(seed)) for seed in range(100)}
    assert drawn == set(schedule.order)
    schedule.current = schedule.order[3]
    assert schedule(np.random.default_rng(0)) == schedule.order[3]


def test_schedule_that_only_bootstraps():
    schedule = LandmarkSchedule(LandmarkSettings(bootstrap_share=1.0, visits=2), 600)
    assert [schedule.at(step) for step in range(0, 600, 100)] == list(schedule.bootstrap) * 2
    assert schedule.at(600) == schedule.bootstrap[-1]


def test_entropy_decays_over_updates_or_over_all_steps():
    paper = PpoSettings(entropy_coefficient=1.0, entropy_coefficient_end=0.1, entropy_decay_updates=1000)
    assert [paper.entropy_coefficient_at(update, 0.5) for update in (0, 500, 1000, 5000)] == pytest.approx(
        [1.0, 0.55, 0.1, 0.1]
    )
    whole = PpoSettings(entropy_coefficient=1.0, entropy_coefficient_end=0.1)
    assert whole.entropy_coefficient_at(7, 0.5) == pytest.approx(0.55)


@pytest.fixture
def values(tmp_path, steady):
    path = tmp_path / "steady.json"
    Scenario.from_dict(steady(rate_bps=4_000_000, duration_s=3.0)).save(path)
    return {
        "steps": 640,
        "environment": {"environments": 2, "history": 1, "features": FEATURES, "objective": "landmarks"}
        | {"action": {"kind": "log_rate"}},
        "scenarios": {"source": "files", "files": [str(path)]},
        "policy": {"hidden": [8], "preference_size": 4},
        "ppo": {"steps_per_update": 20, "batch_size": 40},
        "td3": {"steps_per_update": 20, "batch_size": 40, "learning_starts": 100},
        "landmarks": {
            "step": 0.2,
            "bootstrap": [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]],
            "bootstrap_share": 0.25,
            "visits": 2,
        },
    }


@pytest.mark.parametrize("algorithm", ["ppo", "td3"])
def test_every_update_has_the_landmark_of_its_steps(values, tmp_path, fake_simulator, monkeypatch, algorithm):
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    from weir.trainer.gym.vector import BottleneckVectorEnv
    from weir.trainer.learning.train import train

    seen, shown, step = [], [], BottleneckVectorEnv.step

    def spy(self, actions):
        before = self._pool.objectives.copy()
        result = step(self, actions)
        seen.append((before, result[0][:, -3:]))
        return result

    monkeypatch.setattr(BottleneckVectorEnv, "step", spy)
    configuration = checked_configuration(values | {"algorithm": algorithm})
    train(configuration, tmp_path / "run", simulator=fake_simulator, on_progress=shown.append)
    schedule = LandmarkSchedule(configuration.landmarks, configuration.steps)
    assert len(seen) == 320
    for index, (played, observed) in enumerate(seen):
        expected = np.tile(schedule.at(index // 20 * 40), (2, 1))
        np.testing.assert_allclose(played, expected, atol=1e-6)
        np.testing.assert_allclose(observed, expected, atol=1e-6)
    assert len({tuple(played[0].tolist()) for played, _ in seen}) == 6


def test_the_learner_sees_the_landmark_it_is_rewarded_by(values, tmp_path, fake_simulator):
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    from weir.trainer.learning.algorithms import REPLAY_BUFFER
    from weir.trainer.learning.train import train

    configuration = checked_configuration(values | {"algorithm": "td3"})
    train(configuration, tmp_path / "run", simulator=fake_simulator)
    schedule = LandmarkSchedule(configuration.landmarks, configuration.steps)
    with np.load(tmp_path / "run" / REPLAY_BUFFER) as file:
        objectives = file["observations"][:, :, -3:]
    expected = [schedule.at(row // 20 * 40) for row in range(len(objectives))]
    np.testing.assert_allclose(objectives[:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(objectives[:, 1], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0.3}, "landmarks: step 0.3: must divide 1"),
        ({"step": 0.001}, "landmarks.step: .*greater than or equal to 0.02"),
        ({"bootstrap": [[0.5, 0.3, 0.2]], "step": 0.2}, "bootstrap .*0.5, 0.3, 0.2.* is no landmark"),
        ({"bootstrap": [[0.8, 0.2, 0.0]], "step": 0.2}, "is no landmark"),
        ({"bootstrap": [[0.2, 0.2, 0.6]] * 2, "step": 0.2}, "there twice"),
        ({"bootstrap": []}, "landmarks.bootstrap"),
        ({"bootstrap_share": 1.5}, "landmarks.bootstrap_share"),
        ({"visits": 100}, "36 landmarks get 0 steps a visit, less than the 40 between two updates"),
        ({"count": 36}, "landmarks.count: unknown key"),
    ],
)
def test_bad_landmarks_are_one_message(values, change, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | {"landmarks": change}, "my.toml")
    assert "\n" not in str(raised.value)
