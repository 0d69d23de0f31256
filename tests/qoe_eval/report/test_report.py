import re

import pytest
from hand_made import run_record
from html_page import check, data_of, unpacked

from weir_eval.measures.summary import summarise
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.run_record import MediaRecord
from weir_eval.records.summary import RunAbout, Summary
from weir_eval.report.chart_rows import MAX_POINTS
from weir_eval.report.replay_charts import Drawing, replay_charts
from weir_eval.report.replay_page import render_report
from weir_eval.report.sections.pairs import paired as section
from weir_eval.report.sections.scenarios import worst_runs
from weir_eval.report.text import paired_sentences, print_paired
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.objectives import objective_plans, summarise_objectives
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore
from weir_sim.controllers import PRESETS
from weir_traces.schema.scenario import Scenario

SECTIONS = ["viewer", "paired", "headline", "delay-throughput", "scenarios", "worst", "time-series", "guard", "run"]


def build(plan, folder, **run):
    outcome = complete_plans([plan], folder, 2)
    summary = summarise(outcome.records, RunAbout.model_validate({"runs": len(outcome.records), "planned": 99, **run}))
    return render_report(RunStore(folder), outcome.records, summary)


def lines(chart, title):
    """The lines of a chart's row, by name."""
    return {line["name"]: line for row in chart["rows"] if row["title"] == title for line in row["lines"]}


@pytest.fixture
def plan(fake_simulator, scenarios):
    return ReplayPlan(scenarios, ["weir", "gcc", "oracle"], (0.4, 0.5, 0.1), [1, 2], None, fake_simulator)


def test_the_page_has_its_sections_and_needs_no_network(plan, tmp_path):
    page = build(plan, tmp_path, command="weir replay a.json", model={"name": "weir.onnx", "sha256": "ab" * 32})
    checker = check(page)
    assert [name for name in checker.ids if name in SECTIONS] == SECTIONS
    assert all(link.startswith("#") for link in checker.links)
    assert unpacked(page, "plotly").count("plotly.js v") == 1
    # A third of what Plotly alone takes, and less than half of the data.
    assert len(page) < 2.3e6
    assert "prefers-color-scheme: dark" in page
    text = " ".join(checker.text)
    for part in (
        "weir replay a.json",
        "ab" * 32,
        "0.4, 0.5, 0.1",
        "Worst scenarios of weir",
        "2 independent scenarios, 2 seeds each: intervals need 6 independent traces, not more seeds.",
        "weir against gcc",
        "2 independent scenarios, 2 seeds each",
        "better in 2, worse in 0, level in 0",
        "2 2 seeds each",
        "12 complete of 99",
    ):
        assert part in text


def test_the_page_leads_with_the_viewer_then_the_measure_of_the_objective(plan, tmp_path):
    latency = ReplayPlan(plan.scenarios, ["weir", "gcc"], PRESETS["latency"], [1], None, plan.simulator)
    outcome = complete_plans([latency], tmp_path, 1)
    summary = summarise(outcome.records, RunAbout(objective=latency.objective))
    checker = check(render_report(RunStore(tmp_path), outcome.records, summary))
    text = " ".join(" ".join(checker.text).split())
    lead = text[text.index("Objective: 0.1 throughput, 0.8 latency, 0.1 loss.") :]
    measures = (
        "Call quality",
        "Freezes",
        "End-to-end delay, median",
        "End-to-end delay, p95",
        "Utility",
        "Challenge score",
    )
    places = [lead.index(name) for name in ("weir against gcc", *measures)]
    assert places == sorted(places)
    paired = {row.metric: row.mean for row in summary.paired}
    assert f"Utility {paired['utility']:+.1f}" in lead
    assert "here 0.1 of throughput, 0.8 of latency and 0.1 of loss" in text
    by_controller = summary.controllers
    assert all("utility" in by_controller[name] for name in ("weir", "gcc"))  # gcc has no objective


