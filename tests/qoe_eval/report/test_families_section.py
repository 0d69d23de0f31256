"""The sections of families name the controllers that weir is compared with."""

import pytest
from html_page import check

from weir_eval.records.comparisons import FamilyRow
from weir_eval.report.page_template import render_page
from weir_eval.report.sections.scenarios import families


@pytest.mark.parametrize(
    ("others", "heading", "rivals"),
    [
        (["gcc"], "To gcc", "gcc"),
        (["gcc", "scream"], "To better of gcc, scream", "the better of gcc and scream"),
    ],
)
def test_a_controller_that_was_not_run_is_not_named(others, heading, rivals):
    row = FamilyRow(
        name="route",
        media="video",
        description="",
        scenarios=1,
        scores=dict.fromkeys(["weir", *others], 90.0),
        better="gcc",
        against_better=None,
        against_rule=None,
        worst_score=None,
        worst_utilisation=None,
    )
    (section,) = families([row], "weir", "", has_own_sections=False)
    text = " ".join(" ".join(check(render_page("", [], [section])).text).split())
    assert f" {heading} difference " in text
    assert f"against {rivals} and against rule;" in text
