"""Data sets of recorded calls: Minari reads them, histories are the estimator's, hostile files are refused."""

import dataclasses
import json

import numpy as np
import pytest

from weir.errors import InputError
from weir.trainer.gym import BottleneckEnv
from weir.trainer.offline.reader import read_data_set, with_history
from weir.trainer.offline.transitions import DATA, METADATA, call_rewards, names
from weir.trainer.offline.writer import check_model, check_target, write_data_set

h5py = pytest.importorskip("h5py", reason="needs the extra `train`")
minari = pytest.importorskip("minari", reason="needs the extra `train`")


@pytest.fixture
def data_set(tmp_path, model, make_call):
    folder = tmp_path / "data"
    assert write_data_set(folder, model, 0.1, [make_call("a"), make_call("short", 1), make_call("b", 20, 2)]) == 48
    return folder


def test_minari_reads_what_was_written(data_set, model, make_call):
    found = minari.MinariDataset(data_set)
    assert (found.total_episodes, found.total_steps) == (2, 48)
    call, episode = make_call("a"), found[0]
    assert all(found.observation_space.contains(row) for row in episode.observations)
    np.testing.assert_array_equal(episode.observations[:, :-3], call.newest)
    np.testing.assert_allclose(episode.observations[:, -3:], call.objectives, rtol=1e-6)
    np.testing.assert_allclose(episode.actions[:, 0], call.actions[:-1], rtol=1e-6)
    np.testing.assert_allclose(episode.infos["targets_bps"], call.targets_bps, rtol=1e-6)
    np.testing.assert_array_equal(episode.infos["decided"], call.decided)
    assert episode.truncations.tolist() == [False] * 28 + [True]
    assert not episode.terminations.any()
    # The density of the noise on ln(rate), with a standard deviation of 0.1.
    noise = np.log(call.actions / call.policy_actions)
    density = np.exp(-0.5 * (noise / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(np.exp(episode.infos["log_probabilities"]), density, rtol=1e-4)
    about = json.loads((data_set / METADATA).read_text())["weir"]
    assert about["features"] == names(model.features)
    assert (about["calls"], about["reward"], about["deterministic"]) == (["a", "b"], "log", False)


def test_the_reward_is_of_the_interval_after_the_action(data_set, model, make_call):
    newest = make_call("a").newest
    read = ("receive_rate_bps", "loss_ratio", "queueing_delay_max_s", "base_round_trip_time_s")
    rate, loss, delay, base = (newest[1, names(model.features).index(name)] for name in read)
    expected = 0.4 * np.log(rate / 1e6) - 0.5 * np.log(base / 2 + delay) - 0.1 * 6 * loss
    assert minari.MinariDataset(data_set)[0].rewards[0] == pytest.approx(expected, rel=1e-5)


def test_histories_are_rebuilt_as_the_estimator_makes_them(real_simulator, specification, steady):
    with BottleneckEnv(
        steady(duration_s=3.0), interval_ms=100, features=specification.features, history=3, simulator=real_simulator
    ) as environment:
        whole = [environment.reset(seed=1)[0]]
        while len(whole) < 20:
            whole.append(environment.step(np.array([0.1], np.float32))[0])
    whole = np.array(whole)
    interval = len(specification.interval_features)
    rows = np.concatenate([whole[:, :interval], whole[:, 3 * interval :]], axis=1)
    # The simulator's first observation is of no interval.
    rebuilt = with_history(rows, np.arange(len(rows)) == 1, specification)
    np.testing.assert_array_equal(rebuilt[1:], whole[1:])
    after_reset = with_history(rows, np.isin(np.arange(len(rows)), (1, 10)), specification)
    np.testing.assert_array_equal(after_reset[10, :interval], after_reset[10, interval : 2 * interval])
    np.testing.assert_array_equal(after_reset[12], whole[12])


def test_a_data_set_is_read_for_its_policy(data_set, specification, make_call):
    first, second = read_data_set(data_set, specification)
    assert first.observations.shape == (30, specification.observation_size + 3)
    assert (len(first.actions), len(second.rewards)) == (29, 19)
    np.testing.assert_array_equal(first.decided, make_call("a").decided[:-1])
    assert first.decided.sum() == 27


def test_the_same_calls_are_written_again_and_others_are_kept(data_set, model, make_call, tmp_path):
    check_target(data_set, {"a", "b", "c"})
    assert write_data_set(data_set, model, 0.1, [make_call("a"), make_call("b"), make_call("c")]) == 87
    with pytest.raises(InputError, match="that this command does not make"):
        check_target(data_set, {"a", "b"})
    (tmp_path / "other").mkdir()
    check_target(tmp_path / "other", set())
    (tmp_path / "other/notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        check_target(tmp_path / "other", set())


def test_models_whose_decisions_have_no_reward_are_refused(model):
    check_model(model)
    with pytest.raises(InputError, match="features loss_ratio"):
        check_model(dataclasses.replace(model, features=[name for name in model.features if name != "loss_ratio"]))
    with pytest.raises(InputError, match="one continuous action"):
        check_model(dataclasses.replace(model, action_kind="discrete"))


def change_metadata(change):
    def apply(folder):
        metadata = json.loads((folder / METADATA).read_text())
        change(metadata)
        (folder / METADATA).write_text(json.dumps(metadata))

    return apply


def change_data(change):
    def apply(folder):
        with h5py.File(folder / DATA, "a") as file:
            change(file["episode_0"])

    return apply


def replace(name, **arguments):
    def change(episode):
        del episode[name]
        episode.create_dataset(name, **arguments)

    return change_data(change)


def link(name, target):
    def change(episode):
        del episode[name]
        episode[name] = target

    return change_data(change)


def set_value(name, value):
    def change(episode):
        episode[name][3] = value

    return change_data(change)


HOSTILE = {
    "no metadata": (lambda folder: (folder / METADATA).unlink(), "no such file"),
    "metadata of another kind": (lambda folder: (folder / METADATA).write_text("[1]"), "no data set of recorded calls"),
    "deep metadata": (lambda folder: (folder / METADATA).write_text("[" * 100_000), "nested too deeply"),
    "another schema": (change_metadata(lambda m: m["weir"].update(schema=2)), "its schema is 2"),
    "other features": (change_metadata(lambda m: m["weir"]["features"].pop()), "its features is"),
    "another interval": (change_metadata(lambda m: m["weir"].update(interval_ms=50)), "its interval_ms is 50"),
    "another action": (change_metadata(lambda m: m["weir"].update(action_kind="relative")), "its action_kind is"),
    "endless": (change_metadata(lambda m: m.update(total_episodes=10**12)), "total_episodes must be"),
    "more calls than there are": (change_metadata(lambda m: m.update(total_episodes=3)), "episode_2 is damaged"),
    "no HDF5": (lambda folder: (folder / DATA).write_bytes(b"\x89HDF\r\n" * 99), "episode_0 is damaged"),
    "torn": (lambda folder: (folder / DATA).write_bytes((folder / DATA).read_bytes()[:3000]), "episode_0 is damaged"),
    "no data": (lambda folder: (folder / DATA).unlink(), "no such file"),
    "a NaN": (set_value("rewards", np.nan), "not finite"),
    "an infinite action": (set_value("actions", np.inf), "not finite"),
    "an enormous reward": (set_value("rewards", 1e30), "out of range"),
    "an action below 0": (set_value("actions", -1.0), "out of range"),
    "a negative rate": (set_value("observations", -1.0), "out of range"),
    "too long": (replace("rewards", shape=(10**10,), dtype="f4", chunks=(1024,)), "has the shape"),
    "huge chunks": (replace("rewards", shape=(29,), maxshape=(None,), dtype="f4", chunks=(1 << 28,)), "chunks"),
    "texts": (replace("rewards", data=["1"] * 29), "no array of numbers"),
    "other lengths": (replace("rewards", data=np.zeros(5, np.float32)), "lengths"),
    "a link to another file": (link("rewards", h5py.ExternalLink("/etc/passwd", "/rewards")), "no episode_0/rewards"),
    "a link": (link("rewards", h5py.SoftLink("/episode_1/rewards")), "no episode_0/rewards"),
    "kept elsewhere": (
        replace("rewards", shape=(29,), dtype="f4", external=[("/etc/passwd", 0, 116)]), "kept in another file"
    ),
    # A chunk could unpack to more than all memory.
    "packed": (replace("rewards", data=np.zeros(29, np.float32), compression="gzip"), "or packed"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_data_set_is_refused_in_one_line(name, data_set, specification):
    spoil, message = HOSTILE[name]
    spoil(data_set)
    with pytest.raises(InputError, match=message) as refused:
        read_data_set(data_set, specification)
    assert "\n" not in str(refused.value)


def test_no_environment_that_a_data_set_names_is_made(data_set, specification, tmp_path):
    marker = tmp_path / "executed"
    spec = {"id": "evil-v0", "entry_point": "os:mkdir", "kwargs": {"path": str(marker)}}
    change_metadata(lambda metadata: metadata.update(env_spec=json.dumps(spec)))(data_set)
    change_metadata(lambda metadata: metadata.pop("observation_space"))(data_set)
    assert len(read_data_set(data_set, specification)) == 2
    assert not marker.exists()


def test_rewards_of_calls_are_the_formula():
    features = ["receive_rate_bps", "queueing_delay_max_s", "loss_ratio", "base_round_trip_time_s"]
    newest = np.array([[2e6, 0.05, 0.25, 0.1], [0.0, 0.0, 0.0, 0.0]])
    objective = np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
    expected = [0.6 * np.log(2) - 0.3 * np.log(0.1) - 0.1 * 6 * 0.25, 0.6 * np.log(0.01) - 0.3 * np.log(0.001)]
    np.testing.assert_allclose(call_rewards(features, newest, objective), expected)
