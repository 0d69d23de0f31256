"""The environment takes what `weir replay` takes: paths, names of the catalogue, and what `read_trace` returns."""

import pickle

import gymnasium
import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_eval.runs.inputs import PathOptions, read_inputs
from weir_traces.catalogue import bundled_names, load_bundled
from weir_traces.formats.importers import read_trace
from weir_traces.schema.scenario import Scenario
from weir_train.gym import BottleneckEnv, BottleneckVectorEnv
from weir_train.gym.episode import EpisodeSource


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "drive.csv"
    path.write_text("time_s,rate_bps\n0,1000000\n10,2000000\n20,\n")
    return path


def drawn(source, count=1):
    generator = np.random.default_rng(1)
    source = EpisodeSource(source)
    return [source.draw(generator).scenario for _ in range(count)]


def names(found):
    return {scenario["name"] for scenario in found}


def test_a_path_is_the_scenario_that_a_replay_reads(csv):
    (replayed,) = read_inputs([str(csv)], PathOptions())
    assert drawn(str(csv)) == drawn(csv) == drawn(read_trace(csv)) == [replayed.to_dict()]


def test_names_of_the_catalogue(csv):
    assert drawn("catalogue/cellular-3m") == [load_bundled("cellular-3m").to_dict()]
    assert names(drawn("catalogue", 400)) == set(bundled_names())
    assert all(name.startswith("rfc8867") for name in names(drawn("catalogue/rfc8867", 20)))
    found = drawn([csv, "catalogue/cellular-3m", load_bundled("steady-1m")], 40)
    assert names(found) == {"drive", "cellular-3m", "steady-1m"}


def test_a_function_may_return_a_name(csv):
    assert names(drawn(lambda seed: csv)) == {"drive"}
    assert names(drawn(lambda seed: "catalogue/steps")) == {"steps"}


def test_files_are_read_once(csv):
    source = EpisodeSource([csv])
    csv.unlink()
    assert pickle.loads(pickle.dumps(source)).draw(np.random.default_rng(1)).scenario["name"] == "drive"


def test_both_environments_take_names(fake_simulator, csv, tmp_path, steady):
    path = tmp_path / "steady.json"
    Scenario.from_dict(steady("mine")).save(path)
    env = gymnasium.make("weir/Bottleneck-v0", scenario=str(path), simulator=fake_simulator)
    assert env.reset(seed=1)[1]["scenario"] == "mine"
    assert env.reset(options={"scenario": csv})[1]["scenario"] == "drive"
    assert env.reset(options={"scenario": "catalogue/steps"})[1]["scenario"] == "steps"
    env.close()
    vector = BottleneckVectorEnv(2, csv, simulator=fake_simulator)
    vector.reset(seed=1)
    assert {episode.scenario["name"] for episode in vector.episodes} == {"drive"}
    vector.close()


def test_what_is_no_trace_is_refused_at_once(tmp_path):
    faulty = tmp_path / "back.csv"
    faulty.write_text("time_s,rate_bps\n0,1000000\n5,2000000\n3,1000000\n10,\n")
    for source, message in (
        (tmp_path / "missing.csv", "missing"),
        ("catalogue/celular-3m", "did you mean catalogue/cellular-3m"),
        (faulty, "back.csv: 1 fault"),
        ([faulty], "back.csv: 1 fault"),
    ):
        with pytest.raises(InputError, match=message):
            BottleneckEnv(source)
    repaired = read_trace(faulty, repair=True)
    assert names(drawn(repaired)) == {"back"}
