"""`weir report` of a training folder; the files in it are written here, as training writes them."""

import io
import json

import numpy as np
import pytest
from html_page import data_of

from weir_train.configuration.training import checked_configuration
from weir_train.learning.run_record import ConfigurationFile, TrainingRecord


@pytest.fixture
def training(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    settings = checked_configuration(
        {
            "name": "small",
            "steps": 2000,
            "environment": {"features": ["receive_rate_bps"], "action": {"kind": "log_rate"}},
        }
    )
    (folder / "configuration.json").write_text(settings.model_dump_json())
    TrainingRecord(
        steps=1000,
        wall_s=10.0,
        steps_per_s=100.0,
        commands=["weir train <b>.toml"],
        configuration=ConfigurationFile(name="b.toml", sha256="ab" * 32),
        versions={"torch": "2"},
        rule_mean_reward=0.4,
    ).save(folder)
    lines = [
        {"time/total_timesteps": steps, "rollout/mean_reward_per_step": steps / 2000, "train/value_loss": float("nan")}
        for steps in (500, 1000)
    ]
    # The second ends in half a line, as one does that is killed while it writes.
    (folder / "progress.json").write_text("\n".join(map(json.dumps, lines)) + '\n{"time/tot')
    np.savez(
        folder / "evaluations.npz",
        timesteps=[0, 500, 1000],
        results=[[0.1, 0.3], [0.6, 0.8], [0.5, 0.7]],
        ep_lengths=np.full((3, 2), 10),
    )
    return folder


def evaluations(steps=(500.0,), rewards=((0.1, 0.2),)):
    file = io.BytesIO()
    np.savez_compressed(file, timesteps=np.array(steps), results=np.array(rewards))
    return file.getvalue()


def chart_of(folder):
    page = (folder / "report.html").read_text()
    return page, data_of(page)["charts"]


def test_curves_evaluations_and_origin(run_weir, training):
    status, output, _ = run_weir("report", training, "--json")
    assert status == 0
    summary = json.loads(output)
    assert summary == json.loads((training / "summary.json").read_text())
    assert summary["evaluation"]["best"] == {"steps": 500, "mean_reward": pytest.approx(0.7)}
    assert summary["evaluation"]["last"]["steps"] == 1000
    assert summary["mean_reward"] == 0.5
    page, (chart,) = chart_of(training)
    assert "1,000 of 2,000 steps (interrupted, or still running)" in page
    assert "<b>.toml" not in page
    assert "weir train &lt;b&gt;.toml" in page
    lines = {line["name"]: line for line in chart["rows"][0]["lines"]}
    assert lines["evaluation"]["x"] == [0.0, 0.5, 1.0]
    assert lines["evaluation"]["y"] == pytest.approx([0.2, 0.7, 0.6])
    assert lines["in training"]["y"] == [0.25, 0.5]
    assert lines["rule"]["y"] == [0.4, 0.4]
    assert chart["x_title"] == "Steps, thousand"
    # A line without a finite value makes no row.
    assert [row["title"] for row in chart["rows"]] == ["Reward a step"]


def test_the_untrained_policy_has_a_row_of_its_own(run_weir, training):
    np.savez(training / "evaluations.npz", timesteps=[0, 500, 1000], results=[[0.9], [0.7], [0.6]])
    status, output, _ = run_weir("report", training, "--json")
    assert status == 0
    evaluation = json.loads(output)["evaluation"]
    assert evaluation["untrained"] == {"steps": 0, "mean_reward": 0.9}
    assert evaluation["best"] == {"steps": 500, "mean_reward": 0.7}
    assert "the untrained policy was better (reward 0.9000" in (training / "report.html").read_text()


def test_points_over_few_episodes_are_dotted(run_weir, training):
    entries = [
        {"time/total_timesteps": steps, "rollout/mean_reward_per_step": 0.5, "rollout/episodes": episodes}
        for steps, episodes in ((500, 8), (1000, 200))
    ]
    (training / "progress.json").write_text("\n".join(map(json.dumps, entries)))
    assert run_weir("report", training)[0] == 0
    _, (chart,) = chart_of(training)
    lines = {line["name"]: line for line in chart["rows"][0]["lines"]}
    assert lines["in training"]["y"] == [None, 0.5]
    assert lines["fewer episodes"]["y"] == [0.5, None]


def test_values_of_the_log_that_are_no_numbers_are_passed_over(run_weir, training):
    good = {"time/total_timesteps": 500, "rollout/mean_reward_per_step": 0.25}
    bad = [good | {name: value} for name in good for value in (float("nan"), float("inf"), 10**400, "x", {}, True)]
    (training / "progress.json").write_text("\n".join(map(json.dumps, [good, *bad])))
    status, output, error = run_weir("report", training, "--json")
    assert (status, json.loads(output)["steps"]) == (0, 1000), error
    _, (chart,) = chart_of(training)
    assert chart["rows"][0]["lines"][0]["y"][0] == 0.25


def test_a_run_that_has_logged_nothing_yet(run_weir, training):
    for name in ("progress.json", "evaluations.npz", "training.json"):
        (training / name).unlink()
    assert run_weir("report", training)[0] == 0
    page, charts = chart_of(training)
    assert charts == []
    assert "Nothing is logged yet" in page


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("evaluations.npz", b"PK\x03\x04", "evaluations.npz: is not what"),
        ("evaluations.npz", evaluations(rewards=[[np.inf, 1.0]]), "values that are no finite numbers"),
        ("evaluations.npz", evaluations(rewards=[[1.7e308, 1.7e308]]), "values that are no finite numbers"),
        ("evaluations.npz", evaluations(steps=[np.nan]), "values that are no finite numbers"),
        ("evaluations.npz", evaluations(rewards=[[1j, 1j]]), "values that are no finite numbers"),
        ("evaluations.npz", evaluations(rewards=np.zeros((1, 10 << 20))), "unpacks to over 64 MiB"),
        ("training.json", b'{"steps": "many"}', "training.json: is not the record"),
        ("configuration.json", b"{}", "configuration.json: environment: Field required"),
    ],
)
def test_a_damaged_file_is_named(run_weir, training, name, content, message):
    (training / name).write_bytes(content)
    status, _, error = run_weir("report", training)
    assert status == 2
    assert message in error
    assert "Traceback" not in error


def test_a_page_of_a_real_training(run_weir, tmp_path):
    pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")
    from weir_sim.executables import find_simulator
    from weir_traces.schema.scenario import Scenario

    Scenario.make(
        name="steady",
        duration_s=4.0,
        forward={"capacity": {"times_s": [0.0], "rates_bps": [2e6]}},
        flows=[{"kind": "rtp"}],
    ).save(tmp_path / "steady.json")
    from weir_train.learning.train import train

    settings = checked_configuration(
        {
            "name": "small",
            "steps": 256,
            "environment": {"environments": 2, "features": ["receive_rate_bps"], "action": {"kind": "log_rate"}},
            "scenarios": {"source": "files", "files": [tmp_path / "steady.json"]},
            "ppo": {"steps_per_update": 64, "batch_size": 64, "epochs": 1},
        }
    )
    train(settings, tmp_path / "run", simulator=find_simulator())
    assert run_weir("report", tmp_path / "run")[0] == 0
    _, (chart,) = chart_of(tmp_path / "run")
    assert {"Reward a step", "Policy loss", "Value loss", "Steps a second"} <= {row["title"] for row in chart["rows"]}
