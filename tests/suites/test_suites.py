"""Every suite with the stand-ins for weir-sim and for calls: planned, run, judged, resumed; and wrong use."""

import json

import pytest

from weir_suites.suites import SUITES

# Options that keep a suite small, and sets that it then has.
SMALL = {
    "policy": ["--seeds", 1, "--scenarios", 2],
    "impairments": ["--only", "*-3M-video", "--only", "route-plus[24]0-4M-*", "--only", "*5.4*"],
    "safety": ["--scenarios", 2, "--set", "random", "--set", "opennetlab"],
    "send-side": ["--scenarios", 7, "--set", "random", "--set", "start", "--set", "opennetlab"],
    "calls": ["--seeds", 1],
    "opponents": ["--seeds", 1, "--scenarios", 1, "--set", "random"],
    "natural": ["--seeds", 1, "--scenarios", 7, "--set", "mixtures", "--set", "clock alone"],
    "virtual": ["--seeds", 1, "--scenarios", 2, "--set", "mixtures", "--set", "bundled"],
    "repair": ["--seeds", 1, "--scenarios", 1, "--set", "random loss", "--set", "mixtures"],
    "losses": ["--seeds", 1, "--set", "random loss", "--set", "cellular"],
    "competition": ["--seeds", 1, "--only", "*-4M-4-*", "--set", "gcc", "--set", "gcc called"],
    "shared-queues": ["--seeds", 1, "--only", "shared-20ms-*-1"],
    "layers": ["--seeds", 1, "--only", "downlink-*", "--set", "1 camera", "--set", "3 cameras"],
    "steering": ["--seeds", 1, "--scenarios", 1, "--set", "random", "--set", "mixtures"],
    "fidelity": ["--seeds", 2, "--only", "steps"],
}
# Goals that an evaluation without traces and calls decides, and others with why it does not.
MEASURED = {
    "policy": ("catalogue_utility_scream", "random_video_closed", "random_wins", "random_closed", "steady_worst",
               "random_worst_delay", "slow_50_score", "slow_25_bytes", "start", "halved", "steering",
               "own_utility_latency", "wide_worst", "jain_5.4", "rfc8867_5.6_own_share"),
    "impairments": ("families_better", "families_rule_filler", "scenarios_better", "route_below_80",
                    "start_queue", "jain_5.4-route-changes"),
    "safety": ("maximum", "shuffled", "healthy_inactive", "healthy_score", "maximum_replaced"),
    "send-side": ("random_at_sender", "start_filler_at_sender"),
    "calls": ("muses_bitrate", "scream_network", "gcc_end_to_end", "impaired_vmaf", "call_score", "link_delay",
              "cpu"),
    "opponents": (),
    "natural": ("mean_challenge_weir", "below_challenge_weir-send", "worst_challenge_weir", "clock_weir-send"),
    "virtual": ("mean_mixtures_weir", "not_below_bundled_weir-send", "frozen_mixtures_weir-send"),
    "repair": ("repair_loss_1", "repair_loss_8", "mixtures_always_weir", "mixtures_worst_never_weir-send"),
    "losses": ("bitrate_random_loss_12", "score_random_loss_7", "bitrate_cellular"),
    "competition": ("competitor_gcc_8", "competitor_gcc_called_8"),
    "shared-queues": ("shared_queues", "shared_queues_FEC_never_worst", "shared_queues_playout_unlimited"),
    "layers": ("lowered_1_camera", "fitting_3_cameras", "frozen_1_camera", "best_after_3_cameras"),
    "steering": ("steering_weir", "front_replays_weir_gcc", "front_replays_weir-send_scream"),
    "fidelity": (),
}  # fmt: skip
UNDECIDED = {
    "policy": {"opennetlab_gain": "needs the opennetlab traces", "rule_low_random": "too few scenarios",
               "rule_gain": "opennetlab"},
    "impairments": {"clock_utilisation": "the set clock was not chosen"},
    "safety": {},
    "send-side": {"opennetlab_at_sender": "needs the opennetlab traces", "route_at_sender": "was not chosen",
                  "calls_muses_20_delay": "no calls were made"},
    "calls": {},
    "opponents": {},
    "natural": {"jitter_weir": "the set jitter alone was not chosen"},
    "virtual": {"mean_cellular_weir": "the set cellular was not chosen",
                "frozen_impairments_weir-send": "the set impairments was not chosen"},
    "repair": {"bundled_always_weir": "the set bundled was not chosen"},
    "losses": {"bitrate_policer": "the set policer was not chosen"},
    "competition": {"competitor_bbr_12": "the set bbr was not chosen"},
    "shared-queues": {},
    "layers": {"lowered_6_cameras": "the set 6 cameras was not chosen"},
    "steering": {"front_bundled_weir_gcc": "the set bundled was not chosen"},
    "fidelity": {},
}  # fmt: skip


