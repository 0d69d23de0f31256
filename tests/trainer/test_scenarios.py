import json
import subprocess

import pytest
from pydantic import ValidationError

from weir_cli.errors import InputError
from weir_traces.catalogue import bundled_scenarios
from weir_traces.generate.random_domain import is_ordinary, random_scenario
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.scenarios import ScenarioSampler, ScenarioSettings


def test_random_domain_is_the_training_split_within_the_bounds():
    settings = ScenarioSettings(maximum_mean_bps=5e6, minimum_duration_s=10.0, maximum_duration_s=30.0)
    sample = ScenarioSampler(settings)
    for seed in range(15):
        scenario = Scenario.from_dict(sample(seed))
        assert scenario.name.startswith("random-train-")
        assert 10.0 <= scenario.duration_s <= 30.0
        assert scenario.forward.capacity.trace().mean_bps(scenario.duration_s) <= 5e6
    assert len({sample(seed)["duration_s"] for seed in range(15)}) > 10
    assert sample(3) == sample(3)
    held_out = {random_scenario(seed, split="held_out").flows[0].sender_clock_offset_s for seed in range(50)}
    assert not {sample(seed)["flows"][0]["sender_clock_offset_s"] for seed in range(15)} & held_out


def test_ordinary_paths_are_away_from_the_edges():
    sample = ScenarioSampler(ScenarioSettings(ordinary=True))
    found = [Scenario.from_dict(sample(seed)) for seed in range(60)]
    assert all(map(is_ordinary, found))
    # Seeds of other paths go on to the next one that is ordinary.
    scenarios = [random_scenario(seed) for seed in range(60)]
    assert 10 < sum(map(is_ordinary, scenarios)) < 50
    first_edge = next(seed for seed, scenario in enumerate(scenarios) if not is_ordinary(scenario))
    assert sample(first_edge)["name"] != scenarios[first_edge].name


def test_the_simulator_reads_and_runs_every_scenario_of_the_domain(real_simulator):
    documents = [
        random_scenario(seed, split=split, duration_s=2.0).to_dict()
        for split in ("train", "held_out")
        for seed in range(200)
    ]
    jobs = [
        {"job": index, "scenario": document, "controller": "rule", "seed": 1}
        for index, document in enumerate(documents)
    ]
    text = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run([real_simulator, "run", "-"], input=text, capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["job"] for record in records] == list(range(400))
    assert not [record["error"] for record in records if "error" in record]
    assert all(record["flows"][0]["achievable_bytes"] > 0 for record in records)


def test_files_are_drawn_in_turn(tmp_path, steady):
    paths = []
    for name in ("a", "b"):
        paths.append(tmp_path / f"{name}.json")
        Scenario.from_dict(steady(name)).save(paths[-1])
    sample = ScenarioSampler(ScenarioSettings(source="files", files=tuple(paths)))
    assert [sample(seed)["name"] for seed in (4, 5)] == ["a", "b"]
    with pytest.raises(InputError, match=r"missing\.json"):
        ScenarioSampler(ScenarioSettings(source="files", files=(tmp_path / "missing.json",)))


def test_files_may_be_bundled_scenarios():
    sample = ScenarioSampler(ScenarioSettings(source="files", files=("catalogue/pantheon-2", "catalogue/steps")))
    assert [sample(seed)["name"] for seed in range(2)] == ["pantheon-2", "steps"]
    with pytest.raises(InputError, match="nonsense"):
        ScenarioSampler(ScenarioSettings(source="files", files=("catalogue/nonsense",)))


@pytest.mark.parametrize(("files", "held_out"), [(2, "b"), (5, "c"), (10, "ch"), (100, None)])
def test_a_fifth_of_the_files_is_held_out_and_not_drawn(tmp_path, steady, files, held_out):
    paths = [tmp_path / f"{index}.json" for index in range(files)]
    names = [chr(ord("a") + index) if files < 20 else f"file {index}" for index in range(files)]
    for name, path in zip(names, paths, strict=True):
        Scenario.from_dict(steady(name)).save(path)
    sampler = ScenarioSampler(ScenarioSettings(source="files", files=tuple(paths)))
    found = [document["name"] for document in sampler.hold_out()]
    assert found == list(held_out) if held_out else len(found) == 16
    assert {sampler(seed)["name"] for seed in range(files)} == set(names) - set(found)


def test_a_single_trace_is_split_in_time(tmp_path):
    (tmp_path / "mine.csv").write_text("time_s,rate_bps\n" + "".join(f"{t},{1e6 * (t + 1)}\n" for t in range(50)))
    sampler = ScenarioSampler(ScenarioSettings(source="files", files=(tmp_path / "mine.csv",)))
    whole = sampler(0)
    (last,) = sampler.hold_out()
    (first,) = sampler.documents
    assert (first["name"], last["name"]) == ("mine", "the last fifth of mine")
    assert first["duration_s"] == pytest.approx(0.8 * whole["duration_s"], abs=0.01)
    assert first["duration_s"] + last["duration_s"] == whole["duration_s"]
    cut = int(first["duration_s"])
    assert last["forward"]["capacity"]["rates_bps"][:2] == [1e6 * (cut + 1), 1e6 * (cut + 2)]


def test_random_traces_are_judged_on_others():
    sampler = ScenarioSampler(ScenarioSettings(source="random_traces", traces=3))
    trained = {document["name"] for document in sampler.documents}
    judged = {document["name"] for document in sampler.hold_out()}
    assert len(trained) == 3
    assert len(judged) == 16
    assert not trained & judged


def test_a_file_with_an_unknown_controller_is_refused(tmp_path, steady):
    flows = [{"kind": "rtp"}, {"kind": "rtp", "id": "other", "controller": "gccc"}]
    Scenario.from_dict(steady() | {"flows": flows}).save(tmp_path / "x.json")
    with pytest.raises(InputError, match=r"x\.json: flow 'other': controller 'gccc': not known"):
        ScenarioSampler(ScenarioSettings(source="files", files=(tmp_path / "x.json",)))


def test_random_traces_are_those_of_no_evaluation(real_simulator):
    sample = ScenarioSampler(ScenarioSettings(source="random_traces", traces=18))
    assert [sample(seed)["name"] for seed in (3, 21)] == [sample.documents[3]["name"]] * 2
    assert [document["flows"][0]["media"]["kind"] for document in sample.documents] == ["video"] * 9 + ["filler"] * 9
    assert len({document["name"].rpartition("-")[0] for document in sample.documents}) == 9
    evaluated = [*bundled_scenarios(), *(random_scenario(seed, split="held_out") for seed in range(18))]
    evaluated += [random_scenario(seed) for seed in range(18)]
    evaluated_capacities = [scenario.to_dict()["forward"]["capacity"] for scenario in evaluated]
    for document in sample.documents:
        assert document["forward"]["one_way_delay_ms"] == 25
        assert document["forward"]["queue"]["milliseconds"] == 300
        assert document["forward"]["capacity"] not in evaluated_capacities or "constant" in document["name"]
    job = {"job": 0, "scenario": sample.documents[17], "controller": "rule", "seed": 1}
    done = subprocess.run(
        [real_simulator, "run", "-"], input=json.dumps(job) + "\n", capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["flows"][0]["achievable_bytes"] > 0


def test_impossible_bounds():
    with pytest.raises(InputError, match="1000 draws"):
        ScenarioSampler(ScenarioSettings(maximum_mean_bps=1e3))(1)
    with pytest.raises(ValidationError, match="above"):
        ScenarioSettings(minimum_duration_s=20.0, maximum_duration_s=10.0)