def test_the_page_has_the_viewers_measures(plan, tmp_path):
    page = build(plan, tmp_path)
    text = " ".join(" ".join(check(page).text).split())
    for part in (
        "Call quality of 100",
        "Viewer's quality of 100",
        "Frozen %",
        "Frame rate per s",
        "End-to-end delay, p95 ms",
        "an estimate of VMAF",
    ):
        assert part in text
    data = data_of(page)
    # The chart, the order of the table and the headline have one measure.
    assert data["viewer-scatter"]["axes"]["y"] == MEASURES["call_quality"].title
    viewer = data["viewer-scatter"]["points"]
    assert {points["controller"] for points in viewer} == {"weir", "gcc", "oracle"}
    assert all(0 < y <= 100 for points in viewer for y in points["y"])
    packets, frames = (
        lines(data["charts"][0], title)["weir"]["y"] for title in ("Packet delay, ms", "End-to-end delay, ms")
    )
    assert len(packets) == len(frames)
    # A frame's delay is what its packets had; bins are those of its rendering.
    assert max(d for d in frames if d) == pytest.approx(max(d for d in packets if d), abs=1)


def test_the_page_shows_where_the_delay_arises(plan, tmp_path):
    text = " ".join(" ".join(check(build(plan, tmp_path)).text).split())
    start = text.rindex("Where the delay arises")
    # Encoding takes no time in replays.
    heads = "Pacer ms, median and p95 ↓ Network ms, median and p95 ↓ Jitter buffer ms, median and p95 ↓ Lip sync"
    assert f"Controller {heads}" in text[start:]
    assert f"Scenario Controller {heads}" in text[start:]
    summary = summarise(RunStore(tmp_path).read(), RunAbout())
    found = summary.controllers["weir"]
    assert found["delay_in_network_ms_p50"].mean == pytest.approx(found["end_to_end_delay_ms_p50"].mean)
    assert found["delay_in_lip_sync_ms_p95"].mean == 0


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("model", "Replays: the simulator's model of sender and receiver."),
        ("libwebrtc", "Virtual calls: libwebrtc's own sender and receiver in simulated time."),
    ],
)
def test_the_page_names_its_stack_and_delay_that_is_mostly_modeled_lip_sync(plan, tmp_path, stack, words):
    records = complete_plans([plan], tmp_path, 2).records
    sync = "most of the end-to-end delay is the wait for audio (lip sync), which a replay models; check with --stack"
    measured = changed(
        [record.model_copy(deep=True) for record in records],
        lip_sync_share=0.51,
    )
    for found, holds in ((records, False), (measured, True)):
        changed_records = [record.model_copy(update={"stack": stack}) for record in found]
        text = " ".join(
            check(render_report(RunStore(tmp_path), changed_records, summarise(changed_records, RunAbout()))).text
        )
        text = " ".join(text.split())
        assert words in text
        assert (f"In 2 of 12 runs {sync}" in text) == (holds and stack == "model")
        if not holds:
            assert "lip sync;" not in text