def rows_of(document, suite):
    return {row["name"]: row for row in document["suites"][suite]["rows"]}


def test_no_goal_has_two_bounds():
    goals = [goal for suite in SUITES.values() for goal in suite.goals]
    assert len({goal.name for goal in goals}) == len(goals)
    assert all(goal.source for goal in goals)


def test_a_set_is_of_replays_or_of_calls():
    for suite in SUITES.values():
        names = [runs.name for runs in (*suite.replays, *suite.calls)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_measures_what_it_can_and_says_why_not_the_rest(weir, made_calls, tmp_path, suite):
    arguments = ["--suite", suite, *SMALL[suite]]
    status, out, error = weir(*arguments, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/evaluation.json").read_text())
    rows = rows_of(document, suite)
    assert list(rows) == [goal.name for goal in SUITES[suite].goals]
    assert all(rows[name]["measured"] and rows[name]["reached"] in (True, False) for name in MEASURED[suite])
    for name, reason in UNDECIDED[suite].items():
        assert rows[name]["reached"] is None
        assert reason in rows[name]["reason"]
    # Over the sets that are there, a goal over all sets has a value.
    assert suite != "policy" or rows["rule_gain"]["value"] is not None
    assert document["decided"] == sum(row["reached"] is not None for row in rows.values())
    page = (tmp_path / "out/evaluation.html").read_text()
    assert all(row["measured"] in page for row in rows.values())
    # The same command again runs nothing.
    folder = tmp_path / "out" / suite
    made = {path: path.read_bytes() for path in folder.rglob("results.jsonl")}
    assert made or not SUITES[suite].replays
    status, out, _ = weir(*arguments)
    assert (status, {path: path.read_bytes() for path in folder.rglob("results.jsonl")}) == (0, made)
    assert " goals reached, " in out
    assert "Details: out/evaluation.html" in out


def test_all_suites_without_calls_are_the_default(weir, tmp_path):
    # Sets of all of these, and of suites that run by name alone.
    few = [word for name in ("random-*", "start-5M", "start-300k-4M-*") for word in ("--only", name)]
    status, out, _ = weir("--set", "random", "--set", "start", *few, "--scenarios", 1, "--seeds", 1, "--json")
    assert status == 0
    assert list(json.loads(out)["suites"]) == ["policy", "impairments", "safety", "send-side"]


def test_traces_complete_the_goals_of_a_policy(weir, traces):
    status, out, _ = weir("--suite", "policy", *SMALL["policy"], "--traces", traces, "--json")
    rows = rows_of(json.loads(out), "policy")
    assert status == 0
    open_ones = {name for name, row in rows.items() if row["reached"] is None}
    # Sets of fewer than six scenarios have no interval.
    assert open_ones == {f"rule_low_{name}" for name in ("opennetlab", "mahimahi", "random", "steady")}
    # The stand-in's characters: weir between gcc and oracle, ahead of rule in delay, steered by its weights.
    assert rows["opennetlab_gain"]["value"] > 0
    assert (rows["random_wins"]["value"], rows["steering"]["value"]) == (1, 1)
    assert 0 < rows["random_worst_delay"]["value"] <= 1
    assert "; 20 scenarios; " in rows["random_worst_delay"]["detail"]
    assert rows["jain_5.4"]["value"] == pytest.approx(1, abs=0.01)
    scenarios = json.loads(out)["suites"]["policy"]["sets"]["opennetlab, filler"]["scenarios"]
    assert list(scenarios) == ["opennetlab-a", "opennetlab-b"]
    assert list(scenarios["opennetlab-a"]) == ["weir", "gcc", "scream", "rule", "oracle"]


def test_the_shared_folder_of_traces_is_the_default(weir, traces, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_SHARED", str(tmp_path))
    status, out, _ = weir("--suite", "safety", "--set", "opennetlab", "--json")
    assert status == 0
    assert len(json.loads(out)["suites"]["safety"]["sets"]["opennetlab"]["scenarios"]) == 2


def test_goals_of_sets_that_were_not_chosen_are_counted_and_not_listed(weir, tmp_path):
    status, out, error = weir("--suite", "policy", "--set", "steady", "--seeds", 1)
    assert status == 0, error
    assert "steady links of 0.3, 1, 2.5, 8 and 30 Mbps, filler: worst link" in out
    assert "opennetlab traces: mean gain" not in out
    assert "30 goals of sets that were not chosen" in out
    assert "opennetlab traces: mean gain" not in (tmp_path / "out/evaluation.html").read_text()
    rows = json.loads((tmp_path / "out/evaluation.json").read_text())["suites"]["policy"]["rows"]
    assert "opennetlab_gain" in [row["name"] for row in rows]


def test_families_have_a_table_and_charts_of_their_worst_scenarios(weir, tmp_path):
    status, out, _ = weir("--suite", "impairments", *SMALL["impairments"])
    assert status == 0
    assert "Worst score against the better" in out
    document = json.loads((tmp_path / "out/evaluation.json").read_text())["suites"]["impairments"]
    assert [(row["media"], row["name"], row["scenarios"]) for row in document["families"]] == [
        ("video", "route", 2), ("video", "start", 2), ("filler", "route", 2)
    ]  # fmt: skip
    assert list(document["sets"]["route, filler"]["scenarios"]["route-plus20-4M-filler"]) == [
        "weir", "gcc", "scream", "gcc-remb", "nada", "rule"
    ]  # fmt: skip
    page = (tmp_path / "out/evaluation.html").read_text()
    assert page.count('class="chart worst"') == 7
    assert all(f'id="{one}"' in page and f'href="#{one}"' in page for one in ("family-start", "family-route-filler"))


def test_the_guard_is_reported_rule_by_rule_and_not_judged(weir):
    rows = rows_of(json.loads(weir("--suite", "safety", *SMALL["safety"], "--json")[1]), "safety")
    slew = rows["guard_slew"]
    # The stand-in does the same whatever is off.
    assert (slew["goal"], slew["reached"], slew["value"]) == (None, None, 0)
    assert slew["figures"]["weir/challenge"] == 0
    assert rows["guard_veto"]["figures"]["maximum/p95_one_way_delay_ms"] == 0


def test_the_calls_of_a_set(weir, made_calls, tmp_path):
    status, out, _ = weir("--suite", "calls", "--only", "steps", "--seeds", 1, "--set", "cellular", "--json")
    assert status == 0
    called = [(True, "weir"), (True, "gcc"), (True, "scream")]
    remb_alone = (False, "weir")
    assert {
        size: [(one.scenario.flows[0].transport_cc, one.controller) for one in calls]
        for size, calls in made_calls.items()
    } == {"calls-640x360": [*called, remb_alone], "calls-1280x720": called}
    assert {one.scenario.name for calls in made_calls.values() for one in calls} == {"steps"}
    assert len({one.out for calls in made_calls.values() for one in calls}) == 7
    rows = rows_of(json.loads(out), "calls")
    assert rows["gcc_bitrate"]["value"] == pytest.approx(1.1)
    assert rows["gcc_bitrate"]["figures"]["n"] == 2
    assert rows["transport_cc_bitrate"]["figures"]["n"] == 1
    assert rows["impaired_vmaf"]["reason"] == "the set impaired was not chosen"
    assert 'href="calls/calls-640x360/report.html"' in (tmp_path / "out/evaluation.html").read_text()


def test_pairs_of_slow_decisions_alternate(weir, made_calls):
    command = ("--suite", "calls", "--set", "slow decisions", "--only", "steady*", "--only", "handover", "--seeds", 2)
    status, out, _ = weir(*command, "--json")
    assert status == 0
    (calls,) = made_calls.values()
    assert [(one.seed, one.scenario.name, one.decision_delay_ms) for one in calls] == [
        (seed, name, ms) for seed in (1, 2) for name in ("steady-2m5", "handover") for ms in (0.0, 30.0)
    ]
    assert rows_of(json.loads(out), "calls")["slow_bitrate"]["figures"]["n"] == 4


def test_one_size_of_calls(weir, made_calls):
    weir("--suite", "calls", "--only", "steps", "--seeds", 1, "--size", "1280x720", "--json")
    assert list(made_calls) == ["calls-1280x720"]


def test_calls_at_the_sender_lose_feedback(weir, made_calls):
    status, out, _ = weir("--suite", "send-side", "--set", "muses calls", "--calls", "--json")
    assert status == 0
    (calls,) = made_calls.values()
    assert {(one.sender, one.receiver) for one in calls} == {("native", "chromium")}
    losses = [one.scenario.reverse.loss for one in calls[::2]]
    assert [loss.kind for loss in losses] == ["none", "bernoulli", "bernoulli"]
    assert [loss.ratio for loss in losses[1:]] == [0.05, 0.2]
    assert [one.controller for one in calls[:2]] == ["weir-send", "gcc"]
    assert rows_of(json.loads(out), "send-side")["calls_muses_20_bitrate"]["value"] == pytest.approx(1.1)


def test_calls_without_what_they_need_are_status_3(weir, monkeypatch, tmp_path):
    pytest.importorskip("weir_calls")
    monkeypatch.setenv("PATH", "/nowhere")
    status, _, error = weir("--suite", "safety", "--suite", "calls", "--calls", "--scenarios", 1)
    assert (status, (tmp_path / "out").exists()) == (3, False)
    assert "a call cannot be made here" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "weather"], "--suite 'weather': not known; use policy, opponents,"),
        (["--set", "weather"], "--set 'weather': not known; use catalogue, random, mahimahi,"),
        (
            ["--only", "nothing"],
            "--only 'nothing': no scenario of policy, impairments, natural, safety, send-side is chosen; "
            "sets of traces need --traces DIR",
        ),
        (["--size", "9x9"], "--size '9x9': not known; use 1280x720, 640x360"),
        (["--traces", "nowhere"], "--traces 'nowhere': no folder opennetlab/ or mahimahi/ in it"),
        (["--scenarios", "0"], "--scenarios"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(weir, options, message):
    status, out, error = weir(*options)
    assert (status, out) == (2, "")
    assert message in error


def test_a_model_that_is_not_there(run_weir, fake_simulator):
    status, _, error = run_weir("evaluate", "no.onnx")
    assert status == 2
    assert "MODEL 'no.onnx': no such file" in error


def test_a_death_is_status_1_and_the_rest_is_measured(weir, misbehave, tmp_path):
    misbehave({"gcc:1": "die"})
    status, _, error = weir("--suite", "impairments", *SMALL["impairments"], "--set", "start")
    assert status == 1
    assert "did not complete" in error
    document = json.loads((tmp_path / "out/evaluation.json").read_text())
    assert document["run"]["failures"]
    assert document["suites"]["impairments"]["families"][0]["better"] == "scream"
    rows = rows_of(document, "impairments")
    assert rows["start_queue"]["reached"] is not None
    assert rows["scenarios_better"]["reason"] == "no run of gcc on start"


def test_an_interrupted_run_keeps_what_it_has(weir, misbehave):
    misbehave({"rule:1": "interrupt parent"})
    status, _, error = weir("--suite", "impairments", *SMALL["impairments"], "--set", "start", "--jobs", "1")
    assert status == 1
    assert "kept in out/impairments: the same command goes on" in error


def test_a_refused_model_is_status_2(weir, misbehave, tmp_path):
    misbehave({"*": "refuse"})
    status, _, error = weir("--suite", "send-side", "--set", "start", "--jobs", "1")
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert "weir.schema is 9" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "natural", "--only", "natural-7"], "omit --only and --scenarios"),
        (["--suite", "natural", "--scenarios", 3], "omit --only and --scenarios"),
        (["--suite", "natural", "--set", "mixtures"], "--set of other suites"),
        ([], "is of one suite"),
        (["--suite", "natural", "--suite", "policy"], "is of one suite"),
    ],
)
def test_a_record_is_of_one_whole_suite(weir, tmp_path, options, message):
    status, _, error = weir(*options, "--record", "new.json")
    assert (status, message in error) == (2, True)


