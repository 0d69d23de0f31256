"""The table `tune` of a configuration: what it accepts, and the settings of a trial."""

import pytest

from weir_cli.errors import InputError
from weir_train.configuration.training import checked_configuration, load_configuration
from weir_train.configuration.tuning import TuneSettings, setting_of, with_parameters

RATE = {"low": 1e-4, "high": 1e-2, "log": True}


def with_table(values, parameters, **table):
    return checked_configuration(values | {"tune": {"parameters": parameters, **table}})


def test_ranges_and_choices_of_settings_are_accepted(values, write_toml):
    parameters = {
        "ppo.learning_rate": RATE,
        "ppo.epochs": {"low": 1, "high": 8},
        "policy.hidden": {"choices": [[16], [32, 16]]},
        "environment.action.span": {"low": 1.5, "high": 4.0},
        "environment.reward": {"choices": ["mocc", "challenge"]},
    }
    path = write_toml(values)
    lines = ["\n[tune]\ntrials = 7\n[tune.parameters]"]
    lines += [
        '"ppo.learning_rate" = { low = 1e-4, high = 1e-2, log = true }',
        '"ppo.epochs" = { low = 1, high = 8 }',
        '"policy.hidden" = { choices = [[16], [32, 16]] }',
        '"environment.action.span" = { low = 1.5, high = 4.0 }',
        '"environment.reward" = { choices = ["mocc", "challenge"] }',
    ]
    path.write_text(path.read_text() + "\n".join(lines))
    tune = load_configuration(path).tune
    assert tune == TuneSettings(trials=7, parameters=parameters)


@pytest.mark.parametrize(
    "impossible",
    [
        {"low": 0.9},
        {"low": 0.9, "high": 0.9},
        {"low": 0.0, "high": 0.9, "log": True},
        {"low": 0.0, "choices": [0.1, 0.2]},
        {"choices": [0.1]},
        {"low": 0.1, "high": float("inf")},
    ],
)
def test_a_range_without_values_is_refused(values, impossible):
    with pytest.raises(InputError, match=r"tune\.parameters\.ppo\.gamma"):
        with_table(values, {"ppo.gamma": impossible})


@pytest.mark.parametrize("path", ["ppo.learning_rat", "steps", "tune.trials", "seed.low"])
def test_an_unknown_parameter_is_refused(path):
    with pytest.raises(InputError, match="is no setting that can be varied"):
        setting_of({"steps": 5, "seed": 1, "tune": {"trials": 3}, "ppo": {"gamma": 0.9}}, path)


@pytest.mark.parametrize("table", [{"trials": 0}, {"rungs": 9}, {"reduction_factor": 1}, {"scenarios": 10**6}])
def test_numbers_out_of_bounds_are_refused(values, table):
    with pytest.raises(InputError, match=f"tune.{next(iter(table))}"):
        with_table(values, {"ppo.learning_rate": RATE}, **table)


def test_each_rung_has_a_multiple_of_the_steps_of_the_one_before():
    tune = TuneSettings(parameters={"ppo.learning_rate": RATE}, rungs=3, reduction_factor=4)
    assert tune.rung_steps(16_000) == [1000, 4000, 16_000]
    assert tune.rung_steps(2) == [1, 1, 2]


def test_parameters_take_their_places_and_nothing_else_changes():
    values = {"steps": 5, "ppo": {"epochs": 2, "gamma": 0.9}}
    changed = with_parameters(values, {"ppo.epochs": 4, "environment.action.span": 2.0})
    assert changed == {"steps": 5, "ppo": {"epochs": 4, "gamma": 0.9}, "environment": {"action": {"span": 2.0}}}
    assert values["ppo"]["epochs"] == 2
