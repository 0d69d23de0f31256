"""A metric is added by the steps of `qoe_eval/README.md` alone, and an unknown one is an error that names it."""

import csv

import pytest
from hand_made import measured_flow, run_record

from weir_eval.measures import metrics
from weir_eval.measures.summary import summarise
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.summary import MeasureAbout, RunAbout
from weir_eval.report.csv_tables import write_results_csv
from weir_eval.report.page_template import render_page
from weir_eval.report.sections.controllers import headline
from weir_eval.report.text import print_means


def record(*flows):
    return run_record(flows=list(flows) or [measured_flow()])


DUMMY = Measure("dummy_share", "Dummy", "%", "lower", "A made-up measure.", 100, 1, "worst")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step: every flow under test has the measure, its packets lost over 100."""
    known = metrics._flow_metrics

    def with_dummy(a_record, a_flow, series):
        return known(a_record, a_flow, series) | {DUMMY.name: a_flow.packets_lost / 100}

    monkeypatch.setattr(metrics, "_flow_metrics", with_dummy)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second step: its row in the table."""
    monkeypatch.setitem(MEASURES, DUMMY.name, DUMMY)


@pytest.mark.usefixtures("computed", "registered")
def test_a_registered_metric_reaches_every_table(tmp_path, capsys) -> None:
    two = record(measured_flow(), measured_flow(id="other", packets_lost=30))
    done = two.model_copy(update={"metrics": metrics.run_metrics(two)})
    assert done.measures[DUMMY.name] == 0.3  # the worst of 0.2 and 0.3
    summary = summarise([done], RunAbout())
    about = MeasureAbout(label="Dummy", unit="ratio", better="lower", meaning="A made-up measure.")
    assert summary.metrics[DUMMY.name] == about
    assert summary.controllers["gcc"][DUMMY.name].mean == 0.3
    with write_results_csv(tmp_path, [done], "replay").open(newline="") as file:
        assert next(csv.DictReader(file))[DUMMY.name] == "0.3"
    page = render_page("", [], [headline(summary)])
    assert 'title="A made-up measure.">Dummy</span><br><small>% ↓</small>' in page
    assert "30.0" in page
    print_means(summary, [DUMMY.name])
    assert "Dummy" in capsys.readouterr().out


def test_units_in_a_summary_are_those_of_its_values_and_not_of_the_page() -> None:
    units = {name: measure.value_unit for name, measure in MEASURES.items()}
    assert units["receive_rate_bps"] == "bit/s"
    assert units["frozen_share"] == units["loss_ratio"] == "ratio"
    assert units["oscillation"] == "ratio per s"
    assert units["guard_interventions"] == "per decision"
    assert all(unit == "ms" for name, unit in units.items() if "_ms" in name and not name.startswith("seconds"))


@pytest.mark.usefixtures("computed")
def test_a_metric_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(KeyError, match="measure 'dummy_share': one of call_quality, "):
        metrics.run_metrics(record())


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(KeyError, match="measure 'challange': one of "):
        MEASURES["challange"]
    assert MEASURES.get("challange") is None


def test_best_and_worst_are_opposite_ends() -> None:
    for metric in MEASURES.values():
        assert {metric.best([1.0, 2.0]), metric.worst([1.0, 2.0])} == {1.0, 2.0}
        assert metric.difference_favours_first(metric.best([1.0, 2.0]) - metric.worst([1.0, 2.0]))
