from pathlib import Path

import pytest
from hand_made import call_record, run_record

from weir_cli.errors import InputError
from weir_eval.measures.against import compare_with
from weir_eval.measures.statistics import MINIMUM_SCENARIOS
from weir_eval.measures.summary import summarise
from weir_eval.records.against import Against
from weir_eval.records.record import Metrics
from weir_eval.records.summary import RunAbout
from weir_eval.report.sections.against import against_section
from weir_eval.report.text import against_sentences, print_against

SCENARIOS = [f"path {number}" for number in range(MINIMUM_SCENARIOS)]


def runs(offset, controllers=("weir", "gcc"), scenarios=SCENARIOS, seeds=(1, 2), **fields):
    """Records whose call quality grows with the scenario; `offset` is for `weir` alone."""
    return [
        run_record(
            fields,
            scenario=scenario,
            controller=name,
            seed=seed,
            measures={"call_quality": 50.0 + place + seed / 10 + (offset + place / 100) * (name == "weir")},
        )
        for name in controllers
        for place, scenario in enumerate(scenarios)
        for seed in seeds
    ]


def compared(here, there, **about):
    summary = summarise(here, RunAbout(**about))
    found = compare_with(summary, here, there, Path("before"), "weir replay", "replay")
    return summary.model_copy(update={"against": found})


def test_a_controller_is_paired_with_itself_by_scenario_and_seed():
    found = compared(runs(3.0), runs(0.0, seeds=(2, 3), scenarios=[*SCENARIOS, "only there"])).against
    # Seed 2 alone is in both.
    assert (found.runs, found.unpaired_here, found.unpaired_there) == (12, 12, 16)
    weir, gcc = found.paired
    assert (weir.a, weir.b, weir.metric, weir.n, weir.independent) == ("weir", "weir", "call_quality", 6, 6)
    assert weir.mean == pytest.approx(3.0)
    assert weir.ci95 == pytest.approx((3.0, 3.0), abs=1e-6)
    assert (gcc.mean, found.equal) == (0.0, 6)
    assert found.scenarios["path 1"]["weir"]["call_quality"] == pytest.approx((54.21, 51.21))
    assert Against.model_validate_json(found.model_dump_json()) == found


def test_the_verdict_is_of_judged_controllers_first_and_has_the_interval():
    sentences, other = against_sentences(compared(runs(3.0), runs(0.0)))
    assert other.pair == "gcc here against gcc in before"
    assert sentences.pair == "weir here against weir in before"
    assert sentences.verdict == "Call quality +3.0 [+3.0, +3.0]: better"
    # Without one that is judged in both, of all.
    others = [sentences.pair for sentences in against_sentences(compared(runs(3.0), runs(0.0, ("gcc",))))]
    assert others == ["gcc here against gcc in before"]


def test_the_terminal_names_the_setting_and_five_controllers(capsys):
    names = ("weir", "gcc", "nada", "rule", "fixed", "oracle")
    summary = summarise(runs(3.0, names), RunAbout(command="weir replay a.up --loss 0.05"))
    found = compare_with(summary, runs(3.0, names), runs(0.0, names), Path("before"), "weir replay a.up", "replay")
    print_against(summary.model_copy(update={"against": found}))
    setting, *lines = capsys.readouterr().out.splitlines()
    assert setting == "Differing from before: --loss: 0.05 here, not given there"
    assert lines[1].startswith("weir here against weir in before: Call quality +3.0")
    assert sum(" here against " in line for line in lines) == 5


def test_scenarios_of_one_capture_count_once():
    copies = {"path 1": "path 0"}
    found = compared(runs(3.0), runs(0.0), near_copies=copies).against
    assert found.paired[0].independent == MINIMUM_SCENARIOS - 1
    assert found.paired[0].ci95 == (None, None)


def test_settings_that_differ_are_named():
    path = {"one_way_delay_ms": 25.0, "mean_capacity_bps": 1e6, "queue_bytes": 37500}
    longer = runs(0.0, path=path | {"queue_bytes": 75000}, model_sha256="ab", duration_s=10.0)
    assert compared(runs(3.0), longer).against.differing == {
        "path.queue_bytes": "37500.0 here, 75000.0 there",
        "model_sha256": "none here, ab there",
    }
    mixed = [*runs(0.0, scenarios=SCENARIOS[:2], path=path | {"queue_bytes": 1}), *longer[4:]]
    assert compared(runs(3.0), mixed).against.differing["path.queue_bytes"] == (
        "37500 here, 1 to 75000 there (in 24 of 24 pairs)"
    )
    assert compared(runs(3.0), runs(3.0)).against.differing == {}