def test_a_record_of_calls_has_answers_without_transport_cc_beside_the_others(weir, made_calls, tmp_path):
    status, _, _ = weir("--suite", "calls", "--seeds", 1, "--record", "calls.json", "--json")
    assert status == 0
    values = json.loads((tmp_path / "calls.json").read_text())["values"]
    for name in ("cellular", "impaired"):
        assert values[f"{name}/weir-remb-alone/received_bitrate_bps"][0] == pytest.approx(1.1e6)
        assert values[f"{name}/weir-remb-alone-weir/received_bitrate_bps"][0] == 0
        assert values[f"{name}/weir-remb-alone-gcc/received_bitrate_bps"][0] == pytest.approx(1e5)
    assert values["impaired/weir/end_to_end_delay_ms_p95/median"] == [200]
    # Both sizes have the others alone.
    assert "cellular, all sizes/weir/received_bitrate_bps" in values
    assert "cellular, all sizes/weir-remb-alone/received_bitrate_bps" not in values


def test_a_record_of_a_set_of_calls_names_it(weir, made_calls, tmp_path):
    part = ("--set", "cellular", "--size", "640x360", "--seeds", 1)
    status, _, _ = weir("--suite", "calls", *part, "--record", "calls.json", "--json")
    assert status == 0
    found = json.loads((tmp_path / "calls.json").read_text())
    assert found["command"] == "weir evaluate --suite calls --set cellular --size 640x360 --seeds 1"
    assert {key.partition("/")[0] for key in found["values"]} == {"cellular", "goals"}


def test_a_record_replaces_no_other_file(weir, tmp_path):
    (tmp_path / "mine.json").write_text('{"mine": 1}\n')
    (tmp_path / "notes.txt").write_text("mine\n")
    for path in ("mine.json", "notes.txt", "nosuch/new.json", "."):
        status, _, error = weir("--suite", "natural", "--record", path)
        assert (status, f"--record '{path}'" in error) == (2, True)
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine\n"
