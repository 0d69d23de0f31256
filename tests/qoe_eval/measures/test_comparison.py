import pytest
from hand_made import run_record

from weir_cli.errors import InputError
from weir_eval.measures.comparison import (
    check_reference,
    compared_pairs,
    default_reference,
    furthest_behind,
    is_ours,
    judged_controllers,
    leading_pairs,
)
from weir_eval.measures.summary import summarise
from weir_eval.records.summary import RunAbout
from weir_sim.controllers import SIMULATED

POOL = "pilot=weir copilots=nada"


def summary_of(values, reference=""):
    """The summary of values by controller, measure and scenario."""
    records = [
        run_record(scenario=scenario, controller=name, seed=1, measures={measure: value})
        for name, by in values.items()
        for measure, some in by.items()
        for scenario, value in some.items()
    ]
    return summarise(records, RunAbout(reference=reference))


def test_ours_run_a_model_or_are_a_users_own():
    assert [name for name in SIMULATED if is_ours(name)] == ["weir", "weir-send", "weir-send-ccfb", "mocc"]
    assert all(map(is_ours, ("mine", POOL, "gcc:A/b/")))


@pytest.mark.parametrize(
    ("controllers", "reference", "own"),
    [
        (["weir", "gcc", "scream", "oracle"], "gcc", ["weir"]),
        (["weir", "scream", "rule", "mine"], "scream", ["mine", "weir"]),
        (["gcc", "scream", "rule"], "gcc", ["scream", "rule"]),
        (["gcc", "gcc:A/b/"], "gcc", ["gcc:A/b/"]),
        (["weir", "mine"], "weir", ["mine"]),
        (["weir"], "weir", ["weir"]),
        ([], "", []),
    ],
)
def test_who_is_judged_against_whom_by_default(controllers, reference, own):
    assert default_reference(controllers) == reference
    assert judged_controllers(controllers, reference) == own


def test_any_controller_can_be_the_reference():
    controllers = ["weir", "gcc", "scream", "mine"]
    both = [("mine", "scream"), ("weir", "scream"), ("mine", "gcc"), ("weir", "gcc")]
    assert compared_pairs(controllers, "scream") == [("mine", "weir"), *both]
    assert compared_pairs(controllers, "weir") == [("mine", "weir"), ("mine", "gcc"), ("mine", "scream")]
    assert compared_pairs(["gcc", "scream", "rule"], "rule") == [("gcc", "rule"), ("scream", "rule")]
    assert compared_pairs(["weir"], "weir") == []
    check_reference(None, [])
    check_reference("gcc", controllers)
    with pytest.raises(InputError, match="--reference 'nada': does not run; use one of weir, gcc, scream, mine"):
        check_reference("nada", controllers)


@pytest.mark.parametrize("own", ["mine", "./mine.so", POOL])
def test_a_users_controller_is_compared_with_weir_first(own):
    scores = {name: {"challenge": {"a": score}} for name, score in (("weir", 50), (own, 60), ("gcc", 40), ("nada", 1))}
    found = summary_of(scores)
    assert found.run.reference == "gcc"
    pairs = [(own, "weir"), (own, "gcc"), ("weir", "gcc"), (own, "nada"), ("weir", "nada")]
    assert [(row.a, row.b) for row in found.paired] == pairs
    assert list(leading_pairs(found.paired, "gcc")) == pairs[:3]
    assert furthest_behind(found)[1].startswith(f"{own} against weir: ")


def test_libwebrtcs_controllers_with_field_trials_are_not_compared_with_weir():
    pairs = compared_pairs(["weir", "gcc", "gcc:A/b/"], "gcc")
    assert pairs == [("gcc:A/b/", "gcc"), ("weir", "gcc")]


def test_the_pairs_of_a_summary_are_those_of_its_reference():
    scores = {name: {"challenge": {"a": score}} for name, score in (("weir", 50), ("gcc", 40), ("scream", 45))}
    found = summary_of(scores)
    assert found.run.reference == "gcc"
    assert [(row.a, row.b) for row in found.paired] == [("weir", "gcc"), ("weir", "scream")]
    again = summary_of(scores, "scream")
    assert [(row.b, row.mean) for row in again.paired] == [("scream", 5), ("gcc", 10)]
    assert list(leading_pairs(again.paired, "scream")) == [("weir", "scream"), ("weir", "gcc")]
    # A reference of an earlier run that has no runs any more.
    assert summary_of(scores, "rule").run.reference == "gcc"


def test_the_scenario_on_which_ours_is_furthest_behind():
    values = {"weir": {"frozen_share": {"a": 0.02, "b": 0.05, "c": 0.3}},
              "gcc": {"frozen_share": {"a": 0.01, "b": 0.0, "d": 0.0}}}  # fmt: skip
    found = summary_of(values)
    assert furthest_behind(found) == (
        "b", "weir is furthest behind gcc here: Frozen 5.00 against 0.00, means over seeds.",
    )  # fmt: skip
    # The viewer's quality comes before.
    values["weir"]["viewer_quality"], values["gcc"]["viewer_quality"] = {"a": 70, "b": 80}, {"a": 65, "b": 60}
    scenario, words = furthest_behind(summary_of(values))
    assert (scenario, words[:49]) == ("a", "weir is nowhere behind gcc, and least ahead here:")
    # A single scenario is neither the worst nor the best.
    single = {name: {"viewer_quality": {"a": value}} for name, value in (("weir", 70), ("gcc", 65))}
    assert furthest_behind(summary_of(single)) == (
        "a", "weir against gcc: Viewer's quality 70.0 against 65.0, means over seeds."
    )  # fmt: skip
    assert furthest_behind(summary_of({"weir": values["weir"]})) is None
    assert furthest_behind(summarise([], RunAbout())) is None
