"""The page names what was run, of what plan, and with which settings."""

from hand_made import run_record

from weir_eval.records.summary import RunAbout, ScenarioAbout
from weir_eval.report.sections.delay import modeled_lip_sync
from weir_eval.report.sections.runs import input_notes, interruption, unlike_settings


def text(block):
    if block is None:
        return ""
    return block.words if isinstance(block.words, str) else "".join(getattr(part, "text", part) for part in block.words)


def record(controller, **more):
    made = run_record(scenario="s", controller=controller, seed=1, measures=more.pop("measures", {}))
    return made.model_copy(update=more)


def test_an_interrupted_replay_shows_the_number_of_its_runs():
    assert text(interruption(RunAbout(runs=49, planned=468))).startswith("Interrupted: 49 of 468 runs.")
    assert interruption(RunAbout(runs=468, planned=468)) is None
    # Failed runs are listed as failures.
    assert interruption(RunAbout(runs=467, planned=468, finished="2026-01-01 00:00 UTC")) is None


def test_settings_that_only_calls_with_weir_have_are_named():
    def calls(**settings):
        return [
            record("weir", virtual_call={"encoder": "fake", **settings}, model_sha256="ab"),
            record("gcc", virtual_call={"encoder": "fake", **settings}),
        ]

    assert "a limit of the playout delay and repair of losses chosen by Weir" in text(unlike_settings(calls()))
    assert "playout" not in text(unlike_settings(calls(playout="limited")))
    assert unlike_settings(calls(playout="limited", repair="nack")) is None
    assert unlike_settings([record("weir", model_sha256="ab"), record("gcc")]) is None


def test_findings_of_the_inputs_are_counted():
    about = {"a": ScenarioAbout(findings=["line 3: x", "line 4: y"]), "b": ScenarioAbout(assumed=["queue"])}
    assert text(input_notes(about)).startswith("2 findings in 1 input")
    assert input_notes({"b": about["b"]}) is None


def test_lip_sync_is_judged_by_the_sum_over_frames_not_by_percentiles():
    percentiles = {"delay_in_lip_sync_ms_p95": 301.0, "end_to_end_delay_ms_p95": 600.0}
    assert modeled_lip_sync([record("weir", measures=percentiles | {"lip_sync_share": 0.47})]) == ""
    assert "In 1 of 1 run " in modeled_lip_sync([record("weir", measures={"lip_sync_share": 0.51})])
