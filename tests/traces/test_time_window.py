"""A window of a scenario has the values of its time."""

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.time_window import time_window


def scenario(period_s):
    return Scenario.from_dict(
        {
            "schema": "weir.scenario/1",
            "name": "steps",
            "duration_s": 40.0,
            "forward": {
                "capacity": {"times_s": [0, 10, 20, 25], "rates_bps": [1e6, 2e6, 3e6, 4e6], "period_s": period_s},
                "one_way_delay_ms": {"times_s": [0, 22], "values_ms": [20.0, 80.0], "period_s": period_s},
                "loss": {
                    "kind": "bernoulli",
                    "ratio": {"times_s": [0, 12], "ratios": [0.0, 0.1], "period_s": period_s},
                },
            },
            "flows": [{"kind": "rtp"}],
        }
    )


@pytest.mark.parametrize("period_s", [None, 30.0, 100.0])
def test_a_window_has_the_values_of_its_time(period_s):
    whole, window = scenario(period_s), time_window(scenario(period_s), 15.0, 35.0)
    assert (window.name, window.duration_s) == ("steps", 20.0)
    times = np.arange(0.0, 20.0, 0.5)
    for value in (
        lambda part, time_s: part.forward.capacity.trace().rate_at(time_s),
        lambda part, time_s: part.forward.one_way_delay_ms.at(time_s),
        lambda part, time_s: part.reverse.one_way_delay_ms.at(time_s),
        lambda part, time_s: part.forward.loss.ratio.at(time_s),
    ):
        np.testing.assert_array_equal(value(window, times), value(whole, times + 15.0))
    Scenario.from_dict(window.to_dict())


def test_a_window_from_the_start_only_ends_earlier():
    window = time_window(scenario(None), 0.0, 10.0)
    assert window == scenario(None).model_copy(update={"duration_s": 10.0})


@pytest.mark.parametrize(("start_s", "end_s"), [(-1.0, 5.0), (5.0, 5.0), (0.0, 41.0), (float("nan"), 5.0)])
def test_a_window_beyond_the_scenario_is_refused(start_s, end_s):
    with pytest.raises(InputError, match="steps: has no time from"):
        time_window(scenario(None), start_s, end_s)
