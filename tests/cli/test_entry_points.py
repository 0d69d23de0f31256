"""Tables that distributions register with the command: commands, reports, and components."""

from types import SimpleNamespace

import pytest

from weir_cli import app, doctor_command, report_command
from weir_cli.components import Component
from weir_cli.errors import InputError, MissingComponent
from weir_cli.reports import Report, ReportRequest


@pytest.fixture
def register(monkeypatch):
    """register(module, name=registered object): the entry points that `module` finds."""

    def register(module, **objects):
        entries = [SimpleNamespace(name=name, load=lambda found=found: found) for name, found in objects.items()]
        monkeypatch.setattr(module, "entry_points", lambda group: entries)

    return register


def test_the_tables_of_all_distributions_are_one_sorted_by_name(register):
    register(app, b={"replay": ("b:replay", "Replays.")}, a={"serve": ("a:serve", "Serves."), "call": ("a:call", "")})
    assert list(app.registered_commands()) == ["call", "replay", "serve"]


def test_a_command_of_another_distribution_runs(register, run_weir):
    register(app, other={"doctor": ("weir_cli.doctor_command:doctor", "Shows components.")})
    register(doctor_command, cli=lambda: [Component("Python", "run", "3.11")])
    status, out, _ = run_weir("doctor", "--json")
    assert status == 0
    assert '"name": "Python"' in out
    assert run_weir("replay")[0] == 2


def test_the_first_report_that_matches_the_path_is_written_and_replays_are_tried_last(register, tmp_path):
    tried = []

    def reporter(name, known):
        def rewrite(request):
            tried.append(name)
            return Report("{}", request.path) if known else None

        return rewrite

    register(report_command, eval=reporter("eval", True), logs=reporter("logs", False), train=reporter("train", False))
    report = report_command._rewrite(ReportRequest(path=tmp_path))
    assert (report.page, tried) == (tmp_path, ["logs", "train", "eval"])


def test_a_file_without_a_matching_report_is_refused_with_the_installed_names(register, tmp_path):
    register(report_command, calls=lambda request: None)
    with pytest.raises(InputError, match=r"no installed package has a report of it; installed: calls"):
        report_command._rewrite(ReportRequest(path=tmp_path / "x"))


def test_components_are_shown_the_required_first_and_a_missing_one_is_status_3(register, capsys):
    register(
        doctor_command,
        sim=lambda: iter(
            [Component("Chromium", "calls", None, "install it"), Component("weir-sim", "run", None, "build")]
        ),
        cli=lambda: iter([Component("Python", "run", "3.11")]),
    )
    assert [component.name for component in doctor_command.components()] == ["Python", "weir-sim", "Chromium"]
    with pytest.raises(MissingComponent, match="required and not there: weir-sim"):
        doctor_command.doctor()
    assert "install it" in capsys.readouterr().out
