import math

import pytest
import typer
from hand_made import run_record
from hypothesis import given
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_eval.measures.summary import summarise
from weir_eval.measures.table import MEASURES
from weir_eval.records.summary import RunAbout
from weir_eval.report import requirement
from weir_eval.report.requirement import end_with_unmet, parse_requirement, parse_requirements

OTHERS = ["gcc", "gcc-remb", "gcc:A/b/", "my-1", "pilot=weir copilots=nada,rule", "a"]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SPACES = st.sampled_from(["", " "])
OPERATORS = st.sampled_from([">=", "<=", ">", "<"])


def parse(text, others=OTHERS):
    found = parse_requirement(text, ["weir"], others, "replay")
    return found.measure.name, found.operator, found.other, found.number


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("viewer_quality>=gcc-0.5", ("viewer_quality", ">=", "gcc", -0.5)),
        ("viewer_quality >= gcc-remb", ("viewer_quality", ">=", "gcc-remb", 0)),
        ("freeze_count<=gcc-remb+.2", ("freeze_count", "<=", "gcc-remb", 0.2)),
        ("loss_ratio<1e-2", ("loss_ratio", "<", "", 0.01)),
        ("oscillation>my-1-1e-1", ("oscillation", ">", "my-1", -0.1)),
        ("utility>=pilot=weir copilots=nada,rule + 2", ("utility", ">=", "pilot=weir copilots=nada,rule", 2)),
        (" challenge >= -5 ", ("challenge", ">=", "", -5)),
    ],
)
def test_rules(text, found):
    assert parse(text) == found


def test_the_digits_of_a_number_can_be_split_in_one_way_only():
    """Two repeats that match the same digits make the time grow with the square of their number."""
    assert r"\d+\.?\d*" not in requirement._UNSIGNED
    for number in ("1.", "1.5", ".5", "12e3"):
        assert parse(f"loss_ratio<{number}")[3] == float(number)


@given(st.sampled_from(list(MEASURES.of("replay"))), OPERATORS, st.sampled_from(["", *OTHERS]), NUMBERS, SPACES)
def test_a_rule_that_is_written_is_read_again(measure, operator, other, number, space):
    bound = f"{other}{space}{number:+}" if other else f"{number}"
    assert parse(f"{measure}{space}{operator}{space}{bound}") == (measure, operator, other, number)


@given(st.text() | st.from_regex(r"[a-z_]{1,9}[<>=]{0,3}[gcrem0-9+.e -]*", fullmatch=True))
def test_any_text_is_a_rule_or_refused(text):
    try:
        measure, operator, other, number = parse(text)
    except InputError as error:
        message = str(error)
    else:
        message = "--require '"
        assert (measure in MEASURES, operator in (">=", "<=", ">", "<")) == (True, True)
        assert (other in ("", *OTHERS), math.isfinite(number)) == (True, True)
    assert message.startswith("--require '")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no rule; give MEASURE"),
        ("viewer_quality", "is no rule"),
        ("viewer_quality>=", "is no rule"),
        ("viewer_quality=>1", "is no rule"),
        ("nothing>=1", "no measure nothing of a replay; use one of call_quality"),
        ("received_bitrate_bps>=1", "no measure received_bitrate_bps of a replay"),
        ("utility>=scream", "'scream' is no bound; give MEASURE, one of >= <= > <, then a number, or a controller"),
        ("utility>=gcc*2", "is no bound"),
        ("utility>=gcc 2", "is no bound"),
        ("utility>=gcc-1 2", "is no bound"),
        ("utility>=gcc-1e999", "is no bound"),
        ("utility>=nan", "is no bound"),
        ("utility>=1e999", "is no bound"),
        ("utility>=weir", "here of gcc, gcc-remb"),
    ],
)
def test_invalid_rules_are_refused(text, message):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_each_judged_controller_is_held_against_the_others():
    found = parse_requirements(["utility>=gcc"], ["weir", "gcc", "mine"], None, "replay")
    assert [requirement.own for requirement in found] == [("mine", "weir")]
    # In the order of the summary, whose first is the reference, not in that of the options.
    (found,) = parse_requirements(["utility>=gcc"], ["rule", "scream", "gcc"], None, "replay")
    assert found.own == ("scream", "rule")
    (found,) = parse_requirements(["utility>=weir"], ["weir", "gcc", "mine"], None, "replay")
    assert (found.own, found.other) == (("mine",), "weir")
    (found,) = parse_requirements(["utility>=weir"], ["weir", "gcc", "mine"], "weir", "replay")
    assert (found.own, found.other) == (("mine",), "weir")
    with pytest.raises(InputError, match="--reference 'rule'"):
        parse_requirements(None, ["weir", "gcc"], "rule", "replay")


def outcome(text, capsys, libwebrtc="150.0", **values):
    """The exit status and the lines printed. The first seed of gcc is missing: what is paired has not got it."""
    records = [
        run_record(scenario=scenario, controller=name, seed=seed, measures={"viewer_quality": value + seed})
        for name, by in values.items()
        for scenario, value in by.items()
        for seed in ((1, 2) if name != "gcc" or scenario != "b" else (2,))
    ]
    requirements = parse_requirements([text], list(values), None, "replay")
    try:
        end_with_unmet(requirements, summarise(records, RunAbout(versions={"libwebrtc": libwebrtc})), on_stderr=False)
        status = 0
    except typer.Exit as ended:
        status = ended.exit_code
    return status, capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "status", "line"),
    [
        # 70 - 68 on a, 60 - 64 on b.
        ("viewer_quality>=gcc-1", 0, "required viewer_quality>=gcc-1: weir - gcc -1: met"),
        ("viewer_quality>gcc-1", 1, "required viewer_quality>gcc-1: weir - gcc -1: NOT MET"),
        ("viewer_quality>=gcc", 1, "required viewer_quality>=gcc: weir - gcc -1: NOT MET"),
        # 71, 72 and 62: the runs that both have.
        ("viewer_quality>=68.3", 0, "required viewer_quality>=68.3: weir 68.33: met"),
        ("viewer_quality<68.3", 1, "required viewer_quality<68.3: weir 68.33: NOT MET"),
        ("utility>=0", 1, "required utility>=0: weir not measured: NOT MET"),
        ("utility>=gcc", 1, "required utility>=gcc: weir - gcc not measured: NOT MET"),
    ],
)
def test_rules_compare_means_or_paired_differences(capsys, text, status, line):
    found = outcome(text, capsys, weir={"a": 70, "b": 60}, gcc={"a": 68, "b": 64})
    assert found == (status, line + "\n")


def test_a_controller_that_completed_no_run_fails(capsys):
    status, out = outcome("viewer_quality>=1", capsys, weir={"a": 70}, mine={}, gcc={"a": 60})
    assert (status, out.splitlines()[0]) == (1, "required viewer_quality>=1: mine not measured: NOT MET")


def test_an_old_libwebrtc_is_named(capsys):
    _, out = outcome("utility>=gcc", capsys, "2023-01", weir={"a": 70}, gcc={"a": 60})
    assert out == "required utility>=gcc (2023-01): weir - gcc (2023-01) not measured: NOT MET\n"
