"""HTML is in templates, which escape whatever they are given."""

import re

import pytest
from html_page import check, data_of

from weir.qoe_eval.measures.summary import summarise
from weir.qoe_eval.records.run_record import RunRecord
from weir.qoe_eval.records.summary import RunAbout
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.replay_page import render_report
from weir.qoe_eval.runs.jobs import ReplayPlan
from weir.qoe_eval.runs.run_plans import complete_plans
from weir.qoe_eval.runs.store import RunStore

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror='alert(1)'>\"&"


def test_what_a_section_shows_is_escaped_and_so_is_the_data():
    view = {"texts": [HOSTILE], "more": 0}
    section = Section("failures", HOSTILE, "failures", view, HOSTILE)
    lead = {"connections": 1, "format": HOSTILE, "user_agent": HOSTILE, "left_out": 0, "verdict": HOSTILE}
    page = render_page("dump_lead", HOSTILE, lead, [section, None], {HOSTILE: [HOSTILE]})
    text = "".join(check(page).text)
    # Title, its heading, link, verdict, format, user agent, the section's heading, failure: as text, each whole.
    assert text.count(HOSTILE) == 8
    assert data_of(page) == {HOSTILE: [HOSTILE], "names": {}}
    assert page.count("<script>alert(1)") == 0
    assert len(re.findall(r"<script\b", page)) == 3


def test_numbers_that_json_lacks_are_refused():
    lead = {"connections": 1, "format": "", "user_agent": "", "left_out": 0, "verdict": HOSTILE}
    with pytest.raises(ValueError, match="Out of range float"):
        render_page("dump_lead", "", lead, [], {"x": float("nan")})


def test_controllers_on_one_page_have_different_colours():
    shown = ["weir", "gcc", "mine", "yours", "theirs"]
    lead = {"connections": 1, "format": "", "user_agent": "", "left_out": 0, "verdict": HOSTILE}
    page = render_page("dump_lead", "", lead, [], {}, controllers=shown)
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
    assert {points["controller"] for points in data_of(page)["scatter"]["scatter"]} == {"weir", name}
    styles = "".join(checker.styles)
    assert "elsewhere" not in styles
    assert "url(" not in styles
