"""Goals on scores against records made by hand."""

from types import SimpleNamespace

import pytest
from hand_made import record
from hand_made_results import results, row, scenario

from weir_suites.front_charts import front_section
from weir_suites.runner import Evaluated


def scored(scores):
    """Records from controller -> scenario -> scores by seed."""
    return [
        record(scenario, controller, seed, challenge=value)
        for controller, by_scenario in scores.items()
        for scenario, values in by_scenario.items()
        for seed, value in enumerate(values, start=1)
    ]


def test_one_link_below_gcc_is_enough():
    found = scored({"weir": {"a": (92, 90), "b": (90, 90)}, "gcc": {"a": (90, 91), "b": (88, 93)}})
    worst = row("steady_worst", results({"steady, filler": found}))
    assert (worst.value, worst.reached) == (pytest.approx(-0.5), False)
    assert worst.detail == "weir 90.5, gcc 90.5; 2 scenarios; 1 miss it: b -0.50"
    assert worst.figures == {"weir": 90.5, "gcc": 90.5, "n": 2}
    even = scored({"weir": {"a": (90, 90)}, "gcc": {"a": (90, 90)}})
    assert row("steady_worst", results({"steady, filler": even})).reached


def test_the_interval_decides_against_the_rule():
    rule = dict.fromkeys("abcdef", (80.0,))
    ahead = {name: (80.0 + gain,) for name, gain in zip("abcdef", (3, 1, 2, 4, 2.5, 3.5), strict=True)}

    def low(weir):
        return row("rule_low_steady", results({"steady, filler": scored({"weir": weir, "rule": rule, "gcc": rule})}))

    assert 0 < low(ahead).value < 2.67
    assert low(ahead).reached
    assert low(ahead | {"a": (70.0,)}).reached is False
    few = low({name: scores for name, scores in ahead.items() if name < "d"})
    assert few.verdict == "not measured: too few scenarios for an interval (3)"


def test_a_gain_over_several_sets_is_undecided_while_one_is_missing():
    found = results({"steady, filler": scored({"weir": {"a": (90,)}, "rule": {"a": (80,)}, "gcc": {"a": (80,)}})})
    gain = row("rule_gain", found)
    assert (gain.value, gain.reached) == (10, None)
    assert gain.verdict.startswith("not decided: the set mahimahi was not chosen; ")


def test_a_missing_rival_is_named():
    found = results({"bundled": scored({"weir": {"a": (90,)}, "gcc": {"b": (80,)}})})
    assert found.why_absent(["bundled"], "weir", ["scream"]) == "no run of scream on bundled"
    assert found.why_absent(["bundled"], "weir", ["gcc"]) == "no pair of weir and gcc on bundled completed"


def test_slow_decisions_are_compared_with_the_same_scenarios():
    def ran(*found):
        return [record(name, "weir", challenge=score, flow={"bytes_received": count}) for name, score, count in found]

    slow = results(
        {
            "slow decisions, 0 ms": ran(("a", 80, 1000), ("b", 90, 3000)),
            "slow decisions, 50 ms": ran(("a", 79, 900), ("b", 90.2, 3060)),
        }
    )
    score, lost = row("slow_50_score", slow), row("slow_50_bytes", slow)
    assert (score.value, score.reached) == (pytest.approx(-0.4), True)
    assert (lost.value, lost.reached) == (pytest.approx(0.01), False)
    assert row("slow_100_score", slow).verdict.startswith("not measured: ")
    assert row("slow_25_bytes", slow).verdict.startswith("not measured: ")


def test_distance_closed():
    scores = {
        "weir": {"a": (80,), "b": (94,), "incomplete": (0,)}, "gcc": {"a": (70,), "b": (95,), "incomplete": (95,)},
        "oracle": {"a": (90,), "b": (100,)},
    }  # fmt: skip
    closed = row("random_closed", results({"random, filler": scored(scores)}))
    assert closed.value == pytest.approx((10 - 1) / (20 + 5))
    no_gap = results({"random, filler": scored({name: {"a": (70,)} for name in ("weir", "gcc", "oracle")})})
    assert row("random_closed", no_gap).verdict == "not measured: the oracle is not ahead of gcc here"


