from weir.qoe_eval.records import PairedRow
from weir.qoe_eval.report.goal_table import Bound, Row, measured, missed, not_measured, reached_text, rows_document
from weir.qoe_eval.report.text import paired_sentences, sample_text, too_few_text


def row(other, metric, mean, ci95, wins=21, independent=26, n=130):
    return PairedRow(
        a="weir", b=other, metric=metric, mean=mean, ci95=ci95, wins=wins, losses=0, independent=independent, n=n
    )


def test_a_paired_difference_in_words():
    paired = [
        row("gcc", "challenge", 6.64, [4.5, 9.8], wins=24),
        row("gcc", "utility", 9.41, [6.1, 14.5]),
        row("gcc", "loss_ratio", -0.1, [-0.2, 0.0]),
        row("rule", "challenge", -0.5, [None, None], wins=1, independent=3, n=8),
        row("oracle", "loss_ratio", 0.1, [0.0, 0.2]),
    ]
    found = paired_sentences(paired)
    assert list(found) == ["gcc", "rule"]
    assert str(found["gcc"]) == (
        "weir - gcc: utility +9.4 [+6.1, +14.5], challenge +6.6 [+4.5, +9.8]; "
        "more utility in 21 of 26 independent scenarios, 5 seeds each"
    )
    assert str(found["rule"]) == (
        "weir - rule: challenge -0.5 (too few scenarios for an interval (3)); "
        "more challenge in 1 of 3 independent scenarios, 8 runs"
    )
    assert paired_sentences([]) == {}


def test_words_for_the_sample():
    assert too_few_text(5) == "too few scenarios for an interval (5)"
    assert sample_text(26, 130) == "26 independent scenarios, 5 seeds each"
    assert sample_text(1, 5) == "1 independent scenario, 5 seeds"
    assert sample_text(3, 8) == "3 independent scenarios, 8 runs"


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
