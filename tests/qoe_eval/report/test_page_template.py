"""HTML is in templates, which escape whatever they are given."""

import re

import pytest
from html_page import check, data_of

from weir_eval.measures.summary import summarise
from weir_eval.records.run_record import RunRecord
from weir_eval.records.summary import RunAbout
from weir_eval.report import page_blocks
from weir_eval.report.chart_rows import chart
from weir_eval.report.page_blocks import Section, Span, Text, cut, note
from weir_eval.report.page_table import Block, Cell, Row, Table
from weir_eval.report.page_template import render_page
from weir_eval.report.replay_page import render_report
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror='alert(1)'>\"&"
# One of each class, and how many texts of it a page shows.
BLOCKS = [
    (Text([HOSTILE, Span(HOSTILE), Span(HOSTILE, href=HOSTILE)]), 3),
    (note(f"{HOSTILE} **{HOSTILE}** `{HOSTILE}`"), 3),
    (page_blocks.Heading(HOSTILE), 1),
    (page_blocks.Bullets((HOSTILE, (HOSTILE, Span(HOSTILE)))), 3),
    (page_blocks.Entries(((HOSTILE, HOSTILE),)), 2),
    (Table((HOSTILE, Cell(HOSTILE, HOSTILE, title=HOSTILE)), (Row((HOSTILE, Cell(HOSTILE, kind=HOSTILE))),)), 5),
    (page_blocks.Choices(HOSTILE, HOSTILE, ((HOSTILE, Table((HOSTILE,), ())),)), 3),
    (page_blocks.Grid("pairs", ((Text(HOSTILE),),)), 1),
    (page_blocks.Folded(HOSTILE, (Text(HOSTILE),)), 2),
]


@pytest.mark.parametrize(("block", "number"), BLOCKS, ids=lambda block: type(block).__name__)
def test_contents_of_sections_are_escaped(block, number):
    page = render_page(HOSTILE, [Text(HOSTILE)], [Section(HOSTILE, HOSTILE, [block, None], HOSTILE), None])
    # Title, its heading, lead, link, the section's heading, and the block's: as text, each whole.
    assert "".join(check(page).text).count(HOSTILE) == 5 + number
    assert page.count("<script>alert(1)") == 0
    assert len(re.findall(r"<script\b", page)) == 3


def test_the_data_of_charts_is_escaped_wherever_they_are():
    charts = [chart(name, HOSTILE, 1.0, []) for name in ("first", "second", HOSTILE)]
    first, second, third = (page_blocks.Charts([chart]) for chart in charts)
    figure = page_blocks.Figure("front", {"points": [HOSTILE]})
    blocks = [page_blocks.Grid("pairs", [[first], [second]]), page_blocks.Folded("", [figure])]
    page = render_page("", [], [Section("x", "x", blocks), Section("y", "y", [third])], hidden=[HOSTILE])
    assert data_of(page) == {"charts": charts, "front": {"points": [HOSTILE]}, "hidden": [HOSTILE], "names": {}}
    assert re.findall(r'id="chart-(\d)".*data-chart="(\d)"', page) == [(number, number) for number in "012"]
    assert len(re.findall(r"<script\b", page)) == 3


def test_every_class_of_block_has_a_macro():
    tested = {type(block) for block, _ in BLOCKS} | {page_blocks.Charts, page_blocks.Figure}
    assert set(Block.__subclasses__()) == tested


def test_a_note_has_bold_words_and_code():
    words = ["The ", Span("b c"), " of ", Span("d e", "code"), ", 2 * 3 ** 4"]
    assert note("The **b c** of `d e`, 2 * 3 ** 4").words == words


def test_a_long_name_is_cut():
    assert (cut("n" * 120), cut("n" * 5000)) == ("n" * 120, "n" * 119 + "…")


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match="Out of range float"):
        render_page("", [page_blocks.Figure("x", {"y": float("nan")})], [])


def test_controllers_on_one_page_have_different_colours():
    shown = ["weir", "gcc", "mine", "yours", "theirs"]
    page = render_page("", [], [], controllers=shown)
    found = dict(re.findall(r"--c-(\w+): var\(--series-(\d+)\)", page))
    assert len({found[name] for name in shown}) == len(shown)


@pytest.mark.parametrize(
    "name", [HOSTILE, "x, red); background: url(//elsewhere/x.png", "a}*{background:url(//elsewhere)}"]
)
def test_a_replay_whose_names_are_hostile(name, fake_simulator, scenarios, tmp_path):
    """Results come from a folder, which may be somebody else's: all its texts are hostile."""
    plan = ReplayPlan(scenarios, ["weir", "gcc"], (0.4, 0.5, 0.1), [1], None, fake_simulator)
    records = [record.to_json() for record in complete_plans([plan], tmp_path, 2).records]
    for record in records:
        record["scenario"] += name
        record["controller"] = name if record["controller"] == "gcc" else "weir"
        record["versions"] = {name: name}
        for flow in record["flows"]:
            flow["kind"] = name
    records = [RunRecord.model_validate(record) for record in records]
    texts = {"command": name, "finished": name, "failures": [name], "model": {"name": name, "sha256": name}}
    run = texts | {"custom_controllers": {name: {"source": name, "sha256": name}}}
    summary = summarise(records, RunAbout.model_validate(run))
    page = render_report(RunStore(tmp_path), records, summary)
    checker = check(page)
    assert "img" not in checker.elements
    assert checker.elements.count("script") == 3
    assert name in "".join(checker.text)
    assert {points["controller"] for points in data_of(page)["scatter"]["points"]} == {"weir", name}
    styles = "".join(checker.styles)
    assert "elsewhere" not in styles
    assert "url(" not in styles
