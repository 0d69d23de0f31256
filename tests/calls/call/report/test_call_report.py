import json
import sys

import pytest
from hand_made import call_record
from html_page import check, data_of

from weir_calls.call import logs
from weir_calls.call.call_report import rewrite, write
from weir_calls.call.plan import CallResult
from weir_calls.call.record import make_record
from weir_calls.call.summary import read_calls
from weir_cli.errors import InputError
from weir_cli.main import main
from weir_eval.records.call_record import CallRecord
from weir_eval.records.summary import RunAbout
from weir_eval.report.requirement import parse_requirements


@pytest.fixture
def calls(made_call, tmp_path):
    """calls(): records of two controllers on two scenarios with two seeds, in tmp_path; weir freezes for less long and
    receives more.
    """

    def make(
        scenarios=("steps", "other"), seeds=(1, 2), controllers=("weir", "gcc"), below="calls", about=None, **more
    ):
        records = []
        for number, scenario in enumerate(scenarios):
            # No call is another's copy.
            share = 1 - 0.01 * number
            for seed in seeds:
                for controller in controllers:
                    folder = tmp_path / below / f"{len(records)}-{controller}-{seed}"
                    is_weir = controller == "weir"
                    made_call.make_logs(
                        folder, delay_ms=80 if is_weir else 140 + seed, freeze_s=0.5 if is_weir else 1 + seed / 10,
                        rate_share=share * (0.8 if is_weir else 0.6), seed=seed,
                    )  # fmt: skip
                    measures = made_call.measured(folder)
                    settings = made_call.settings(folder, controller, seed, scenario=scenario, **more)
                    records.append(make_record(settings, made_call.progress(**(about or {})), measures, []))
                    (folder / logs.RECORD).write_text(json.dumps(records[-1].to_json()))
        return records

    return make


def test_controllers_side_by_side(calls, tmp_path):
    records = calls()
    summary, page = write(records, tmp_path, RunAbout(command="weir call steps --compare", planned=9))
    assert json.loads(summary.text()) == json.loads((tmp_path / "summary.json").read_text())
    assert summary.controllers["weir"]["received_bitrate_bps"].n == 4
    row = next(r for r in summary.paired if r.metric == "end_to_end_delay_ms_p95")
    assert (row.a, row.b, row.wins, row.n, row.independent) == ("weir", "gcc", 2, 4, 2)
    assert row.mean == pytest.approx(-61.5, abs=0.1)
    assert row.ci95 == (None, None)
    text = page.read_text()
    checker = check(text)
    sections = ["headline", "paired", "scenarios", "time-series", "calls", "run"]
    assert [name for name in checker.ids if name in sections] == sections
    words = " ".join(" ".join(checker.text).split())
    assert "8 real calls through a link that replays 2 scenarios." in words
    assert "weir against gcc , 2 independent scenarios, 2 seeds each:" in words
    assert "End-to-end delay, p95 −62 ms : better in 2, worse in 0" in words
    assert "weir call steps --compare" in words
    assert "8 complete of 9" in words
    assert "http" not in [link[:4] for link in checker.links]


def test_two_folders_of_calls_are_compared_without_those_that_were_stopped(tmp_path):
    def folder(name, **calls):
        for controller, (quality, about) in calls.items():
            measures = {"call_quality": quality}
            run = call_record(scenario="steps", controller=controller, seed=1, measures=measures, call=about)
            (tmp_path / name / controller).mkdir(parents=True)
            (tmp_path / name / controller / logs.RECORD).write_text(json.dumps(run.to_json()))
        return tmp_path / name

    here = folder("here", weir=(70.0, {}), gcc=(60.0, {}))
    before = folder("before", weir=(65.0, {"codec": "AV1"}), gcc=(0.0, {"codec": "AV1", "stopped": True}))
    summary, page = rewrite(here, against=before)
    found = summary.against
    assert [(row.a, row.metric, row.mean) for row in found.paired] == [("weir", "call_quality", 5.0)]
    assert (found.runs, found.unpaired_here, found.unpaired_there) == (1, 1, 0)
    assert found.differing == {"codec": "none here, AV1 there"}
    words = " ".join(" ".join(check(page.read_text()).text).split())
    assert f"weir here against weir in {before} : Call quality +5.0: better in 1 of 1 seed" in words
    assert "Without a counterpart: 1 here." in words
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no calls; give a folder of 'weir call' or 'weir serve'"):
        rewrite(here, against=tmp_path / "empty")


