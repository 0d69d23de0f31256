"""Formulas against values worked out by hand."""

import math

import pytest
from hand_made import measured_flow, run_record

from weir_cli.errors import InputError
from weir_eval.measures.metrics import challenge_parts, run_metrics, utility, watchable
from weir_eval.measures.table import MEASURES

SAMPLES = 100  # 10 s


def flow(**changes):
    series = {
        "target_bps": [900e3] * SAMPLES,
        "send_rate_bps": [900e3] * SAMPLES,
        "receive_rate_bps": [900e3] * SAMPLES,
        "one_way_delay_mean_ms": [40.0] * SAMPLES,
        "one_way_delay_p95_ms": [45.0] * SAMPLES,
        "packets_lost": [0] * SAMPLES,
    } | changes.pop("series", {})
    return measured_flow(series=series, **changes)


def record(*flows, capacity=(1e6,) * SAMPLES, **fields):
    series = {"interval_s": 0.1, "capacity_bps": list(capacity), "queueing_delay_ms": [0.0] * SAMPLES}
    return run_record({"flows": list(flows) or [flow()], "series": series} | fields)


def measures(*flows, **options):
    return run_metrics(record(*flows, **options)).run


def test_challenge_is_the_weighted_mean_of_its_parts():
    run = measures()
    assert run["challenge_delay"] == pytest.approx(80.0)  # 100 (400 - 100) / (400 - 25)
    assert run["challenge_rate"] == pytest.approx(90.0)
    assert run["challenge_loss"] == pytest.approx(98.0)
    assert run["challenge"] == pytest.approx((0.2 * 80 + 0.2 * 90 + 0.3 * 98) / 0.7)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((100, 0, 25.0, 25.0, 1.0, 1.0), (100, 100, 100)),
        ((100, 100, 900.0, 25.0, 0.0, 1.0), (0, 0, 0)),
        ((100, 0, 25.0, 25.0, 2.0, 1.0), (100, 100, 100)),  # more than achievable (rounding) counts as all
        ((100, 50, None, 25.0, 0.0, 1.0), (0, 0, 50)),  # nothing arrived
        ((100, 0, 450.0, 420.0, 1.0, 1.0), (0, 100, 100)),  # a path of more than 400 ms
        ((0, 0, None, 25.0, 0.0, 0.0), (None, None, None)),
    ],
)
def test_challenge_parts_at_their_ends(arguments, expected):
    assert challenge_parts(*arguments) == expected


def test_delay_loss_and_rate_measures():
    run = measures()
    assert run["p95_queueing_delay_ms"] == pytest.approx(75.0)
    assert run["max_queueing_delay_ms"] == pytest.approx(125.0)
    assert run["loss_ratio"] == pytest.approx(0.02)
    assert run["utilisation"] == pytest.approx(0.9)
    assert run["receive_rate_bps"] == pytest.approx(900e3)
    assert run["seconds_above_400_ms"] == pytest.approx(0.5)


def test_recoco_on_200_ms_steps():
    # Steps alternate between 50 % and 100 % utilisation, 3 to 2, so the median is 0.5. Delays: 45 steps of 20 ms and
    # 5 of 120 ms; their 95th percentile is 120 ms, which is also the largest: the delay term is 0.
    pattern = [500e3] * 6 + [1000e3] * 4
    delays = [20.0] * 90 + [120.0] * 10
    run = measures(flow(series={"receive_rate_bps": pattern * 10, "one_way_delay_mean_ms": delays}, packets_lost=0))
    assert run["recoco"] == pytest.approx(0.333 * (50 + 0 + 100))


def test_recoco_delay_term_uses_the_runs_own_extremes():
    # 50 steps: 1 of 20 ms, 48 of 60 ms, 1 of 120 ms: 100 (120 - 60) / (120 - 20).
    delays = [20.0] * 2 + [60.0] * 96 + [120.0] * 2
    run = measures(flow(series={"one_way_delay_mean_ms": delays}))
    assert run["recoco"] == pytest.approx(0.333 * (90 + 60 + 100))


def test_recoco_loss_term_is_the_mean_of_the_steps():
    # 900 kbps in packets of 1125 bytes: 20 packets a step of 200 ms. 20 lost in every second step: loss 0.5 and 0.
    lost = ([10] * 2 + [0] * 2) * 25
    run = measures(flow(packets_received=1000, series={"packets_lost": lost}))
    assert run["recoco"] == pytest.approx(0.333 * (90 + 100 + 75))


