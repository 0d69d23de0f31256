import pytest

from weir_eval.measures.steering import LISTED, ORDER, TOLERANCES, steering
from weir_sim.controllers import PRESETS


def presets(throughput, balanced, latency):
    """Each (utilisation, p95 queueing delay in ms)."""
    return {
        name: dict(zip(TOLERANCES, values, strict=True))
        for name, values in zip(ORDER, (throughput, balanced, latency), strict=True)
    }


def test_right_ties_and_wrong():
    found = steering(
        {
            "right": presets((0.9, 100), (0.8, 60), (0.7, 30)),
            "deaf": presets((0.8, 50), (0.8, 50), (0.8, 50)),
            "tie within tolerance": presets((0.800, 50.0), (0.801, 50.9), (0.7, 30)),
            "delay rises": presets((0.9, 50), (0.8, 60), (0.7, 30)),
            "utilisation rises": presets((0.9, 100), (0.8, 60), (0.81, 30)),
        }
    )
    assert found.scenarios == 5
    assert found.right == pytest.approx(3 / 5)
    assert found.moved == pytest.approx(2 / 5)
    assert found.wrong == ["delay rises", "utilisation rises"]
    assert found.by_step["p95_queueing_delay_ms"] == {
        "throughput-balanced": 0.8, "balanced-latency": 1.0, "throughput-latency": 1.0,
    }  # fmt: skip
    assert found.by_step["utilisation"]["balanced-latency"] == 0.8


def test_the_way_round_matters():
    inverted = steering({"a": presets((0.7, 30), (0.8, 60), (0.9, 100))})
    assert (inverted.right, inverted.moved) == (0, 0)


def test_two_small_steps_in_the_wrong_direction_are_ties_each():
    # Each is within the tolerance; together they are not, but the steps decide.
    found = steering({"a": presets((0.8, 50), (0.8015, 50), (0.803, 50))})
    assert found.right == 1
    assert found.by_step["utilisation"]["throughput-latency"] == 0


def test_scenarios_that_lack_a_value_are_left_out():
    values = {"whole": presets((0.9, 100), (0.8, 60), (0.7, 30)), "part": presets((0.9, None), (0.8, 60), (0.7, 30))}
    values["without latency"] = {name: values["whole"][name] for name in ORDER[:2]}
    assert steering(values).scenarios == 1
    assert steering({}).right is None


def test_every_preset_is_listed_those_that_steer_first() -> None:
    assert LISTED[: len(ORDER)] == ORDER
    assert sorted(LISTED) == sorted(PRESETS)