def test_the_score_is_called_weighted_and_older_calls_without_audio_have_none(calls, tmp_path):
    records = calls(seeds=(1,))
    for record in records:
        record.metrics.run["call_score"] = 60.0 + (record.controller == "weir")
    old = json.loads(records[0].model_dump_json(by_alias=True)) | {"scenario": "old"}
    del old["call"]["audio_codec"]
    old["metrics"]["run"] = {"vmaf_mean": 80.0, "freeze_count": 1.0}
    summary, page = write([*records, CallRecord.model_validate(old)], tmp_path)
    assert "old" not in {name for name, by in summary.scenarios.items() if "call_score" in by.get("weir", {})}
    (rule,) = parse_requirements(["call_score>=gcc+1"], ["weir", "gcc"], None, "call")
    assert all(rule.check(summary).values())
    words = " ".join(" ".join(check(page.read_text()).text).split())
    assert "a conclusion from it hangs on their weights" in words
    assert "of 100, weighted" in words
    assert "VP8 with opus audio, at most 2,500 kbps; 320x180 at 30/s, VP8, at most 2,500 kbps" in words


def test_the_charts_have_the_calls_of_a_pair(calls, made_call, tmp_path):
    records = calls()
    for record in records:
        record.metrics.run["call_quality"] = 70.0
    _, page = write(records, tmp_path)
    charts = data_of(page.read_text())["charts"]
    assert [chart["name"] for chart in charts] == [
        "steps · seed 1",
        "steps · seed 2",
        "other · seed 1",
        "other · seed 2",
    ]
    rows = {row["title"]: row["lines"] for row in charts[0]["rows"]}
    assert list(rows) == ["Estimate, kbps", "Received, kbps", "Delay, ms", "Frames per s"]
    capacity, weir, gcc = rows["Estimate, kbps"]
    assert (capacity["name"], weir["group"], gcc["group"]) == ("available capacity", "weir", "gcc")
    assert capacity["y"][0] == pytest.approx(1800)
    assert capacity["y"][-1] == pytest.approx(800)
    assert weir["y"][2] == pytest.approx(1600, rel=0.05)
    assert gcc["y"][0] == pytest.approx(1200)
    assert rows["Received, kbps"][1]["y"][2] == pytest.approx(0.8 * 1800, rel=0.02)
    delay = rows["Delay, ms"][0]
    assert max(value for value in delay["y"] if value) == pytest.approx(80, abs=1)
    assert None in rows["Delay, ms"][2]["y"]  # nothing was rendered for over a second
    frames = rows["Frames per s"][0]
    assert frames["y"][1] == 30
    assert frames["y"][6] == pytest.approx(15, abs=2)
    assert charts[0]["duration_s"] == 12


def test_the_first_chart_is_the_worst_defeat(calls, tmp_path):
    records = calls()
    for record in records:
        if record.controller == "weir" and record.scenario == "other":
            record.metrics.run["call_quality"] = 7.0
    first, *rest = data_of(write(records, tmp_path)[1].read_text())["charts"]
    assert first["name"] == "other · seed 1"
    assert first["note"].startswith(
        "weir is furthest behind gcc here: Call quality 7.0 against 61.9, means over seeds."
    )
    assert not any("behind" in chart["note"] for chart in rest)


def test_the_chart_of_a_pool_shows_the_pilot_and_its_trust(calls, made_call, tmp_path):
    line = "pilot=weir copilots=nada policy=by_trust"
    records = calls(scenarios=("steps",), seeds=(1,), controllers=(line, "gcc"))
    path = tmp_path / "calls" / records[0].call.folder / logs.ESTIMATES

    def pool(entry):
        broken = entry["time_us"] > made_call.START_US + 6_000_000
        trust = {"weir": 0.2 if broken else 1.0, "nada": 1.0}
        pilot = "nada" if broken else "weir"
        members = [
            {"name": name, "role": "pilot" if name == pilot else "watching", "trust": trust[name]} for name in trust
        ]
        return entry | {"pool": {"members": members}}

    made_call.write_lines(path, [pool(json.loads(line)) for line in path.read_text().splitlines()])
    _, page = write(records, tmp_path)
    rows = {row["title"]: row for row in data_of(page.read_text())["charts"][0]["rows"]}
    assert rows["Active controller"]["ticks"] == ["weir", "nada"]
    (pilot,), (trust,) = rows["Active controller"]["lines"], rows["Trust"]["lines"]
    assert (pilot["y"][10], pilot["y"][13], pilot["step"]) == (0, 1, True)
    assert (trust["y"][10], trust["y"][13]) == (1.0, 0.2)


