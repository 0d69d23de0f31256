"""The command as a user meets it: exit status, messages, files."""

import json
import os
import subprocess
import sys

import pytest
from html_page import table_of

from weir_sim.controllers import COMPARED
from weir_traces.catalogue import load_bundled

TRACE = "time_s,rate_bps\n0,1000000\n5,2000000\n10,1000000\n"


@pytest.fixture
def weir(fake_simulator, run_weir):
    """Runs `weir ARGUMENTS` in an empty folder; returns status, standard output, standard error."""
    return run_weir


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "trace.csv").write_text(TRACE)
    return "trace.csv"


def test_faults_of_a_trace_are_refused_or_shown(weir, tmp_path):
    pattern = [{"duration": 500, "capacity": 1000}] * 20 + [{"duration": 500, "capacity": -5}] * 7
    (tmp_path / "spikes.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    options = ["--controller", "rule", "--seeds", "1", "--out", "here"]
    status, _, error = weir("replay", "spikes.json", *options)
    assert status == 2
    assert "--repair" in error
    status, _, error = weir("replay", "spikes.json", "--repair", *options)
    assert status == 0
    assert error.count("repair: 0 bit/s") == 5
    assert "'weir traces validate' shows all" in error


def test_replay_writes_its_files_and_report_makes_them_again(weir, trace, tmp_path):
    status, out, error = weir(
        "replay", trace, "--controller", "gcc", "--controller", "rule", "--seeds", "2", "--out", "here"
    )
    assert (status, error) == (0, "")
    assert "gcc" in out
    assert "report.html" in out
    assert {path.name for path in (tmp_path / "here").iterdir()} == {
        "results.jsonl",
        "summary.json",
        "report.html",
        "series",
    }
    before = json.loads((tmp_path / "here/summary.json").read_text())
    assert list(before["scenarios"]) == ["trace"]
    assert (before["run"]["runs"], before["run"]["seeds"]) == (4, [1, 2])
    for name in ("report.html", "summary.json"):
        kept = tmp_path / f"kept-{name}"
        kept.write_bytes((tmp_path / "here" / name).read_bytes())
    (tmp_path / "here/report.html").unlink()
    status, _, error = weir("report", "here", "--out", "there")
    assert (status, "--out 'there': is for a dump" in error) == (2, True)
    assert weir("report", "here")[0] == 0
    assert json.loads((tmp_path / "here/summary.json").read_text()) == before
    assert (tmp_path / "here/report.html").read_bytes() == (tmp_path / "kept-report.html").read_bytes()


def test_the_page_of_a_replay_has_the_scores_of_each_controller(run_weir, real_simulator, trace, tmp_path):
    options = ["--controller", "weir", "--controller", "rule", "--duration", "2", "--seeds", "0"]
    status, _, error = run_weir("replay", trace, *options, "--out", "here")
    assert status == 0, error
    summary = json.loads((tmp_path / "here/summary.json").read_text())
    rows = table_of((tmp_path / "here/report.html").read_text(), "headline")
    assert rows[0][:2] == ["Controller", "Utility of 100 ↑"]
    # Best first.
    means = {name: values["utility"]["mean"] for name, values in summary["controllers"].items()}
    best_first = sorted(means, key=means.get, reverse=True)
    assert set(means) == {"weir", "rule"}
    assert [row[:2] for row in rows[1:]] == [[name, f"{means[name]:.1f}"] for name in best_first]


def test_options_reach_the_simulator(weir, trace, tmp_path):
    status, _, error = weir(
        "replay", trace, "--controller", "fixed", "--seeds", "0", "--objective", "8,1,1", "--one-way-delay", "70",
        "--duration", "7", "--jobs", "1", "--loss", "0.01", "--queue", "50pkt", "--out", "here",
    )  # fmt: skip
    assert (status, error) == (0, "")
    record = json.loads((tmp_path / "here/results.jsonl").read_text())
    assert record["objective"] == [0.8, 0.1, 0.1]
    assert record["path"]["one_way_delay_ms"] == 70
    assert record["duration_s"] == 7


def test_a_folder_holds_runs_with_video_or_with_filler_never_both(weir, trace, tmp_path):
    own = load_bundled("steps").to_dict()
    own |= {"name": "own", "flows": [{"kind": "rtp", "media": {"kind": "filler", "max_rate_bps": 1e6}}]}
    (tmp_path / "own.json").write_text(json.dumps(own))

    moved = []

    def media(*options):
        status, _, error = weir("replay", trace, "catalogue/step-down-up", "own.json", "--controller", "gcc", "--seeds",
                                "1", "--out", "here", *options)  # fmt: skip
        assert status == 0
        moved.append(error)
        records = map(json.loads, (tmp_path / "here/results.jsonl").read_text().splitlines())
        found = {record["scenario"]: record["media"]["media"] for record in records}
        return [(found[name]["kind"], found[name]["max_rate_bps"]) for name in ("trace", "step-down-up", "own")]

    assert media() == [("video", 2.5e6), ("video", 2.5e6), ("filler", 1e6)]
    assert "media (video to 2.5 Mbps)" in (tmp_path / "here/report.html").read_text()
    assert media("--media", "filler") == [("filler", 50e6), ("filler", 50e6), ("filler", 1e6)]
    assert media("--media", "video") == [("video", 2.5e6)] * 3
    assert media("--max-bitrate", "4M") == [("video", 4e6)] * 3
    note = (
        "weir: here: {} results that this command does not use moved to results.previous.jsonl; to report them, copy "
        "it to results.jsonl of another folder\n"
    )
    notes = [note.format(count) for count in (2, 3, 3)]
    assert moved == ["", *notes]
    (tmp_path / "earlier").mkdir()
    (tmp_path / "here/results.previous.jsonl").rename(tmp_path / "earlier/results.jsonl")
    assert weir("report", "earlier")[0] == 0
    # The one of these runs that was of the second command, too, stayed until the third.
    assert len((tmp_path / "earlier/results.jsonl").read_text().splitlines()) == 2 + 3 + 3


def test_the_terminal_has_the_warning_of_the_page_on_modeled_lip_sync(weir, trace, tmp_path, monkeypatch):
    sync = "In 1 of 1 run most of the end-to-end delay is the wait for audio (lip sync), which a replay models; check"
    assert sync not in weir("replay", trace, "--controller", "gcc", "--seeds", "1", "--out", "here")[1]
    results = tmp_path / "here/results.jsonl"
    record = json.loads(results.read_text())
    record["metrics"]["run"]["lip_sync_share"] = 0.6
    results.write_text(json.dumps(record) + "\n")
    assert sync in weir("report", "here")[1]
    assert sync in weir("replay", trace, "--controller", "gcc", "--seeds", "1", "--out", "here")[1]
    page = (tmp_path / "here/report.html").read_text()
    assert "Dashed: other traffic on the path. Dotted: the path" in page


def test_the_model_is_also_run_under_other_objectives(weir, trace, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"model")
    command = ("replay", trace, "--controller", "weir", "--controller", "gcc", "--model", "m.onnx", "--seeds", "1")
    status, out, error = weir(*command, "--objectives", "3", "--out", "here")
    assert (status, error) == (0, "")
    assert "2 runs in" in out
    summary = json.loads((tmp_path / "here/summary.json").read_text())
    assert summary["run"]["planned"] == 2
    assert len(summary["objectives"]["fan"]) == 3
    page = (tmp_path / "here/report.html").read_bytes()
    assert b'id="objectives"' in page
    assert weir("report", "here")[0] == 0
    assert json.loads((tmp_path / "here/summary.json").read_text()) == summary
    assert (tmp_path / "here/report.html").read_bytes() == page
    # Left out, also of what an earlier replay has left.
    assert weir(*command, "--objectives", "0", "--out", "here")[0] == 0
    assert "objectives" not in json.loads((tmp_path / "here/summary.json").read_text())
    assert weir("report", "here")[0] == 0
    assert b'id="objectives"' not in (tmp_path / "here/report.html").read_bytes()


def test_families_have_a_section_and_change_no_other_number(weir, trace, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"model")
    command = ("replay", trace, "--controller", "weir", "--controller", "gcc", "--controller", "oracle", "--model",
               "m.onnx", "--seeds", "2", "--objectives", "0", "--out", "here")  # fmt: skip
    assert weir(*command)[0] == 0
    alone = json.loads((tmp_path / "here/summary.json").read_text())
    assert weir(*command, "--families")[0] == 0
    summary = json.loads((tmp_path / "here/summary.json").read_text())
    families = summary.pop("families")
    assert [summary[key] for key in ("controllers", "scenarios", "paired")] == [
        alone[key] for key in ("controllers", "scenarios", "paired")
    ]
    assert summary["run"]["runs"] == alone["run"]["runs"]
    # Video first; content is of video alone.
    assert [row["media"] for row in families] == ["video"] * 14 + ["filler"] * 12
    assert all(row["scenarios"] == 2 and set(row["scores"]) == {"weir", "gcc"} for row in families)
    page = (tmp_path / "here/report.html").read_bytes()
    assert page.index(b'id="families-video"') < page.index(b'id="families-filler"')
    assert weir("report", "here")[0] == 0
    assert (tmp_path / "here/report.html").read_bytes() == page
    # Left out, also of what an earlier replay has left.
    assert weir(*command)[0] == 0
    assert b'id="families-' not in (tmp_path / "here/report.html").read_bytes()


def test_seed_0_is_the_trace_as_written_and_one_scenario_gives_no_interval(weir, trace, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"model")
    command = ("replay", trace, "--controller", "weir", "--controller", "gcc", "--model", "m.onnx", "--objectives", "0")

    def run(seeds):
        status, out, _ = weir(*command, "--seeds", seeds, "--out", f"out{seeds}")
        assert status == 0
        return out, [json.loads(line) for line in (tmp_path / f"out{seeds}/results.jsonl").read_text().splitlines()]

    out, records = run(0)
    assert [(record["seed"], record["variation"]) for record in records] == [(0, {})] * 2
    assert "weir against gcc: Call quality " in out
    assert "1 independent scenario, 1 seed: intervals need 6 independent traces, not more seeds.\n" in out
    out, records = run(2)
    assert "1 independent scenario, 2 seeds: intervals need" in out
    # Table, verdict and place of the report.
    assert len(out.splitlines()) <= 12
    page = (tmp_path / "out2/report.html").read_text()
    assert 'id="viewer"' in page
    # They would repeat the means.
    assert 'id="scenarios"' not in page
    assert 'id="worst"' not in page
    drawn = {(record["seed"], json.dumps(record["variation"])) for record in records}
    assert len(drawn) == len({text for _, text in drawn}) == 2
    (row,) = [
        row
        for row in json.loads((tmp_path / "out2/summary.json").read_text())["paired"]
        if row["metric"] == "challenge"
    ]
    assert (row["ci95"], row["independent"], row["wins"], row["n"]) == ([None, None], 1, 1, 2)


def test_pass_and_fail_for_scripts(weir, trace, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"model")
    command = ("replay", trace, "--controller", "weir", "--controller", "gcc", "--model", "m.onnx", "--seeds", 2,
               "--objectives", "0", "--out", "here")  # fmt: skip
    status, out, error = weir(*command, "--require", "utility>=gcc", "--require", "utilisation<=0.01")
    assert (status, error) == (1, "")
    met, unmet = (line for line in out.splitlines() if line.startswith("required"))
    assert met.startswith("required utility>=gcc: weir - gcc +")
    assert met.endswith(": met")
    assert unmet.endswith(": NOT MET")
    status, out, error = weir(*command, "--require", "utility>=gcc", "--json")
    assert (status, json.loads(out)["run"]["reference"], error.strip()) == (0, "gcc", met)
    assert json.loads(out) == json.loads((tmp_path / "here/summary.json").read_text())
    before = (tmp_path / "here/results.jsonl").read_bytes()
    for wrong in ("utility", "nothing>=1", "utility>=scream"):
        status, out, error = weir(*command, "--require", wrong)
        assert (status, out, len(error.splitlines())) == (2, "", 1)
        assert f"--require '{wrong}'" in error
    assert (tmp_path / "here/results.jsonl").read_bytes() == before


def test_the_reference_of_a_replay_and_of_its_report(weir, trace, tmp_path):
    command = (
        "replay",
        trace,
        *(f"--controller={name}" for name in ("gcc", "rule", "nada")),
        "--seeds",
        1,
        "--out",
        "here",
    )

    def pairs():
        summary = json.loads((tmp_path / "here/summary.json").read_text())
        return summary["run"]["reference"], sorted({(row["a"], row["b"]) for row in summary["paired"]})

    status, out, _ = weir(*command, "--reference", "rule")
    assert status == 0
    assert "gcc against rule: Call quality" in out
    assert pairs() == ("rule", [("gcc", "rule"), ("nada", "rule")])
    # A report keeps it, unless it gets another.
    assert weir("report", "here")[0] == 0
    assert pairs()[0] == "rule"
    assert weir("report", "here", "--reference", "nada")[0] == 0
    assert pairs() == ("nada", [("gcc", "nada"), ("rule", "nada")])
    status, _, error = weir("report", "here", "--reference", "weir")
    assert (status, "--reference 'weir': does not run; use one of gcc, nada, rule" in error) == (2, True)
    # A summary of before there was a reference.
    path = tmp_path / "here/summary.json"
    older = json.loads(path.read_text())
    del older["run"]["reference"]
    path.write_text(json.dumps(older))
    assert weir("report", "here")[0] == 0
    assert pairs()[0] == "gcc"
    assert weir(*command, "--reference", "weir")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "missing.csv: no such file"),
        (["catalogue/nothing"], 'no bundled scenario "nothing"'),
        (["trace.csv", "--controller", "gccc"], "--controller 'gccc': not known; did you mean gcc? use weir, gcc"),
        (["trace.csv", "--objective", "1,2"], "--objective '1,2': give three weights"),
        (["trace.csv", "--objective", "fast"], "--objective 'fast': give three weights"),
        (["trace.csv", "--objective", "nan,1,1"], "--objective 'nan,1,1': give three weights"),
        (["trace.csv", "--queue", "12 parsecs"], "write milliseconds (300)"),
        (["trace.csv", "--loss", "1.5"], "--loss"),
        (["trace.csv", "--media", "audio"], "--media"),
        (["trace.csv", "--media", "filler", "--max-bitrate", "4M"], "--max-bitrate: limits video"),
        (["trace.csv", "--max-bitrate", "much"], "rate 'much': write bit/s"),
        (["trace.csv", "--max-bitrate", "20k"], "trace: flows[0]: media.max_rate_bps (20000) must be at least"),
        (["trace.csv", "--seeds", "-1"], "--seeds"),
        (["trace.csv", "--model", "no.onnx"], "--model 'no.onnx': no such file"),
        (["trace.csv", "trace.csv"], "'trace'"),
        ([], "missing argument 'TRACE_OR_SCENARIO...'"),
        (["trace.csv", "--nonsense"], "--nonsense"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(weir, trace, arguments, message):
    status, out, error = weir("replay", *arguments, "--out", "here")
    assert status == 2
    assert message in error
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "message"),
    [
        (["gcc"], {"WEIR_SIM": "/nowhere/weir-sim"}, 3, "/nowhere/weir-sim"),
        (["gcc"], {"FAKE_WEIR_SIM": '{"version": "fail"}'}, 3, "libns3.so"),
        (["gcc", "--seeds", "5"], {"FAKE_WEIR_SIM": '{"*": "die"}'}, 1, "assertion failed"),
        (
            ["weir", "--model", "bad.onnx", "--jobs", "1"],
            {"FAKE_WEIR_SIM": '{"*": "refuse"}'},
            2,
            "trace, weir, seed 1: model bad.onnx: weir.schema is 9",
        ),
    ],
    ids=["missing", "does not start", "always dies", "refuses the model"],
)
def test_a_simulator_that_cannot_run_is_one_message(weir, trace, tmp_path, arguments, environment, status, message):
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    found, out, error = weir("replay", trace, "--out", "here", "--controller", *arguments, **environment)
    assert (found, out, message in error) == (status, "", True), error
    assert not (tmp_path / "here").exists()