def test_recoco_delay_of_a_step_weighs_packets():
    # A step of 9 parts at 20 ms and 1 part at 120 ms has a mean delay of 30 ms, the others of 20 ms and one of 120 ms.
    rates = [900e3, 100e3] + [500e3] * 98
    delays = [20.0, 120.0] + [20.0] * 96 + [120.0] * 2
    run = measures(flow(series={"receive_rate_bps": rates, "one_way_delay_mean_ms": delays}))
    percentile = 20.0  # 48 steps of 20, one of 30, one of 120: rank 0.95 x 49 = 46.55 lies among the 20s
    assert run["recoco"] == pytest.approx(0.333 * (50 + 100 * (120 - percentile) / 100 + 100))


def test_recoco_leaves_out_what_has_no_value():
    capacity = [0.0] * 50 + [1e6] * 50
    rates = [0.0] * 50 + [800e3] * 50
    delays = [None] * 50 + [40.0] * 50
    changed = flow(series={"receive_rate_bps": rates, "one_way_delay_mean_ms": delays})
    assert measures(changed, capacity=capacity)["recoco"] == pytest.approx(0.333 * (80 + 100 + 100))
    assert measures(changed, capacity=())["recoco"] is None  # unlimited


def test_oscillation_is_the_mean_step_between_seconds_over_the_mean():
    assert measures()["oscillation"] == 0
    target = ([500e3] * 10 + [1500e3] * 10) * 5
    assert measures(flow(series={"target_bps": target}))["oscillation"] == pytest.approx(1.0)


def test_jain_index_over_the_common_time():
    # While both are active the rates are 750 and 250 kbps: (1000)^2 / (2 (750^2 + 250^2)) = 0.8.
    first = flow(series={"receive_rate_bps": [1000e3] * 50 + [750e3] * 50})
    second = flow(id="second", start_s=5.0, series={"receive_rate_bps": [0.0] * 50 + [250e3] * 50})
    assert measures(first, second)["jain_index"] == pytest.approx(0.8)
    assert measures()["jain_index"] is None


def test_tcp_share_over_the_common_time():
    tcp = flow(
        id="tcp", kind="tcp", controller=None, start_s=5.0,
        series={"target_bps": None, "receive_rate_bps": [0.0] * 50 + [300e3] * 50},
    )  # fmt: skip
    assert measures(flow(), tcp)["tcp_share"] == pytest.approx(0.25)
    assert measures()["tcp_share"] is None


def test_several_flows_under_test_are_averaged_and_carry_together():
    second = flow(id="second", bytes_received=112_500, one_way_delay_ms={"p95": 200.0, "max": 500.0})
    result = run_metrics(record(flow(), second))
    assert set(result.flows) == {"media", "second"}
    assert result.run["p95_queueing_delay_ms"] == pytest.approx((75 + 175) / 2)
    assert result.run["max_queueing_delay_ms"] == pytest.approx(475)
    # 1.2375 MB of the 1.25 MB that the path carries in 10 s, not of twice that.
    assert result.run["utilisation"] == pytest.approx(0.99)


def test_only_flows_under_test_count():
    other = flow(id="other", packets_lost=500)
    assert run_metrics(record(flow(), other), ["media"]).run["loss_ratio"] == pytest.approx(0.02)
    named = flow(id="named", controller="rule", packets_lost=500)
    assert measures(flow(), named)["loss_ratio"] == pytest.approx(0.02)


def test_guard_and_fallback_per_decision():
    guarded = flow(
        guard={"finite": 0, "bounds": 3, "slew": 1, "stale": 1},
        estimator={"decisions": 100, "faults": 2, "fallback_decisions": 10},
    )
    assert measures(guarded)["guard_interventions"] == pytest.approx(0.05)
    assert measures(guarded)["fallback_ratio"] == pytest.approx(0.1)
    assert measures()["guard_interventions"] is None


