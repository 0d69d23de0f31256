from hand_made import run_record

from weir_eval.measures.summary import summarise
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import RunAbout, Summary
from weir_eval.report.display import dated
from weir_eval.report.goal_table import Bound, GoalRow, reached_text, rows_document
from weir_eval.report.text import paired_sentences, print_means, sample_text, too_few_text


def row(other, metric, mean, ci95, wins=21, losses=0, independent=26, n=130, **more):
    return PairedRow(
        a="weir", b=other, metric=metric, mean=mean, ci95=ci95, wins=wins, losses=losses, independent=independent, n=n,
        **more,
    )  # fmt: skip


def sentences(paired, reference="gcc"):
    about = RunAbout(reference=reference)
    return paired_sentences(Summary(run=about, metrics={}, controllers={}, scenarios={}, paired=paired))


def test_paired_differences_in_words_the_viewers_first():
    paired = [
        row("scream", "challenge", 0.5, [None, None], wins=1, losses=1, independent=3, n=8, agreeing=5),
        row("gcc", "challenge", 6.64, [4.5, 9.8], wins=24),
        row("gcc", "utility", 9.41, [-0.1, 14.5]),
        row("gcc", "loss_ratio", -0.1, [-0.2, 0.0]),
        row("gcc", "freeze_count", 1.52, [0.2, 2.7], wins=3, losses=20),
        row("gcc", "frozen_share", -0.0123, [-0.02, -0.01]),
        row("gcc", "frame_delay_ms_p95", 46, [10, 121], wins=0, losses=21),
        row("rule", "challenge", 0.1, [0.0, 0.2]),
    ]
    scream, gcc = sentences(paired, "scream")
    assert str(gcc).splitlines() == [
        "weir against gcc, 26 independent scenarios, 5 seeds each",
        "  Freezes +1.5 [+0.2, +2.7]: better in 3, worse in 20, level in 3",
        "  Frozen −1.23 points [−2.00, −1.00]: better in 21, worse in 0, level in 5",
        "  Frame delay, p95 +46 ms [+10, +121]: better in 0, worse in 21, level in 5",
        "  Utility +9.4 [−0.1, +14.5]: better in 21, worse in 0, level in 5",
        "  Challenge score +6.6 [+4.5, +9.8]: better in 24, worse in 0, level in 2",
    ]
    # A colour is given only where the interval excludes 0, and more may be worse.
    assert [difference.kind for difference in gcc.differences] == ["bad", "good", "bad", "even", "good"]
    assert str(scream).splitlines() == [
        "weir against scream, 3 independent scenarios, 8 runs",
        "  Challenge score +0.5: better in 1, worse in 1, level in 1",
    ]
    assert (scream.has_intervals, scream.verdict) == (False, "Challenge score +0.5: better in 5 of 8 runs")
    assert scream.basis == "3 independent scenarios, 8 runs: intervals need 6 independent traces, not more seeds."
    # The decisive measures, the viewer's first.
    assert gcc.verdict == (
        "Challenge score +6.6 [+4.5, +9.8]: better; Frozen −1.23 points [−2.00, −1.00]: better; "
        "Frame delay, p95 +46 ms [+10, +121]: worse; Freezes +1.5 [+0.2, +2.7]: worse"
    )
    assert gcc.basis == (
        "26 independent scenarios, 5 seeds each. Better or worse: the measure's 95 % interval excludes 0, and most "
        "scenarios agree."
    )
    assert scream.differences[0].kind == "even"
    assert sentences([]) == []


def test_without_an_interval_a_verdict_names_the_direction_and_the_seeds_that_have_it():
    single = {"wins": 1, "independent": 1, "n": 5, "agreeing": 5}
    (gcc,) = sentences(
        [
            row("gcc", "viewer_quality", 6.2, [None, None], **single),
            row("gcc", "frozen_share", -0.013, [None, None], **single),
            row("gcc", "freeze_count", 0.0, [None, None], **single | {"wins": 0}),
            row("gcc", "frame_delay_ms_p95", -11, [None, None], **single | {"agreeing": None}),
            row("gcc", "end_to_end_delay_ms_p95", 24, [None, None], **single | {"wins": 0, "agreeing": 3}),
        ]
    )
    assert gcc.verdict == (
        "Viewer's quality +6.2: better in 5 of 5 seeds; Frozen −1.30 points: better in 5 of 5 seeds; "
        "End-to-end delay, p95 +24 ms: worse in 3 of 5 seeds"
    )
    # With one scenario there is nothing to count.
    assert [str(difference).rpartition(": ")[2] for difference in gcc.differences] == [
        "better in 5 of 5 seeds", "level", "better in 5 of 5 seeds", "worse in 3 of 5 seeds", "lower",
    ]  # fmt: skip


def test_an_interval_with_0_in_it_is_neither_better_nor_worse():
    (gcc,) = sentences([row("gcc", "viewer_quality", 1.1, [-0.1, 3.9])])
    assert gcc.verdict == "Viewer's quality +1.1 [−0.1, +3.9]: not told apart"


def test_a_small_difference_is_not_printed_as_none():
    """An interval that excludes 0 shows that it does; one that does not has the decimals of its measure."""
    paired = [row("gcc", "challenge", 0.02, [0.004, 0.03]), row("gcc", "utility", 0.02, [-0.04, 0.1])]
    (gcc,) = sentences(paired)
    assert [str(difference).partition(":")[0] for difference in gcc.differences] == [
        "Utility 0.0 [0.0, +0.1]",
        "Challenge score +0.020 [+0.004, +0.030]",
    ]