def test_a_death_is_status_1_and_the_rest_is_reported(weir, trace, tmp_path):
    status, out, error = weir(
        "replay", trace, "--controller", "gcc", "--seeds", "3", "--out", "here", FAKE_WEIR_SIM='{"gcc:2": "die"}'
    )
    assert status == 1
    assert "1 run did not complete" in error
    assert "trace, gcc, seed 2: weir-sim was killed by SIGABRT" in error
    assert "2 runs" in out
    assert "did not complete" in (tmp_path / "here/report.html").read_text()


def test_report_of_a_folder_without_results(weir, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/results.jsonl").write_text("")
    for folder, message in (
        ("nowhere", "nowhere: no such file"),
        ("empty", "empty: no results.jsonl in it; give a folder that"),
        ("begun", "begun: no run is complete yet in results.jsonl; the command that wrote it goes on"),
    ):
        status, _, error = weir("report", folder)
        assert (status, message in error) == (2, True), error
    assert "--csv" in weir("report", "--help")[1]


def test_the_help_of_replay_begins_with_what_is_most_used(weir):
    short, whole = (weir("replay", option)[1].splitlines() for option in ("--help", "--help-all"))
    assert len(short) < 20 < 80 < len(whole)
    assert "--controller NAME" in "\n".join(short)
    words = " ".join(" ".join(short).split())
    assert f"Default: {', '.join(COMPARED)}." in words
    assert "Default: 5." in words
    assert short[-1].endswith("more: weir replay --help-all")
    assert "--require RULE" in "\n".join(whole)


def test_doctor_without_the_simulator_is_status_3_and_no_path_is_wrapped(weir):
    simulator = "/nowhere/" + "/".join(["a folder"] * 40) + "/weir-sim"
    status, out, error = weir("doctor", WEIR_SIM=simulator)
    assert status == 3
    assert simulator in out
    assert not any(line.endswith(" ") for line in out.splitlines())
    assert "weir-sim" in error


@pytest.mark.parametrize(
    ("act", "run", "message", "kept"),
    [
        (
            "interrupt parent",
            "rule:1",
            "1 run kept in here: the same command goes on, 'weir report here' shows",
            1,
        ),
        ("terminate parent", "rule:1", "1 run kept in here", 1),
        ("interrupt parent", "gcc:1", "nothing is kept in here: the same command starts again\n", 0),
    ],
)
def test_ctrl_c_and_sigterm_are_status_1_and_keep_what_is_complete(
    tmp_path, trace, fake_simulator, act, run, message, kept
):
    """The real command in a process of its own: the only one that does not come back by itself."""
    command = [sys.executable, "-c", "from weir_cli.main import main; main()", "replay", trace]
    command += ["--controller", "gcc", "--controller", "rule", "--seeds", "1", "--jobs", "1", "--out", "here"]
    environment = {**os.environ, "FAKE_WEIR_SIM": json.dumps({run: act})}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=120, env=environment, check=False
    )
    assert done.returncode == 1
    assert f"interrupted; {message}" in done.stderr
    assert "Traceback" not in done.stderr
    assert len((tmp_path / "here/results.jsonl").read_text().splitlines()) == kept


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(tmp_path, closed):
    command = f"'{sys.executable}' -c 'from weir_cli.main import main; main()' traces list {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_report_compares_a_folder_with_another_setting_of_its_scenarios(weir, trace, tmp_path):
    command = ["replay", trace, "--controller", "gcc", "--controller", "rule", "--objectives", "0", "--series", "none"]
    for out, delay, seeds in (("short", "20", "2"), ("long", "60", "1")):
        assert weir(*command, "--one-way-delay", delay, "--seeds", seeds, "--out", out)[0] == 0
    status, out, error = weir("report", "short", "--against", "long")
    assert (status, error) == (0, "")
    assert "gcc here against gcc in long: " in out
    assert "rule here against rule in long: Call quality " in out
    summary = json.loads((tmp_path / "short/summary.json").read_text())
    found = summary["against"]
    assert (found["folder"], found["runs"], found["unpaired_here"], found["unpaired_there"]) == ("long", 2, 2, 0)
    assert " --one-way-delay 60 " in found["command"]
    assert list(found["differing"]) == ["path.one_way_delay_ms"]
    assert {row["a"] for row in found["paired"]} == {row["b"] for row in found["paired"]} == {"gcc", "rule"}
    page = " ".join((tmp_path / "short/report.html").read_text().split())
    assert "rule here against rule in long</b>: Call quality " in page
    assert "rule against gcc</b>: Call quality " not in page
    # A report without the option has no comparison.
    assert weir("report", "short")[0] == 0
    assert "against" not in json.loads((tmp_path / "short/summary.json").read_text())
    assert json.loads(weir("report", "short", "--against", "long", "--json")[1])["against"] == found


def test_report_refuses_what_it_cannot_compare_with(weir, results, tmp_path):
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls/results.jsonl").write_text(
        (results / "results.jsonl").read_text().replace('{"', '{"call":{},"', 1)
    )
    for against, message in (
        ("nowhere", "nowhere: no such file"),
        ("trace.csv", "--against 'trace.csv': is a file; give the folder of its results"),
        ("here", "--against 'here': is here itself; give another folder"),
        (".", ".: no results.jsonl in it; give a folder that"),
        ("calls", "holds calls and no replays; choose another folder"),
    ):
        status, _, error = weir("report", "here", "--against", against)
        assert (status, message in error) == (2, True), error
