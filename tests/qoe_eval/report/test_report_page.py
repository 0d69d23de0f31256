"""The report in a real browser, on a phone and on a desktop."""

import shutil

import pytest

from weir.qoe_eval.measures.summary import summarise
from weir.qoe_eval.report.replay_page import render_report
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.replay import replay
from weir.qoe_eval.runs.store import RunStore

CHROMIUM = "/usr/bin/chromium"
pytestmark = pytest.mark.skipif(shutil.which(CHROMIUM) is None, reason=f"{CHROMIUM} is not installed")


@pytest.fixture
def open_report(chromium, fake_simulator, scenarios, tmp_path):
    """open_report(width): the page of a small replay, drawn without any error."""
    plan = ReplayPlan(scenarios, ["weir", "gcc", "rule", "oracle"], (0.4, 0.5, 0.1), [1], None, fake_simulator)
    outcome = replay(plan, tmp_path, 2)
    summary = summarise(outcome.records, {"objective": [0.4, 0.5, 0.1]})
    path = tmp_path / "report.html"
    path.write_text(render_report(RunStore(tmp_path), outcome.records, summary), encoding="utf-8")
    wrong = []

    def open_one(width):
        page = chromium.new_context(viewport={"width": width, "height": 844}).new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("#series .main-svg")
        return page

    yield open_one
    assert wrong == []


def names_in_chart(page, chart):
    boxes = page.eval_on_selector_all(
        f"#{chart} .textpoint text",
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.x, b.y, b.right, b.bottom])",
    )
    return [tuple(box) for box in boxes]


def test_on_a_phone_nothing_is_cut_without_a_hint(open_report):
    page = open_report(390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    table = page.locator("#headline > .scroll")
    assert "cut" in table.get_attribute("class")
    assert "Scroll sideways" in table.evaluate("e => getComputedStyle(e, '::before').content")
    table.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    page.wait_for_function("!document.querySelector('#headline > .scroll').classList.contains('cut')")
    # Names are in the legend: there is no room for them beside the marks.
    assert names_in_chart(page, "scatter") == names_in_chart(page, "viewer-scatter") == []
    assert {"weir", "gcc", "rule", "oracle"} <= set(page.locator("#viewer-scatter .legendtext").all_text_contents())


def test_on_a_desktop_no_name_covers_another(open_report):
    page = open_report(1200)
    assert page.locator("#headline > .scroll.cut").count() == 0
    for chart in ("scatter", "viewer-scatter"):
        boxes = names_in_chart(page, chart)
        assert len(boxes) == 4
        for index, (x, y, right, bottom) in enumerate(boxes):
            for other_x, other_y, other_right, other_bottom in boxes[index + 1 :]:
                assert right <= other_x or other_right <= x or bottom <= other_y or other_bottom <= y