def test_a_preset_is_judged_by_its_own_weights():
    def run(delay, rate):
        parts = {"challenge_delay": delay, "challenge_rate": rate, "challenge_loss": 100.0, "receive_rate_bps": 1e6}
        return [record("a", "weir", utility=1.0, **parts)]

    found = results({
        "catalogue": run(80.0, 80.0), "video, throughput": run(50.0, 95.0), "video, latency": run(95.0, 70.0),
    })  # fmt: skip
    # latency is <0.1, 0.8, 0.1>, balanced <0.5, 0.4, 0.1>.
    own = row("own_utility_latency", found)
    assert (own.value, own.reached) == (pytest.approx(0.8 * 15 - 0.1 * 10), True)
    # Under balanced weights, latency is the better preset here.
    balanced = row("own_utility_balanced", found)
    assert (balanced.value, balanced.reached) == (pytest.approx(0.5 * 10 - 0.4 * 15), False)
    assert row("own_utility_latency", results({})).verdict.startswith("not measured: no run under the presets")


def test_wins_ties_and_losses():
    found = scored({"weir": {"a": (91,), "b": (90.01,), "c": (80,)}, "gcc": {"a": (90,), "b": (90,), "c": (90,)}})
    wins = row("random_wins", results({"random, filler": found}))
    assert wins.value == pytest.approx(2 / 3)
    assert wins.detail == "weir 87.0, gcc 90.0; 3 scenarios; lowest c -10"


def test_the_longest_delays_are_of_the_first_seed_and_of_pairs():
    def delayed(scenario, controller, p95_ms, used, seed=1):
        return record(scenario, controller, seed, flow={"one_way_delay_ms": {"p95": p95_ms}}, utilisation=used)

    found = [
        delayed("a", "weir", 100, 0.9), delayed("a", "gcc", 100, 0.9), delayed("b", "weir", 300, 0.9),
        delayed("b", "gcc", 100, 0.2), delayed("b", "gcc", 1, 0.2, seed=2), delayed("c", "weir", 1, 0.9),
    ]  # fmt: skip
    tail = row("random_worst_delay", results({"random, filler": found[:2], "more random, filler": found[2:]}))
    assert tail.value == pytest.approx(2.98)
    assert tail.detail == "weir 200, gcc 100; utilisation: weir 90.0, gcc 55.0; 2 scenarios; lowest a 1"
    assert (tail.figures["a"], tail.figures["b"]) == (1.0, 3.0)


@pytest.mark.parametrize(("at_sender", "reached"), [(89.0, True), (88.9, False), (95.0, True)])
def test_the_sender_is_within_a_point_of_the_receiver(at_sender, reached):
    scores = {"weir": 90.0, "gcc": 80.0, "weir-send": at_sender}
    found = scored({name: {f"s{i}": (score + i,) for i in range(8)} for name, score in scores.items()})
    gain = row("random_at_sender", results({"random": found}))
    assert (gain.value, gain.reached) == (pytest.approx(at_sender - 90), reached)
    assert {name: gain.figures[name] for name in scores} == {name: score + 3.5 for name, score in scores.items()}
    without_receiver = [one for one in found if one.controller != "weir"]
    assert row("random_at_sender", results({"random": without_receiver})).reached is None


def test_tcp_is_left_out_of_the_utilisation_goal():
    found = results({"tcp": [
        record("tcp-bbr-stays-1M-video", "weir", utilisation=0.1, challenge=80.0),
        record("tcp-bbr-stays-1M-video", "gcc", utilisation=0.9, challenge=82.0),
        record("tcp-bbr-stays-1M-video", "scream", utilisation=0.9, challenge=81.0),
    ]})  # fmt: skip
    assert row("scenarios_utilisation", found).reached is None
    assert row("scenarios_better", found).value == pytest.approx(-2)
    assert row("families_better", found).reached is False
    assert row("families_better_filler", found).reached is None


def test_a_link_that_is_called_like_a_family_is_none():
    found = results({"start, filler": [record("start-5M", name, challenge=90.0) for name in ("weir", "gcc", "scream")]})
    assert Evaluated(None, found, [], [], [], {}).families == []


def test_nothing_is_better_than_both_while_one_of_them_did_not_run():
    found = results({"route": [record("route-plus5-1M-video", name, challenge=90.0) for name in ("weir", "gcc")]})
    for name, value, verdict in (
        ("families_better", None, "not measured"), ("scenarios_better", 0, "not decided")
    ):  # fmt: skip
        assert (row(name, found).value, row(name, found).verdict) == (value, f"{verdict}: no run of scream on route")


@pytest.mark.parametrize(("scream", "closed"), [(75.0, 0.5), (60.0, 0.6)])
def test_the_distance_is_from_the_better_of_both(scream, closed):
    scores = {"weir": 85.0, "gcc": 70.0, "scream": scream, "oracle": 95.0}
    found = results({"random": scored({name: {"a": (score,)} for name, score in scores.items()})})
    assert row("random_video_closed", found).value == pytest.approx(closed)


