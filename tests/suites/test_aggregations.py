"""Named aggregations on rows made by hand."""

import pytest

from weir_eval.report.goal_table import Bound
from weir_suites.aggregations import (
    GEOMETRIC_MEAN,
    LOW_END,
    MEAN,
    MEDIAN,
    PART_LOST,
    RATIO_OF_MEANS,
    WORST,
    quantile,
    share_where,
)
from weir_suites.rows import Place, Row, Rows

AT_LEAST, AT_MOST = Bound("at least", 0.0), Bound("at most", 0.0)


def rows(*pairs, unit="scenario"):
    """Rows of differences between values and others, on the paths a, b, and so on."""
    found = [
        Row(Place("set", path, 0), value, other, value - other)
        for path, (value, other) in zip("abcdef", pairs, strict=False)
    ]
    return Rows(found, {row.place.label: row.compared for row in found}, "challenge", unit)


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [
        (MEAN, 2.0),
        (MEDIAN, 1.0),
        (RATIO_OF_MEANS, 15 / 9),
        (PART_LOST, 1 - 15 / 9),
        (quantile(1.0), 4.0),
        (share_where(lambda gain: gain > 1), 1 / 3),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_an_aggregation_of_three_rows(aggregation, value):
    assert aggregation.value(rows((5, 1), (5, 4), (5, 4)), AT_LEAST) == pytest.approx(value)


def test_the_geometric_mean_of_ratios():
    ratios = Rows([], {"a": 2.0, "b": 8.0}, "challenge", "scenario")
    assert GEOMETRIC_MEAN.value(ratios, AT_MOST) == pytest.approx(4.0)


def test_the_worst_row_depends_on_the_bound_and_is_named():
    found = rows((5, 1), (3, 4))
    assert (WORST.value(found, AT_LEAST), WORST.value(found, AT_MOST)) == (-1, 4)
    assert WORST.evidence(found, AT_LEAST) == "1 miss it: b -1.00"
    assert WORST.evidence(found, Bound("at least", -1.0)) == "all reach it"


def test_ratios_to_nothing_have_no_value():
    assert RATIO_OF_MEANS.value(rows((5, 0)), AT_LEAST) is None
    assert PART_LOST.value(rows((5, 0)), AT_LEAST) is None


def test_the_low_end_needs_six_paths_and_has_the_mean_among_its_figures():
    pairs = [(gain, 0) for gain in (3, 1, 2, 4, 2.5, 3.5)]
    assert 0 < LOW_END.value(rows(*pairs), AT_LEAST) < 8 / 3
    assert LOW_END.value(rows(*pairs[:5]), AT_LEAST) is None
    assert [(further.name, further.value(rows(*pairs), AT_LEAST)) for further in LOW_END.figures] == [
        ("mean", pytest.approx(8 / 3))
    ]


def test_the_evidence_of_a_mean_is_its_interval_over_paths_or_without_pairs_the_lowest_row():
    pairs = [(gain, 0) for gain in (3, 1, 2, 4, 2.5, 3.5)]
    assert MEAN.evidence(rows(*pairs), AT_LEAST).startswith("95 % interval of the difference over 6 paths from ")
    assert MEAN.evidence(rows(*pairs[:2]), AT_LEAST) == ""
    assert MEAN.evidence(rows(*pairs[:2], unit="set"), AT_LEAST) == "lowest b 1"