def test_disturbed_and_broken_calls_are_marked_and_not_averaged(made_call, calls, tmp_path):
    records = calls(seeds=(1, 2, 3))
    clean, _ = write(records, tmp_path)
    records[1] = made_call.changed(records[1], {"disturbed": ["the encoder was short of CPU for 40% of the call"]})
    records[1].metrics.run["received_bitrate_bps"] = 1.0
    records[10] = made_call.changed(records[10], {"failure": "chromium: ended early <b>"})
    summary, page = write(records, tmp_path)
    # Four are left that both have.
    assert {found["received_bitrate_bps"].n for found in summary.controllers.values()} == {4}
    assert summary.completed == {"weir": 5, "gcc": 5}
    assert summary.controllers["gcc"]["received_bitrate_bps"].mean == pytest.approx(
        clean.controllers["gcc"]["received_bitrate_bps"].mean, rel=0.01
    )
    assert {row.n for row in summary.paired} == {4}
    assert [(entry.controller, entry.seed) for entry in summary.left_out] == [("gcc", 1), ("weir", 3)]
    words = " ".join(" ".join(check(page.read_text()).text).split())
    assert "2 calls left out of every mean and comparison: disturbed, ended early, or unequal" in words
    assert "disturbed: the encoder was short of CPU for 40% of the call" in words
    assert "ended early <b>" in words


def test_a_stopped_call_is_not_compared_and_the_page_tells_when(made_call, calls, tmp_path):
    weir, gcc = calls(scenarios=("steps",), seeds=(1,))
    assert (weir.stopped, weir.call.stopped) == ("", False)
    gcc = made_call.changed(gcc, {"stopped": True, "ended_us": made_call.START_US + 4_830_000})
    summary, page = write([weir, gcc], tmp_path)
    when = "stopped by the user at 4.8 s of 12 s"
    assert [(entry.controller, entry.why) for entry in summary.left_out] == [("gcc", [when])]
    assert summary.paired == []
    assert not summary.controllers.get("gcc")
    words = " ".join(" ".join(check(page.read_text()).text).split())
    assert f"gcc was {when}." in words
    assert "1 complete of 2" in words


def test_an_incomplete_last_bin_is_no_drop_of_the_rate(calls, made_call, tmp_path):
    (record,) = calls(scenarios=("steps",), seeds=(1,), controllers=("weir",))
    measured = record.call.measured
    ended = measured.model_copy(update={"end_us": measured.end_us - 300_000})
    _, page = write([made_call.changed(record, {"measured": ended})], tmp_path)
    (chart,) = data_of(page.read_text())["charts"]
    rows = {row["title"]: row["lines"] for row in chart["rows"]}
    received = rows["Received, kbps"][1]
    width_s = received["x"][1] - received["x"][0]
    assert received["x"][-1] + width_s / 2 <= chart["duration_s"] < received["x"][-1] + 1.5 * width_s


def test_links_lead_to_the_recordings(calls, tmp_path):
    records = calls(scenarios=("steps",), seeds=(1,))
    recording = tmp_path / "calls" / records[0].call.folder / logs.RECORDING
    recording.write_bytes(b"mp4")
    _, page = write(records, tmp_path)
    files = [link for link in check(page.read_text()).links if not link.startswith("#")]
    assert f"calls/0-weir-1/{logs.RECORDING}" in files
    assert all((tmp_path / link).is_file() for link in files)


def test_one_call_in_its_own_folder(calls, tmp_path):
    (record,) = calls(scenarios=("steps",), seeds=(1,), controllers=("weir",), below=".")
    folder = tmp_path / record.call.folder
    summary, page = write([CallResult(record, folder)], folder)
    assert page == folder / "report.html"
    assert list(summary.controllers) == ["weir"]
    text = page.read_text()
    checker = check(text)
    assert "paired" not in checker.ids
    words = " ".join(" ".join(checker.text).split())
    assert "1 real call through a link that replays 1 scenario. Its values are those of this call alone" in words
    assert len(data_of(text)["charts"]) == 1
    again, _ = rewrite(folder)
    assert again == summary


def test_calls_that_differ_are_distinguished(made_call, calls):
    first = calls(scenarios=("steps",), seeds=(1,))
    other = calls(scenarios=("steps",), seeds=(1,), below="other", objective=(0.8, 0.1, 0.1))
    native = calls(scenarios=("steps",), seeds=(1,), below="native")
    native = [made_call.changed(record, {"sender": "native"}) for record in native]
    found = {(call.case, call.controller) for call in read_calls([*first, *other[:1], *native])}
    assert found == {
        ("steps, chromium", "weir"), ("steps, chromium", "gcc"), ("steps, chromium", "weir-throughput"),
        ("steps, native", "weir"), ("steps, native", "gcc"),
    }  # fmt: skip
    # The same call made again counts once.
    assert len(read_calls([*first, *first])) == 2