def test_the_terminal_names_the_runs_behind_the_means(capsys):
    def record(scenario, controller, score):
        measures = dict.fromkeys(MEASURES.of("replay")) | {"challenge": score}
        return run_record(scenario=scenario, controller=controller, seed=1, measures=measures)

    records = [record("easy", "weir", 90), record("hard", "weir", 50)]
    print_means(summarise(records, RunAbout()), ["challenge"])
    assert "Means over" not in capsys.readouterr().out
    print_means(summarise([*records, record("easy", "dies", 95)], RunAbout()), ["challenge"])
    out = capsys.readouterr().out
    assert "Means over the runs that all with a mean have completed: 1 independent scenario, 1 seed" in out


def test_words_for_the_sample():
    assert too_few_text(5) == "too few scenarios for an interval (5)"
    assert sample_text(26, 130) == "26 independent scenarios, 5 seeds each"
    assert sample_text(1, 5) == "1 independent scenario, 5 seeds"
    assert sample_text(3, 8) == "3 independent scenarios, 8 runs"


def test_bounds_and_verdicts():
    bound = Bound("at least", 0.6, "%", scale=100, decimals=0)
    assert (str(bound), bound.met(0.6), bound.met(0.59)) == ("at least 60 %", True, False)
    strict = Bound("at most", 0.0, strict=True, signed=True)
    assert (str(strict), strict.met(0.0), strict.met(-0.1)) == ("below 0.00", False, True)
    assert strict.show(1.5) == "+1.50"
    assert GoalRow("n", "w", bound, 0.7, "70 %", True).verdict == "yes"
    assert GoalRow("n", "w", bound, measured="never", reached=False).verdict == "no"
    assert GoalRow("n", "w", bound, reason="no traces").verdict == "not measured: no traces"


def test_figures_without_a_bound_are_reported_and_not_counted():
    bound = Bound("at least", 0.6)
    reached = GoalRow("a", "w", bound, 0.7, "0.70", True)
    rows = [reached, GoalRow("b", "w", bound, reason="why"), GoalRow("c", "w", None, 0.1, "0.1")]
    assert reached_text(rows) == "1 of 1 goals reached, 1 not decided."
    document = rows_document("s", rows, {})
    assert (document["reached"], document["decided"], document["rows"][2]["goal"]) == (1, 1, None)
    assert (rows[2].bound, rows[2].verdict) == ("", "")


def test_an_old_libwebrtc_version_follows_the_names_of_its_controllers():
    assert dated("gcc", "2023-01") == "gcc (2023-01)"
    assert dated("weir against gcc-remb", "2023-01") == "weir against gcc-remb (2023-01)"
    assert dated("gcc", "150.0.7871.124") == dated("gcc", "") == "gcc"
    assert dated("weir, rule, my-gcc", "2023-01") == "weir, rule, my-gcc"
    assert dated("scream and pcc", "2023-01") == "scream and pcc (2023-01)"  # that of 2023 has no scream


def test_without_an_interval_seeds_against_the_mean_are_named():
    some = {"wins": 1, "losses": 0, "independent": 1, "n": 8}
    (gcc,) = sentences(
        [
            row("gcc", "frozen_share", -0.0436, [None, None], **some, agreeing=2, opposing=6, median=0.003),
            row("gcc", "freeze_count", -0.25, [None, None], **some, agreeing=2, opposing=0, median=0.0),
            row("gcc", "viewer_quality", 4.7, [None, None], **some, agreeing=8, opposing=0, median=4.0),
        ]
    )
    assert [difference.word for difference in gcc.differences] == [
        "better in 8 of 8 seeds",
        "better in 2, level in 6 of 8 seeds, median 0.0",
        "better in 2, worse in 6 of 8 seeds, median +0.30: mean and majority disagree",
    ]


def test_an_interval_without_0_is_no_verdict_against_the_majority_of_scenarios():
    (gcc,) = sentences([row("gcc", "viewer_quality", -0.4, [-0.8, -0.1], wins=4, losses=3, independent=7, n=14)])
    assert gcc.differences[0].word == "not told apart"


def test_measures_that_are_worse_are_in_the_verdict():
    (gcc,) = sentences(
        [
            row("gcc", "end_to_end_delay_ms_p95", -80, [-120, -40]),
            row("gcc", "frame_delay_ms_p95", 40, [10, 82], wins=1, losses=7),
        ]
    )
    assert gcc.verdict == "End-to-end delay, p95 −80 ms [−120, −40]: better; Frame delay, p95 +40 ms [+10, +82]: worse"


def test_a_better_picture_is_in_the_verdict_and_a_worse_delay_only_once():
    (gcc,) = sentences(
        [
            row("gcc", "call_quality", 0.2, [-0.4, 0.8]),
            row("gcc", "viewer_quality", 2.0, [1.0, 3.0]),
            row("gcc", "end_to_end_delay_ms_p50", 30, [10, 50], wins=1, losses=7),
            row("gcc", "end_to_end_delay_ms_p95", 80, [40, 120], wins=1, losses=7),
            row("gcc", "frame_delay_ms_p95", 40, [10, 82], wins=1, losses=7),
        ]
    )
    measures = [part.partition(" +")[0] for part in gcc.verdict.split("; ")]
    assert measures == ["Call quality", "End-to-end delay, p95", "Viewer's quality", "End-to-end delay, median"]


def test_means_are_best_first_then_planned_controllers_without_a_run(capsys):
    made = [
        run_record(controller=name, seed=seed, measures={"call_quality": quality})
        for name, quality in (("weir", 60.0), ("gcc", 70.0))
        for seed in (1, 2)
    ]
    print_means(summarise(made, RunAbout(planned=6)), ("call_quality",), ("weir", "gcc", "mine"))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-3:]]
    assert rows == [["gcc", "70.0", "2"], ["weir", "60.0", "2"], ["mine", "–", "0", "of", "2"]]