def test_a_chart_names_the_starting_point_of_its_run(plan, tmp_path):
    """A seed rotates a trace that repeats: an outage at 20 s of the file may be at 15 s of the run."""
    capacity = {"times_s": [0.0, 5.0], "rates_bps": [2e6, 1e6], "period_s": 20.0}
    repeats = Scenario.make(name="own", duration_s=10.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
    plan = ReplayPlan([repeats, plan.scenarios[0]], ["gcc", "rule"], plan.objective, [1], None, plan.simulator)
    records = complete_plans([plan], tmp_path, 1).records
    start_s = records[0].variation["trace_start_s"]
    rotated, steady = replay_charts(RunStore(tmp_path), records, {"own": "A file."})
    assert 0 < start_s < 20
    assert rotated["note"] == f"A file. Seed 1 starts at {start_s:.1f} s of the trace."
    assert steady["note"] == ""


def test_the_chart_of_frames_is_named_after_the_delay_that_it_shows(plan, tmp_path):
    """The delay until rendering is the end-to-end delay; records without rendering times have the frame delay."""
    record = RunStore(tmp_path).with_series(complete_plans([plan], tmp_path, 1).records[0])
    frames = record.flows[0].series["frames"]
    del frames["rendered_time_us"]
    rows = {}
    for title in ("Frame delay, ms", "End-to-end delay, ms"):
        drawing = Drawing()
        drawing.add(record)
        rows = {row["title"]: row["lines"] for row in drawing.rows() if row}
        assert [name for name in rows if "delay" in name and "Packet" not in name] == [title]
        assert {line["unit"] for line in rows[title]} == {"ms"}
        frames["rendered_time_us"] = [at and at + 400_000 for at in frames["complete_time_us"]]
    assert min(y for y in rows[title][0]["y"] if y) > 400


def test_the_charts_have_their_data(plan, tmp_path):
    data = data_of(build(plan, tmp_path))
    assert {points["controller"] for points in data["scatter"]["points"]} == {"weir", "gcc", "oracle"}
    assert data["hidden"] == ["oracle"]
    entry = next(entry for entry in data["charts"] if entry["name"] == "step")
    received = lines(entry, "Received, kbps")
    assert received["capacity"]["y"] == [2000] * 25 + [1000] * 25
    assert list(received) == ["capacity", "weir", "gcc", "oracle"]
    assert {len(line["y"]) for line in received.values()} == {50}


def test_an_axis_limited_by_the_media_has_a_note(plan, tmp_path, scenarios):
    fast = {"times_s": [0.0], "rates_bps": [20e6]}
    fast = Scenario.make(name="fast", duration_s=10.0, forward={"capacity": fast}, flows=[{"kind": "rtp"}])
    two = ReplayPlan([scenarios[0], fast], ["weir", "gcc"], plan.objective, [1], None, plan.simulator)
    media = {"media": {"media": MediaRecord(kind="video", max_rate_bps=2.5e6)}}
    records = [record.model_copy(update=media) for record in complete_plans([two], tmp_path, 2).records]
    page = render_report(RunStore(tmp_path), records, summarise(records, RunAbout()))
    text = " ".join(" ".join(check(page).text).split())
    assert text.count("On 1 of 2 scenarios the path carries more than the media may send, 2.5 Mbps") == 2
    charts = {chart["name"]: chart for chart in data_of(page)["charts"]}
    steady, flat = charts["steady"], charts["fast"]
    for title in ("Estimate, kbps", "Received, kbps"):
        assert "the media's limit, 2,500 kbps" in lines(flat, title)
        assert list(lines(steady, title)) == ["capacity", "weir", "gcc"]
    (highest,) = (row["range"][1] for row in flat["rows"] if row["title"] == "Received, kbps")
    received = [y for name in ("weir", "gcc") for y in lines(flat, "Received, kbps")[name]["y"]]
    assert max(received) < highest < 20_000


def test_the_page_has_the_terminals_verdict_on_each_main_rival(plan, tmp_path, capsys):
    rivals = ReplayPlan(plan.scenarios[:1], ["weir", "gcc", "scream"], plan.objective, [1], None, plan.simulator)
    records = complete_plans([rivals], tmp_path, 1).records
    summary = summarise(records, RunAbout(reference="gcc"))
    print_paired(paired_sentences(summary))
    verdicts = [line for line in capsys.readouterr().out.splitlines() if " against " in line]
    assert [line.partition(":")[0] for line in verdicts] == ["weir against gcc", "weir against scream"]
    for line in verdicts:
        assert all(
            part.endswith(("better in 1 of 1 seed", "worse in 1 of 1 seed", " level")) for part in line.split("; ")
        )
        assert "Frozen " in line
    words = " ".join(" ".join(check(render_report(RunStore(tmp_path), records, summary)).text).split())
    for line in verdicts:
        assert line.replace(":", " :", 1) in words
    # With one scenario there is nothing to count.
    assert not re.search("level in|Level|Of how many|worse and level", words)
    # One seed is no evidence that a controller is better or worse.
    paired_section = words[words.rindex("Paired comparison") : words.rindex("Throughput and delay")]
    assert "not told apart" not in paired_section


def test_few_scenarios_have_no_interval(plan, tmp_path):
    page = build(plan, tmp_path)
    checker = check(page)
    assert "svg" not in checker.elements
    text = " ".join(" ".join(checker.text).split())
    assert text.count("intervals need 6") == 1
    assert "interval" not in text.replace("intervals need 6", "")


def changed(records, **values):
    """Records with other measures on the scenario step for gcc, and without runs that repeat others."""
    for record in records:
        if (record.controller, record.scenario) == ("gcc", "step"):
            record.metrics.run.update(values)
    return records


def test_the_first_series_is_the_worst_defeat(plan, tmp_path):
    records = changed(complete_plans([plan], tmp_path, 2).records, call_quality=99.9)
    first, second = data_of(render_report(RunStore(tmp_path), records, summarise(records, RunAbout())))["charts"]
    assert (first["name"], second["name"]) == ("step", "steady")
    assert first["note"].startswith("weir is furthest behind gcc here: Call quality ")
    assert " against 99.9, means over seeds." in first["note"]
    assert "here" not in second["note"]


def test_every_measure_that_is_worse_is_in_the_paired_table(plan, tmp_path):
    worse = ("freeze_count", "max_queueing_delay_ms", "frame_delay_ms_p50", "frame_delay_ms_p95", "oscillation")
    records = changed(complete_plans([plan], tmp_path, 2).records, **dict.fromkeys(worse, 0.0))
    summary = summarise(records, RunAbout())
    paired = [row.metric for row in summary.paired if row.b == "gcc"]
    assert set(worse) < set(paired)
    _, pairs = section(summary).blocks
    (label, first), _ = pairs.choices
    assert label == "weir against gcc"
    assert {row.cells[0].text for row in first.rows} == {MEASURES[name].label for name in paired}


def test_cells_are_colored_only_where_the_interval_excludes_0():
    def cells(metric, mean, ci95):
        wins, losses = (4, 3) if (mean > 0) == (metric == "utility") else (3, 4)
        row = PairedRow(a="x", b="y", metric=metric, mean=mean, ci95=ci95, wins=wins, losses=losses, n=9, independent=9)
        _, pairs = section(Summary(run=RunAbout(), metrics={}, controllers={}, scenarios={}, paired=[row])).blocks
        (found,) = pairs.choices[0][1].rows
        return found.cells

    assert [cells("freeze_count", mean, ci95)[1].kind for mean, ci95 in (
        (1, (0.5, 2)), (-1, (-2, -0.5)), (1, (-1, 2)), (1, (None, None)),
    )] == ["bad", "good", "even", "even"]  # fmt: skip
    # Better is to the right, whichever way the measure goes.
    for metric, mean, ci95 in (("freeze_count", -1, (-2, -0.5)), ("utility", 1, (0.5, 2))):
        mark = cells(metric, mean, ci95)[4].mark
        assert mark.zero == 50 < mark.ends[0] < mark.mean < mark.ends[1] < 98


@pytest.mark.parametrize("reference", ["gcc", "oracle", "weir"])
def test_anyone_can_be_the_reference(plan, tmp_path, reference):
    records = complete_plans([plan], tmp_path, 2).records
    summary = summarise(records, RunAbout(reference=reference))
    page = render_report(RunStore(tmp_path), records, summary)
    own = "gcc" if reference == "weir" else "weir"
    words = " ".join(" ".join(check(page).text).split())
    # Too few scenarios for intervals: the means stand in the verdict.
    assert words.index(f"{own} against {reference} : Call quality") < words.index("intervals need 6")
    assert f"Worst scenarios of {own}" in words


def test_the_worst_scenarios_are_those_of_call_quality_against_the_best_foreign_controller():
    def run(controller, scenario, **measures):
        return run_record(controller=controller, scenario=scenario, seed=1, measures=measures)

    qualities = {"weir": 40.0, "weir-send": 90.0, "gcc": 60.0, "oracle": 95.0}
    records = [
        *(run(name, "blurred", call_quality=value, utility=90.0) for name, value in qualities.items()),
        *(run(name, "slow", call_quality=80.0, utility=20.0) for name in qualities),
    ]
    about, table = worst_runs(records, "weir", "").blocks
    blurred, slow = table.rows
    assert [blurred.cells[1], *(cell.text for cell in blurred.cells[2:4])] == ["40.0", "gcc 60.0", "behind by 20.0"]
    assert [row.cells[0].text for row in (blurred, slow)] == ["blurred", "slow"]
    assert "has the least call quality" in about.words
    assert "Weir at the other end" in about.words
    # Filler has no viewer.
    filler = [run(name, "full", utility=value) for name, value in qualities.items()]
    assert worst_runs(filler, "weir", "").blocks[1].rows[0].cells[2].text == "gcc 60.0"


def test_the_objective_page(plan, tmp_path):
    main = complete_plans([plan], tmp_path, 2)
    records = complete_plans(objective_plans(plan, 5), tmp_path / "objectives", 2).records
    summary = summarise(main.records, RunAbout(runs=12, planned=12))
    summary = summary.model_copy(update={"objectives": summarise_objectives(records, main.records)})
    page = render_report(RunStore(tmp_path), main.records, summary)
    checker = check(page)
    assert {"objectives", "front"} <= set(checker.ids)
    text = " ".join(" ".join(checker.text).split())
    assert "On 2 of 2 scenarios (100 %)" in text
    assert "0.8 / 0.1 / 0.1" in text
    assert "Utility under each objective" in text
    # Only controllers that ran are named.
    assert "seed 1; without weights, on the same scenarios: gcc." in text
    points = data_of(page)["front"]
    assert len(points["fan"]) == 5
    assert [point["delay_ms"] for point in points["fan"]] == sorted(point["delay_ms"] for point in points["fan"])
    assert [point["name"] for point in points["presets"]] == ["throughput", "balanced", "latency"]
    assert points["presets"][0]["lean"] == pytest.approx(8 / 9, abs=1e-3)
    assert [point["name"] for point in points["references"]] == ["gcc"]
    # Presets alone: tables without a chart.
    presets = [record for record in records if record.objective in PRESETS.values()]
    summary = summary.model_copy(update={"objectives": summarise_objectives(presets, [])})
    alone = check(render_report(RunStore(tmp_path), main.records, summary))
    assert "objectives" in alone.ids
    assert "front" not in alone.ids


def test_a_replay_of_which_no_run_completed(tmp_path):
    page = render_report(RunStore(tmp_path), [], summarise([], RunAbout(failures=["gcc, seed 1: died"])))
    assert "failures" in check(page).ids
    assert "1 run did not complete" in page


def test_one_controller_and_one_run(plan, tmp_path):
    single = ReplayPlan(plan.scenarios[:1], ["gcc"], plan.objective, [1], None, plan.simulator)
    checker = check(build(single, tmp_path))
    assert "paired" not in checker.ids
    assert "guard" not in checker.ids
    assert not {"scenarios", "worst"} & set(checker.ids)


def test_a_row_with_missing_runs_has_a_note(plan, tmp_path):
    done = complete_plans([plan], tmp_path, 2).records
    records = [record for record in done if (record.controller, record.scenario) != ("gcc", "step")]
    text = " ".join(check(render_report(RunStore(tmp_path), records, summarise(records, RunAbout()))).text)
    assert "2 of 4 runs" in text
    assert "Means over 1 independent scenario, 2 seeds" in " ".join(text.split())


def test_long_series_are_thinned(plan, tmp_path):
    capacity = {"times_s": [0.0], "rates_bps": [1e6]}
    long = Scenario.make(name="long", duration_s=200.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
    outcome = complete_plans([ReplayPlan([long], ["gcc"], plan.objective, [1], None, plan.simulator)], tmp_path, 1)
    (entry,) = replay_charts(RunStore(tmp_path), outcome.records, {})
    found = {title: lines(entry, title)["gcc"]["y"] for title in ("Received, kbps", "Packet delay, ms", "Lost")}
    assert all(len(values) <= MAX_POINTS for values in found.values())
    full = RunStore(tmp_path).read_series(outcome.records[0])["flows"]["media"]
    assert sum(found["Lost"]) == sum(full["packets_lost"])
    assert max(found["Packet delay, ms"]) == pytest.approx(
        max(value for value in full["one_way_delay_mean_ms"] if value), abs=0.5
    )