@pytest.mark.parametrize(
    ("here", "there", "differing"),
    [
        ("--loss 0.05 --out b", "--out a", {"--loss": "0.05 here, not given there"}),
        ("--reverse=drive.up", "--reverse 'x y'", {"--reverse": "drive.up here, x y there"}),
        ("--repair --loss 0.1", "--loss 0.1 --seeds 3", {"--repair": "given here, not given there"}),
        ("--loss 0.05 'x", "", {}),
    ],
)
def test_options_of_the_commands_that_records_do_not_have_are_named(here, there, differing):
    summary = summarise(runs(0.0), RunAbout(command=f"weir replay a.up {here}"))
    command = f"weir replay a.up {there}" if there else ""
    found = compare_with(summary, runs(0.0), runs(0.0), Path("before"), command, "replay")
    assert found.differing == differing


def test_utility_is_not_compared_across_objectives():
    def of(objective, utility):
        return [
            record.model_copy(
                update={"objective": objective, "metrics": Metrics(run=record.measures | {"utility": utility})}
            )
            for record in runs(0.0, ("gcc",))
        ]

    own, other = of((0.5, 0.4, 0.1), 80.0), of((0.1, 0.8, 0.1), 50.0)
    found = compared(own, other)
    assert {row.metric for row in found.against.paired} == {"call_quality"}
    assert "utility" not in found.against.scenarios["path 1"]["gcc"]
    assert found.against.equal == found.against.runs
    assert "Utility is left out" in against_section(found).blocks[0].words
    assert {row.metric for row in compared(own, own).against.paired} == {"call_quality", "utility"}


def test_a_controller_named_like_one_of_the_other_folder_is_another_one():
    names = ("gcc", "gcc there")
    found = compared(runs(0.0, names), runs(0.0, names, seeds=(2,))).against
    assert [(row.a, row.n) for row in found.paired] == [("gcc", 6), ("gcc there", 6)]


def test_long_names_are_cut_in_refusals():
    with pytest.raises(InputError) as refused:
        compared(runs(0.0), runs(0.0, ("x" * 100_000,)))
    assert len(str(refused.value)) < 400


def test_settings_of_calls_are_named():
    here, there = (
        call_record(measures={"call_quality": 50.0}, call={"codec": codec, "folder": codec}) for codec in ("VP8", "AV1")
    )
    found = compare_with(summarise([here], RunAbout(), "call"), [here], [there], Path("x"), "", "call")
    assert found.differing == {"codec": "VP8 here, AV1 there"}


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (
            runs(0.0, ("mine",)),
            "--against 'before': nothing pairs: no controller is in both (here weir, gcc; there mine); a controller is "
            "compared with itself, on scenarios of the same names and seeds",
        ),
        (
            runs(0.0, scenarios=[f"other {number}" for number in range(7)]),
            "no scenario is in both (here path 0, path 1, path 2, path 3, path 4 and 1 more; there other 0,",
        ),
        (runs(0.0, seeds=(7,)), "with the same seed in both (seeds here 1, 2; there 7)"),
    ],
)
def test_folders_without_a_pair_are_refused_with_both_sides_named(there, message):
    with pytest.raises(InputError) as refused:
        compared(runs(0.0), there)
    assert message in str(refused.value)


def test_the_section_has_measures_and_scenarios():
    section = against_section(compared(runs(3.0), runs(0.0, scenarios=SCENARIOS[:3])))
    _, _, _, scenarios, folded = section.blocks
    assert [name for name, _ in folded.blocks[0].choices] == ["weir", "gcc"]
    ((label, table),) = scenarios.choices
    assert (label, len(table.rows)) == ("Call quality", 3)
    assert [(cell.text, cell.small) for cell in table.rows[2].cells] == [
        ("path 2", ""), ("+3.0", "55.2, 52.2"), ("0.0", "52.2, 52.2"),
    ]  # fmt: skip
    assert against_section(summarise(runs(0.0), RunAbout())) is None