def test_logs_that_are_gone_leave_their_lines_out(calls, tmp_path):
    records = calls(scenarios=("steps",), seeds=(1,))
    for path in (tmp_path / "calls").rglob("*.jsonl"):
        if path.name != logs.RECEIVER_STATS:
            path.unlink()
    _, page = write(records, tmp_path)
    (chart,) = data_of(page.read_text())["charts"]
    assert [row["title"] for row in chart["rows"]] == ["Received, kbps"]


def test_names_from_files_cannot_become_markup(made_call, calls, tmp_path):
    hostile = '</script><img src=x onerror="alert(1)">'
    records = calls(scenarios=("steps",), seeds=(1,), about={"ready": {"x": {"versions": {hostile: hostile}}}})
    details = {"disturbed": [hostile], "sender": hostile, "codec": hostile}
    records = [made_call.changed(record, details, scenario=hostile) for record in records]
    _, page = write(records, tmp_path, RunAbout(command=hostile, failures=[hostile]))
    text = page.read_text()
    check(text)
    assert "<img src=x" not in text


def test_a_folder_that_leads_elsewhere_is_not_followed(made_call, calls, tmp_path):
    records = calls(scenarios=("steps",), seeds=(1,), controllers=("weir",))
    records[0] = made_call.changed(records[0], {"folder": "../../../etc"})
    _, page = write(records, tmp_path)
    assert data_of(page.read_text())["charts"] == []


def test_weir_report_makes_the_page_of_calls_again(calls, tmp_path, monkeypatch, capfd):
    records = calls()
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(record.to_json()) + "\n" for record in records))
    before, page = write(records, tmp_path, RunAbout(command="weir call", planned=8))
    kept = page.read_text()
    page.unlink()
    monkeypatch.setattr(sys, "argv", ["weir", "report", str(tmp_path), "--json"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    assert json.loads(capfd.readouterr().out) == json.loads(before.text())
    assert page.read_text() == kept


def test_a_report_that_cannot_be_written(calls, tmp_path):
    records = calls(scenarios=("steps",), seeds=(1,))
    (tmp_path / "report.html").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write(records, tmp_path)


def test_cuts_and_changes_of_the_objective_are_in_the_report(calls, made_call, tmp_path):
    begins_us = made_call.progress().started_us
    weights = {"throughput": 0.1, "latency": 0.8, "loss": 0.1}
    happened = [
        {"type": "down", "duration_s": 5.0, "time_us": begins_us + 5_200_000},
        # Two changes within a second, and another one.
        {"type": "objective", "throughput": 0.6, "latency": 0.2, "loss": 0.2, "time_us": begins_us + 1_000_000},
        {"type": "objective", "throughput": 0.7, "latency": 0.2, "loss": 0.1, "time_us": begins_us + 1_100_000},
        {"type": "objective", "time_us": begins_us + 4_000_000} | weights,
    ]
    _, page = write(calls(("steps",), (1,), ("weir",), about={"happened": happened}), tmp_path)
    text = page.read_text()
    assert "weir: at 5.2 s for 5 s" in text
    changes = "0.60 / 0.20 / 0.20 at 1.0 s to 0.70 / 0.20 / 0.10 at 1.1 s to 0.10 / 0.80 / 0.10 at 4.0 s"
    assert f"from 0.40 / 0.50 / 0.10 to {changes}" in text


@pytest.mark.parametrize(
    ("cuts", "is_compared"),
    [
        ({"weir": [5.2], "gcc": [5.3]}, True),
        ({"gcc": [5.2]}, False),
        ({"weir": [2.0], "gcc": [5.2]}, False),
        ({"weir": [5.2], "gcc": [5.2, 9.0]}, False),
    ],
)
def test_calls_whose_links_were_cut_at_other_times_are_not_compared(calls, made_call, tmp_path, cuts, is_compared):
    begins_us = made_call.progress().started_us
    records = calls(("steps",), (1,))
    for number, record in enumerate(records):
        happened = [
            {"type": "down", "duration_s": 5.0, "time_us": begins_us + round(1e6 * at_s)}
            for at_s in cuts.get(record.controller, [])
        ]
        records[number] = made_call.changed(record, {"happened": happened})
    summary, page = write(records, tmp_path)
    words = " ".join(" ".join(check(page.read_text()).text).split())
    assert bool(summary.paired) is is_compared
    assert ("Paths are unequal: the user cut the link at other times" in words) is not is_compared
    assert {entry.controller for entry in summary.left_out} == (set() if is_compared else {"weir", "gcc"})


def test_the_page_has_the_command_of_the_process_that_made_it(calls, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["weir", "serve", "--out", "my calls"])
    _, page = write(calls(("steps",), (1,), ("weir",)), tmp_path)
    assert "weir serve --out 'my calls'" in " ".join(check(page.read_text()).text)
