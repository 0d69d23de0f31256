"""The pair of controllers that charts of a set show."""

from hand_made import run_record
from hand_made_results import results

from weir_suites.aggregations import WORST
from weir_suites.comparison import Comparison
from weir_suites.missed_goal import missed_pair
from weir_suites.suite import Goal, at_least

QUALITIES = {"weir": (90, 90), "weir-send": (80, 60), "gcc": (70, 50), "scream": (75, 85)}


def goal(controller, sets="video"):
    comparison = Comparison(sets, "call_quality", WORST, controller, ("gcc", "scream"))
    return Goal(f"worst_{controller}", f"{controller}, worst scenario", comparison, at_least(0.0))


def test_the_pair_is_the_controller_that_missed_the_goal_and_the_one_ahead_of_it():
    records = [
        run_record(controller=name, scenario=scenario, seed=1, measures={"call_quality": float(value)})
        for name, values in QUALITIES.items()
        for scenario, value in zip("ab", values, strict=True)
    ]
    found = results({"video": records})
    goals = [goal("weir"), goal("weir-send")]
    rows = [one.row(found) for one in goals]
    assert [row.reached for row in rows] == [True, False]
    pair = missed_pair(goals, rows, found, "video")
    assert pair == ("weir-send", "scream", "weir-send, worst scenario", {"a": 5.0, "b": -25.0})
    # Neither a reached goal nor one about another set has charts.
    assert missed_pair(goals[:1], rows[:1], found, "video") is None
    assert missed_pair([goal("weir-send", "other")], rows[1:], found, "video") is None
