from weir.qoe_eval.report.goal_table import Bound, Row, measured, missed, not_measured, reached_text, rows_document


def test_bounds_and_verdicts():
    bound = Bound("at least", 0.6, "%", scale=100, decimals=0)
    assert (str(bound), bound.met(0.6), bound.met(0.59)) == ("at least 60 %", True, False)
    strict = Bound("at most", 0.0, strict=True, signed=True)
    assert (str(strict), strict.met(0.0), strict.met(-0.1)) == ("below 0.00", False, True)
    assert strict.show(1.5) == "+1.50"
    assert measured("n", "w", bound, 0.7).verdict == "yes"
    assert missed("n", "w", bound, "never").verdict == "no"
    assert not_measured("n", "w", bound, "no traces").verdict == "not measured: no traces"


def test_figures_without_a_bound_are_reported_and_not_counted():
    bound = Bound("at least", 0.6)
    rows = [measured("a", "w", bound, 0.7), not_measured("b", "w", bound, "why"), Row("c", "w", None, 0.1, "0.1")]
    assert reached_text(rows) == "1 of 1 goals reached, 1 not decided."
    document = rows_document("s", rows, {})
    assert (document["reached"], document["decided"], document["rows"][2]["goal"]) == (1, 1, None)
    assert (rows[2].bound, rows[2].verdict) == ("", "")