def test_nothing_arrived():
    silent = flow(
        packets_received=0, bytes_received=0, one_way_delay_ms=None, packets_lost=1000,
        series={"receive_rate_bps": [0.0] * SAMPLES, "one_way_delay_mean_ms": [None] * SAMPLES},
    )  # fmt: skip
    run = measures(silent)
    assert run["challenge"] == 0
    assert run["loss_ratio"] == 1
    assert run["p95_queueing_delay_ms"] is None
    assert run["recoco"] is None


@pytest.mark.parametrize("without", ["series", "achievable", "packets"])
def test_every_value_is_finite_or_none(without):
    poor = flow()
    if without == "series":
        poor["series"] = None
    if without == "achievable":
        poor["achievable_bytes"] = 0
    if without == "packets":
        poor |= {
            "packets_sent": 0,
            "packets_received": 0,
            "bytes_received": 0,
            "one_way_delay_ms": None,
            "packets_lost": 0,
        }
    run = measures(poor)
    assert set(run) == set(MEASURES.of("replay"))
    assert all(value is None or math.isfinite(value) for value in run.values())


def test_series_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="different lengths"):
        run_metrics(record(capacity=[1e6] * (SAMPLES - 1)))


def test_utility_is_the_objectives_weights_times_the_parts():
    parts = measures()
    by_hand = {"rate": 90.0, "delay": 100 * 300 / 375, "loss": 98.0}
    assert {part: parts[f"challenge_{part}"] for part in by_hand} == pytest.approx(by_hand)
    for weights in ((0.4, 0.5, 0.1), (0.1, 0.8, 0.1), (0.8, 0.1, 0.1)):
        found = run_metrics(record(objective=weights)).run
        expected = sum(weight * by_hand[part] for weight, part in zip(weights, ("rate", "delay", "loss"), strict=True))
        assert found["utility"] == pytest.approx(expected)
        assert found["challenge"] == pytest.approx(parts["challenge"])
    assert measures()["utility"] is None  # a record that does not say its objective


def test_an_objective_may_turn_the_order_of_two_runs():
    fast = flow()
    quick = flow(bytes_received=800_000, one_way_delay_ms=dict(flow()["one_way_delay_ms"], p95=30.0))

    def leads(objective):
        first, second = (run_metrics(record(f, objective=objective)).run["utility"] for f in (fast, quick))
        return "fast" if first > second else "quick"

    assert leads([0.8, 0.1, 0.1]) == "fast"
    assert leads([0.1, 0.8, 0.1]) == "quick"


def test_a_call_that_nobody_can_watch_is_worth_nothing():
    def useful(rate_bps, capacity_bps=1e6, p95_ms=25.0, lost=0):
        delays = dict(flow()["one_way_delay_ms"], p95=p95_ms)
        some = flow(bytes_received=round(rate_bps * 10 / 8), achievable_bytes=capacity_bps * 10 / 8, packets_lost=lost,
                    one_way_delay_ms=delays)  # fmt: skip
        return run_metrics(record(some, objective=[0.4, 0.5, 0.1])).run["utility"]

    at_minimum, at_maximum = useful(30e3), useful(1e6, p95_ms=400.0, lost=300)
    assert at_minimum == 0
    assert at_maximum == pytest.approx(40 + 7)
    assert useful(67e3) == pytest.approx(0.5 * (0.4 * 6.7 + 60), rel=0.01)
    # From 150 kbps on, or where the path has no more, the weighted parts alone count.
    assert useful(150e3) == pytest.approx(0.4 * 15 + 60)
    assert useful(100e3, capacity_bps=100e3) == pytest.approx(100)
    assert useful(50e3, capacity_bps=100e3) == pytest.approx((1 - math.log(2) / math.log(5)) * 80)
    assert watchable(0.0, 0.0) == 0


def test_a_bucket_of_a_policer_is_no_utilisation_beyond_the_path():
    full = flow(bytes_received=195 * 1_250_000)
    assert measures(full)["utilisation"] == 1
    assert measures(full, flow(id="second"))["utilisation"] == 1


def test_a_call_that_shows_nothing_is_worth_nothing():
    parts = {"challenge_rate": 100.0, "challenge_delay": 100.0, "challenge_loss": 100.0, "receive_rate_bps": 1e6}
    worth = [utility((0.4, 0.4, 0.2), parts | {"frozen_share": share}) for share in (None, 0.0, 0.5, 0.75, 1.0)]
    assert worth == pytest.approx([100, 100, 100, 50, 0])
