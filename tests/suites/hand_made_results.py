"""Results of a suite made by hand; see `hand_made`."""

from types import SimpleNamespace

from weir_eval.runs.scenario_sets import Settings
from weir_suites.results import Results
from weir_suites.suites import SUITES

GOALS = {goal.name: goal for suite in SUITES.values() for goal in suite.goals}


def scenario(name, description=""):
    """The part of a scenario that goals need."""
    return SimpleNamespace(name=name, description=description)


def results(replays=None, *, sets=None, calls=None, called=None, pools=None, **settings):
    """`Results` from records by set; `sets` are those with scenarios."""
    replays, calls = replays or {}, calls or {}
    known = {
        name: SimpleNamespace(missing="", scenarios=[scenario(one) for one in {one.scenario for one in records}])
        for name, records in (replays | calls).items()
    } | (sets or {})
    some = Settings(None, None, **settings)
    return Results(some, known, replays, lambda one: one, calls, called or {}, pools or {})


def row(name, found):
    """The row of a suite's goal."""
    return GOALS[name].row(found)
