"""MOCC's landmarks, Algorithm 1 by hand, and the schedule in a training run."""

import numpy as np
import pytest

from weir_train.configuration.training import checked_configuration

pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_papers.mocc.landmarks import (
    BOOTSTRAP,
    BOOTSTRAP_SHARE,
    LandmarkObjectives,
    LandmarkSchedule,
    landmarks,
    neighbours,
    sort_by_neighbourhood,
    weights_of,
)

UPDATE = {"steps_per_update": 20, "batch_size": 40}


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


@pytest.mark.parametrize(
    ("origins", "order"),
    [
        # Each search takes ceil(6 / 3) = 2. 311: neighbours 212 and 221 are at 1; 212 is the first of them. 131:
        # neighbours 122 and 221 are at 1; 122 is the first. 113: its neighbours 122 and 212 are taken; 221 is left.
        ([(3, 1, 1), (1, 3, 1), (1, 1, 3)], [(3, 1, 1), (2, 1, 2), (1, 3, 1), (1, 2, 2), (1, 1, 3), (2, 2, 1)]),
        # 113 is at 0, then 122 and 212 at 1, then 131, 221, 311 at 2.
        ([(1, 1, 3)], [(1, 1, 3), (1, 2, 2), (2, 1, 2), (1, 3, 1), (2, 2, 1), (3, 1, 1)]),
        # 113 takes itself, 122 and 212. 122 then takes its neighbours at 1, 131 and 221, then 311 at 2.
        ([(1, 1, 3), (1, 2, 2)], [(1, 1, 3), (1, 2, 2), (2, 1, 2), (1, 3, 1), (2, 2, 1), (3, 1, 1)]),
    ],
)
def test_order_of_six_landmarks_by_hand(origins, order):
    assert sort_by_neighbourhood(landmarks(5), origins) == order


def test_the_papers_order_has_all_36_and_stays_near():
    order = sort_by_neighbourhood(landmarks(10), BOOTSTRAP)
    assert sorted(order) == landmarks(10)
    assert (order[0], order[12], order[24]) == ((6, 3, 1), (1, 6, 3), (3, 1, 6))
    for begin in (0, 12):  # the first search at least, and the second, never leave what is already reached
        for index in range(begin + 1, begin + 12):
            assert set(neighbours(order[index])) & set(order[:index])


def test_schedule_bootstraps_then_traverses_in_rounds():
    steps = 100 * 36 * 3 / (1 - BOOTSTRAP_SHARE)  # three rounds of visits of 100 steps
    schedule = LandmarkSchedule(round(steps), 100)
    first = [weights_of(landmark) for landmark in BOOTSTRAP]
    assert [schedule.at(step) for step in (0, 99, 100, 200, 399)] == [first[0], first[0], first[1], first[2], first[0]]
    begin = round(BOOTSTRAP_SHARE * steps)
    assert [schedule.at(begin + 100 * visit) for visit in range(36 * 3)] == schedule.order * 3
    assert len(set(schedule.order)) == 36
    objectives = {schedule(np.random.default_rng(seed)) for seed in range(500)}
    assert objectives == set(schedule.order)


def test_excluded_landmarks_are_not_visited():
    schedule = LandmarkSchedule(1000, 1, excluded=[(8, 1, 1), (6, 3, 1)])
    visited = {schedule.at(step) for step in range(1000)}
    assert len(visited) == 34
    assert not visited & {(0.8, 0.1, 0.1), (0.6, 0.3, 0.1)}


@pytest.fixture
def values(values):
    environment = values["environment"] | {"history": 1}
    return values | {"steps": 1600, "environment": environment, "ppo": UPDATE}


@pytest.mark.parametrize("algorithm", ["ppo", "td3"])
def test_an_update_of_all_environments_has_one_landmark(values, tmp_path, fake_gym_simulator, monkeypatch, algorithm):
    from weir_train.gym.vector import BottleneckVectorEnv
    from weir_train.learning.train import train

    seen, step = [], BottleneckVectorEnv.step

    def spy(self, actions):
        before = self._objectives.copy()
        result = step(self, actions)
        seen.append((before, result[0][:, -3:]))
        return result

    monkeypatch.setattr(BottleneckVectorEnv, "step", spy)
    table = UPDATE | ({"learning_starts": 100} if algorithm == "td3" else {})
    configuration = checked_configuration(values | {"algorithm": algorithm, algorithm: table})
    schedule = LandmarkSchedule(configuration.steps, 40)
    train(
        configuration,
        tmp_path / "run",
        simulator=fake_gym_simulator,
        objective=schedule,
        callbacks=[LandmarkObjectives(schedule)],
    )
    assert len(seen) == 800
    for index, (played, observed) in enumerate(seen):
        expected = [schedule.at(index // 20 * 40)] * 2
        np.testing.assert_allclose(played, expected, atol=1e-6)
        np.testing.assert_allclose(observed, expected, atol=1e-6)
    assert len({tuple(played[0].tolist()) for played, _ in seen}) > 10
