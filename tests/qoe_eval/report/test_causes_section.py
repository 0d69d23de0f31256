"""The section of causes, and the marks in the time series."""

import json

import pytest
from hand_made import run_record
from html_page import data_of

from weir_eval.measures.queue_causes import CAUSES
from weir_eval.records.record import Episode
from weir_eval.records.summary import RunAbout
from weir_eval.report.replay_page import summarise_replay, write_report
from weir_eval.report.sections.causes import cause_line, cause_row, causes, episode_text
from weir_eval.runs.store import RunStore

FREEZE = {"kind": "freeze", "flow": "media", "start_s": 1.0, "duration_s": 2.0, "cause": "key_frame",
          "shares": {"key_frame": 0.76, "loss": 0.2, "pacer": 0.04}}  # fmt: skip


@pytest.fixture
def summary_of():
    def made(*records):
        return summarise_replay(records, [], [], RunAbout())

    return made


def test_a_row_for_each_controller_of_the_kinds_that_there_are(summary_of):
    records = [run_record(controller=name, episodes=found) for name, found in (("weir", [FREEZE]), ("gcc", []))]
    section = causes(summary_of(*records))
    _, heading, freezes = section.blocks
    assert heading.text == "Freezes"
    assert [head.text for head in freezes.heads[3:]] == [cause.replace("_", " ").capitalize() for cause in CAUSES]
    weir, gcc = freezes.rows
    assert weir.cells[1:3] == ["2.00", "1.0"]
    key_frame_cell = weir.cells[3 + CAUSES.index("key_frame")]
    assert (key_frame_cell.text, key_frame_cell.small) == ("1.52", "1.0 mainly")
    assert (weir.cells[3 + CAUSES.index("loss")].text, weir.cells[3].text) == ("0.40", "–")
    assert (weir.is_marked, gcc.is_marked) == (True, False)


def test_no_section_without_an_episode(summary_of):
    assert causes(summary_of(run_record(episodes=[]))) is None
    assert causes(summary_of(run_record())) is None


def test_the_text_of_an_episode_has_known_causes_alone():
    assert episode_text(Episode(**FREEZE)) == "freeze 2.0 s: key frame 76 %, loss 20 %"
    foreign = Episode(**FREEZE | {"cause": "<b>", "shares": {"<b>": 0.9, "loss": 0.1}})
    assert episode_text(foreign) == "freeze 2.0 s: loss 10 %"


def test_each_controller_has_a_lane_so_that_none_hides_another():
    freeze = Episode(**FREEZE)
    names = ("weir", "gcc", "rule", "rule")
    lines = cause_row([cause_line(name, [freeze]) for name in names])["lines"]
    weir, gcc, rule, rules_other_flow = ({y for y in line["y"] if y is not None} for line in lines)
    (place,) = gcc
    assert place == CAUSES.index("key_frame")
    assert max(rule) < place - 0.2
    assert place + 0.2 < min(weir) < place + 0.5
    assert rule == rules_other_flow
    assert {line["width"] for line in lines} == {3.0}


def test_the_page_marks_episodes_in_the_time_series(summary_of, tmp_path):
    columns = {"receive_rate_bps": [1e6] * 5, "one_way_delay_mean_ms": [25.0] * 5, "packets_lost": [0.0] * 5}
    path = {"interval_s": 0.1, "capacity_bps": [1e6] * 5, "queueing_delay_ms": [0.0] * 5}
    record = run_record(flows=[{"id": "media"}], episodes=[FREEZE])
    store = RunStore(tmp_path)
    store.append(record, {"path": path, "flows": {"media": columns}})
    page = write_report(store, [record], summary_of(record)).read_text(encoding="utf-8")
    data = data_of(page)
    (line,) = next(row["lines"] for row in data["charts"][0]["rows"] if row["title"] == "Main cause")
    assert (line["x"], set(line["text"])) == ([1.0, 2.0, 3.0, 3.0], {episode_text(Episode(**FREEZE)), ""})
    assert "Why it froze" in page
    assert json.loads((tmp_path / "summary.json").read_text())["causes"][0]["seconds_by_cause"]["key_frame"] == 1.52
