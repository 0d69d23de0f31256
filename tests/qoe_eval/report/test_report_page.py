"""The report in a real browser, on a phone and on a desktop."""

import pytest

from weir_eval.measures.summary import summarise
from weir_eval.records.summary import RunAbout
from weir_eval.report.replay_page import render_report
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore


@pytest.fixture
def open_report(chromium, fake_simulator, scenarios, tmp_path):
    """open_report(width): the page of a small replay, drawn without any error; `name` is then that of rule."""
    plan = ReplayPlan(scenarios, ["weir", "gcc", "rule", "oracle"], (0.4, 0.5, 0.1), [1], None, fake_simulator)
    records = complete_plans([plan], tmp_path, 2).records
    path = tmp_path / "report.html"
    wrong = []

    def open_one(width, name="rule", unfolded=True):
        named = [
            record if record.controller != "rule" else record.model_copy(update={"controller": name})
            for record in records
        ]
        summary = summarise(named, RunAbout(objective=(0.4, 0.5, 0.1)))
        path.write_text(render_report(RunStore(tmp_path), named, summary), encoding="utf-8")
        page = chromium.new_context(viewport={"width": width, "height": 844}).new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("#viewer-scatter .main-svg")
        if unfolded:
            page.evaluate("document.querySelectorAll('details.section').forEach((one) => { one.open = true; })")
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
    table = page.locator("#headline > details > .scroll")
    assert "cut" in table.get_attribute("class")
    assert "Scroll sideways" in table.evaluate("e => getComputedStyle(e, '::before').content")
    table.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    page.wait_for_function("!document.querySelector('#headline > details > .scroll').classList.contains('cut')")
    # Names are in the legend: there is no room for them beside the marks.
    assert names_in_chart(page, "scatter") == names_in_chart(page, "viewer-scatter") == []
    assert {"weir", "gcc", "rule", "oracle"} <= set(page.locator("#viewer-scatter .legendtext").all_text_contents())


def test_on_a_desktop_no_name_covers_another(open_report):
    page = open_report(1200)
    assert page.locator("#headline > details > .scroll.cut").count() == 0
    for chart in ("scatter", "viewer-scatter"):
        boxes = names_in_chart(page, chart)
        assert len(boxes) == 4
        for index, (x, y, right, bottom) in enumerate(boxes):
            for other_x, other_y, other_right, other_bottom in boxes[index + 1 :]:
                assert right <= other_x or other_right <= x or bottom <= other_y or other_bottom <= y


def test_better_is_up_and_to_the_right_and_the_defeat_is_shown_first(open_report):
    page = open_report(1280)
    for chart in ("scatter", "viewer-scatter"):
        left, right, bottom, top = page.evaluate(
            f"(({{xaxis, yaxis}}) => [...xaxis.range, ...yaxis.range])(document.getElementById('{chart}')._fullLayout)"
        )
        # Delays fall to the right, and quality and utilisation grow upwards.
        assert left > right
        assert bottom < top
    label = page.locator("#series-note")
    assert "here: Call quality" in label.text_content()
    page.locator("[data-step='1']").click()
    assert "here" not in label.text_content()


def test_the_axis_upwards_fits_the_points(open_report):
    """An axis from 0 crowds points that are all far above it."""
    page = open_report(1280)
    for chart in ("scatter", "viewer-scatter"):
        bottom, top, *values = page.evaluate(
            f"""(({{yaxis}}, traces) => [...yaxis.range, ...traces.flatMap((trace) => trace.y)])(
                document.getElementById('{chart}')._fullLayout, document.getElementById('{chart}').data)"""
        )
        assert bottom < min(values) <= max(values) < top
        assert top - bottom <= max(10.01, 1.25 * (max(values) - min(values)))


def test_on_a_phone_the_columns_that_decide_are_seen(open_report):
    page = open_report(390)
    for table, heads in {"headline": 3, "paired": 3, "worst": 2}.items():
        visible = page.locator(f"#{table} table:visible").first.locator("thead th:visible")
        last = visible.nth(heads - 1)
        assert last.evaluate("e => e.getBoundingClientRect().right") <= 390, last.text_content()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["n" * 5000, '<a href="https://elsewhere">here</a>', "%{x}<br><b>bold</b>"])
def test_a_name_can_neither_widen_the_page_nor_become_a_link(open_report, width, name):
    page = open_report(width, name)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("svg a, svg b").count() == 0
    assert page.locator("a[href*=elsewhere]").count() == 0
    # Nor a table: that of a phone is at most some screens wide.
    assert page.locator("#headline table").first.evaluate("e => e.scrollWidth") < 1300


def test_the_first_screen_is_verdict_chart_and_table(open_report):
    page = open_report(1280, unfolded=False)
    assert page.locator("section:has(> h2)").evaluate_all("all => all.map((one) => one.id)") == ["viewer"]
    places = [
        page.locator(name).first.evaluate("e => e.getBoundingClientRect().top")
        for name in (".verdict", "#viewer-scatter", "#viewer table")
    ]
    assert places == sorted(places)
    assert places[1] < 400
    assert places[2] < 900
    assert page.locator(".verdict").count() == 2
    # A line per pair, of which a measure that is worse makes a second one.
    assert page.locator(".verdict").evaluate_all("all => Math.max(...all.map((line) => line.clientHeight))") < 60
    assert page.evaluate("document.documentElement.scrollHeight") < 2200
    assert page.locator("#series .main-svg").count() == 0
    # A link opens its section, and draws what is in it as wide as the section.
    page.locator("nav a[href='#timeline'], nav a", has_text="Time series").first.click()
    page.wait_for_selector("#series .main-svg")
    assert page.locator("#series").evaluate("e => e.querySelector('.main-svg').getBoundingClientRect().width") > 900