@pytest.mark.parametrize(("goal", "measure", "worse"), [("utility", "utility", 7.9), ("viewer", "viewer_quality", 3.9)])
def test_the_viewer_of_bundled_scenarios_with_video(goal, measure, worse):
    def value(gain):
        return row(
            f"catalogue_{goal}_scream",
            results(
                {"catalogue": [record("a", "weir", **{measure: 50.0 + gain}), record("a", "scream", **{measure: 50.0})]}
            ),
        ).reached

    assert (value(worse), value(worse + 0.2)) == (False, True)


def test_other_repair_is_compared_with_gcc_on_the_same_links():
    def ran(controller, *rates):
        flow = {"id": "competitor", "kind": "tcp", "direction": "forward"}
        return [
            record(name, controller, flow=flow | {"bytes_received": round(rate * 60 / 8)})
            for name, rate in zip("ab", rates, strict=True)
        ]

    usual = ran("weir", 1e6, 2e6) + ran("gcc", 1e6, 4e6)
    sets = {
        "shared queues": SimpleNamespace(missing="", scenarios=[scenario("a", "bbr, 1 %"), scenario("b", "bbr, 1 %")])
    }
    sets["shared queues, FEC never"] = sets["shared queues"]
    found = results({"shared queues": usual, "shared queues, FEC never": ran("weir", 0.9e6, 3e6)}, sets=sets)
    assert row("shared_queues", found).value == pytest.approx(0.75)
    never = row("shared_queues_FEC_never", found)
    assert (never.value, never.reached) == (pytest.approx(0.825), True)
    worst = row("shared_queues_FEC_never_worst", found)
    assert (worst.value, worst.reached) == (pytest.approx(0.75), False)
    assert worst.detail.endswith("1 miss it: b 0.75 times")
    alone = results({"shared queues, FEC never": ran("weir", 1e6, 1e6)}, sets=sets)
    assert row("shared_queues_FEC_never", alone).verdict == "not measured: no run of gcc on shared queues"


def test_an_objective_dominates_with_a_higher_rate_and_a_lower_delay():
    def ran(controller, **points):
        return [
            record(name, controller, flow={"bytes_received": kbps * 7500}, p95_queueing_delay_ms=float(delay))
            for name, (kbps, delay) in points.items()
        ]

    found = results({
        # Five scenarios: better with one objective, with the other, with both, with a tie, with neither.
        "random": ran("weir", a=(1100, 90), b=(1200, 150), c=(1100, 90), d=(1000, 90), e=(1100, 101))
        + ran("gcc", a=(1000, 100), b=(1000, 100), c=(1000, 100), d=(1000, 100), e=(1000, 100)),
        **{
            f"random, <{objective}>": ran("weir", a=(900, 50), b=(1050, 99), c=(1001, 50), d=(900, 50), e=(999, 99))
            for objective in ("throughput", "latency", "0.3,0.6,0.1", "0.05,0.9,0.05")
        },
    })  # fmt: skip
    front = row("front_random_weir_gcc", found)
    assert (front.value, front.reached) == (pytest.approx(3 / 5), None)
    assert front.detail.startswith("5 scenarios; by one objective for all: balanced 40 %, throughput 40 %")
    assert "; gcc 1,000 kbps, 100 ms" in front.detail
    assert front.figures["balanced ms"] == pytest.approx((90 + 150 + 90 + 90 + 101) / 5)
    absent = row("front_random_weir_scream", found).verdict
    assert absent == "not measured: no run of scream on random"


def test_the_chart_of_a_front_has_a_line_of_weights_and_a_point_of_each_other_controller():
    def ran(controller, kbps, delay):
        return [record("a", controller, flow={"bytes_received": kbps * 7500}, p95_queueing_delay_ms=float(delay))]

    sets = {"balanced": ["random"], "latency": ["random, <latency>"]}
    found = results({
        "random": ran("weir", 1000, 90) + ran("gcc", 900, 120),
        "random, <latency>": ran("weir", 800, 50),
    })  # fmt: skip
    shown = front_section(found, places={"random": sets}, controllers=["weir"], others=["gcc"])
    _, figure = shown.blocks[1].cells[0]
    (line,) = figure.data["lines"]
    assert [(point["weights"], point["kbps"], point["ms"]) for point in line["points"]] == [
        ("latency", 800.0, 50.0),
        ("balanced", 1000.0, 90.0),
    ]
    assert figure.data["others"] == [{"controller": "gcc", "kbps": 900.0, "ms": 120.0}]
    assert front_section(found, places={"random": sets}, controllers=["weir-send"], others=["gcc"]) is None
