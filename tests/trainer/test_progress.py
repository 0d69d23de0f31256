"""The time limit of a training, and its progress without a terminal."""

import io
import json
import math
import shlex

import pytest
from rich.console import Console

from weir_cli.errors import InputError
from weir_train.learning import progress_bar as progress
from weir_train.learning.progress_bar import progress_bar
from weir_train.learning.time_limit import TimeLimit


class Clock:
    """A clock that advances by `step_s` whenever it is read."""

    def __init__(self, step_s=0.0):
        self.now_s = 100.0
        self.step_s = step_s

    def __call__(self):
        self.now_s += self.step_s
        return self.now_s


@pytest.fixture
def clock(monkeypatch):
    """The clock of the progress bar; it stands until a test moves it."""
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    return clock


def test_a_log_gets_a_line_per_half_minute_and_the_end(clock):
    text = io.StringIO()
    with progress_bar(1000, Console(file=text, width=40)) as show:
        for steps in range(0, 1001, 10):
            show("training", steps, "reward 0.5000")
            clock.now_s += 1.0
    lines = text.getvalue().splitlines()
    assert lines == [
        "training: 0 of 1,000 steps, reward 0.5000",
        "training: 300 of 1,000 steps, 10 steps/s, 1 min left, reward 0.5000",
        "training: 600 of 1,000 steps, 10 steps/s, 40 s left, reward 0.5000",
        "training: 900 of 1,000 steps, 10 steps/s, 10 s left, reward 0.5000",
        "training: 1,000 of 1,000 steps, 10 steps/s, 0 s left, reward 0.5000",
    ]


def test_a_line_has_the_time_to_the_limit_when_the_steps_need_longer(clock):
    text = io.StringIO()
    with progress_bar(200_000, Console(file=text), end_s=TimeLimit(4.0, clock).end_s) as show:
        for steps in range(0, 1800, 300):
            show("adapting", steps, "")
            clock.now_s += 60.0
    assert text.getvalue().splitlines() == [
        "adapting: 0 of 200,000 steps, 4 min left",
        "adapting: 300 of 200,000 steps, 5 steps/s, 3 min left",
        "adapting: 600 of 200,000 steps, 5 steps/s, 2 min left",
        "adapting: 900 of 200,000 steps, 5 steps/s, 1 min left",
        "adapting: 1,200 of 200,000 steps, 5 steps/s, 0 s left",
        "adapting: 1,500 of 200,000 steps, 5 steps/s, 0 s left",
    ]


def test_a_line_has_the_time_of_the_steps_when_the_limit_is_later(clock):
    text = io.StringIO()
    with progress_bar(1000, Console(file=text), end_s=TimeLimit(60.0, clock).end_s) as show:
        show("adapting", 0, "")
        clock.now_s += 100.0
        show("adapting", 250, "")
    assert text.getvalue().splitlines()[1] == "adapting: 250 of 1,000 steps, 2 steps/s, 5 min left"


def test_a_bar_has_the_time_to_the_limit(clock):
    text = io.StringIO()
    with progress_bar(200_000, Console(file=text, force_terminal=True, width=120), end_s=clock.now_s + 120) as show:
        show("adapting", 0, "")
    assert "2 min left" in text.getvalue()


def test_a_terminal_gets_a_bar():
    text = io.StringIO()
    with progress_bar(10, Console(file=text, force_terminal=True, width=120)) as show:
        show("training", 10, "done")
    assert "10/10" in text.getvalue()


def test_the_time_limit_passes_with_its_minutes():
    clock = Clock()
    limit, none = TimeLimit(2.0, clock), TimeLimit(None, clock)
    clock.now_s += 119.0
    assert not limit()
    clock.now_s += 1.0
    assert limit()
    assert not none()


@pytest.mark.parametrize("minutes", [0.0, -1.0, math.nan])
def test_a_time_limit_is_above_0(minutes):
    with pytest.raises(InputError, match="--minutes"):
        TimeLimit(minutes)


def test_a_time_limit_ends_a_training_with_a_checkpoint_an_evaluation_and_a_model(
    values, tmp_path, weir, write_toml, monkeypatch
):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")
    from weir_train.learning import time_limit

    # A reading per update: a minute is over in the second one.
    monkeypatch.setattr(time_limit, "monotonic", Clock(40.0))
    values["environment"]["action"] = {"kind": "around_rule"}
    run = tmp_path / "run"
    arguments = ["train", write_toml(values), "--out", run, "--eval"]
    result = weir(*arguments, "--minutes", 1)
    assert result.exit_code == 0, result.output
    assert "the time limit of 1 minutes ended it after" in result.stderr
    assert (
        f"of 1,024 steps; continue with: {shlex.join(map(str, ['weir', *arguments[:4]]))} --minutes 1.0 --eval --resume"
        in result.stderr
    )
    record = json.loads((run / "training.json").read_text())
    assert record["interrupted"]
    # The update in which the limit passes is completed.
    assert record["steps"] == 512
    assert "--minutes 1" in record["parts"][0]["command"]
    for options in ([], ["--best"]):
        assert weir("export", run, *options, "--out", tmp_path / "new.onnx", "--force").exit_code == 0
    assert weir(*arguments, "--resume").exit_code == 0
    assert json.loads((run / "training.json").read_text())["steps"] >= 1024


def test_a_time_limit_is_for_learners_that_can_end_early(values, tmp_path):
    pytest.importorskip("torch", reason="needs weir-train[learning]")
    from weir_train.configuration.training import checked_configuration
    from weir_train.learning.train import train

    configuration = checked_configuration(values)

    class OnCluster(type(configuration)):
        on_cluster = True

    clustered = OnCluster.model_construct(**dict(configuration))
    with pytest.raises(InputError, match="--minutes: algorithm ppo trains all of its steps"):
        train(clustered, tmp_path / "run", is_over=lambda: False)
