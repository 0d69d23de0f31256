"""The command line: its commands, each with help; only what a command needs is imported; Ctrl-C is quiet."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import typer

from weir_cli.app import build_app

COMMANDS = {
    "replay", "whatif", "call", "link", "serve", "doctor", "bench", "report", "evaluate", "train", "tune", "adapt",
    "export", "traces validate", "traces convert", "traces list", "traces generate", "model", "webrtc check",
}  # fmt: skip
# The modules of Weir that each of these commands may import, and the packages of others that none may.
OF_ALL = {"weir", "weir._core", "weir_cli", "weir_cli.app", "weir_cli.main", "weir_cli.errors", "weir_cli.installation"}
QUICK = {
    ("--version",): set(),
    ("--help",): set(),
    ("traces", "--help"): set(),
    ("traces", "list"): {
        "weir_traces",
        "weir_traces.list_command",
        "weir_traces.listing",
        "weir_cli.console",
        "weir_cli.files",
        "weir_cli.files.input",
    },
}
SLOW = {
    "numpy",
    "scipy",
    "pydantic",
    "jinja2",
    "plotly",
    "onnx",
    "onnxruntime",
    "gymnasium",
    "aiohttp",
    "playwright",
    "torch",
}


def commands(command, name=""):
    """The commands that do something, by the words that call them, with their help texts."""
    if not hasattr(command, "list_commands"):
        return {name.strip(): command.help}
    below = {word: command.get_command(None, word) for word in command.list_commands(None)}
    return {words: text for word, one in below.items() for words, text in commands(one, f"{name} {word}").items()}


def test_the_commands_are_these_and_each_has_help(monkeypatch):
    without_papers = [entry for entry in entry_points(group="weir.commands") if entry.name != "papers"]
    monkeypatch.setattr("weir_cli.app.entry_points", lambda group: without_papers)
    found = commands(typer.main.get_command(build_app()))
    assert found.keys() == COMMANDS
    assert all(found.values())


# Wrong uses of commands that load seconds of packages to do their work; pydantic is typer's own.
REFUSED = {
    ("replay", "nowhere.csv"): "weir: nowhere.csv: no such file; check the path",
    ("replay", "catalogue/stepz"): 'weir: no bundled scenario "stepz"; did you mean catalogue/steps?',
    ("replay", "catalogue/steps", "--controller", "wier"): "weir: --controller 'wier': not known; did you mean weir?",
    ("call", "catalogue/steps"): "weir: a call cannot be made here; missing:",
    ("link", "nowhere.csv"): "weir: nowhere.csv: no such file",
    ("report", "nowhere"): "weir: nowhere: no such file; check the path",
    (
        "report",
        ".",
    ): "weir: .: no results.jsonl in it; give a folder that 'weir replay', 'call', 'serve' or 'train'",
    ("whatif", "nowhere"): "weir: nowhere: no such file; check the path",
    ("train", "nowhere.toml"): "weir: nowhere.toml: no such file",
    ("export", "nowhere"): "weir: nowhere: no such file",
    ("export", "bad.onnx"): "weir: bad.onnx: there is no such checkpoint, or it is damaged; give the folder of a",
    ("adapt", "nowhere.onnx", "--objective", "latency"): "weir: nowhere.onnx: no such file",
    ("evaluate", "bad.onnx"): "weir: MODEL 'bad.onnx': the model cannot be used: it is not an ONNX model",
    ("evaluate", "--set", "polcer"): "weir: --set 'polcer': not known; did you mean policer? use catalogue, random,",
    ("serve", "nowhere.csv"): "weir: nowhere.csv: no such file",
    ("tune", "nowhere.toml"): "weir: nowhere.toml: no such file",
    ("bench", "--build-dir", "nowhere"): "weir: --build-dir 'nowhere': no such folder",
    ("model", "nowhere.onnx"): "weir: nowhere.onnx: no such file",
    ("traces", "validate", "nowhere.csv"): "weir: nowhere.csv: no such file",
    ("traces", "convert", "nowhere.csv", "x.json"): "weir: nowhere.csv: no such file",
}


def test_evaluate_names_the_suites_and_sets_that_there_are():
    from weir_suites.evaluate_command import SETS
    from weir_suites.suites import SUITES

    assert {name: tuple(suite.sets) for name, suite in SUITES.items()} == SETS
    assert list(SUITES) == list(SETS)


def test_evaluate_plans_without_scipy(tmp_path):
    done = run(LISTING, "evaluate", "--suite", "natural", "--only", "nothing", cwd=tmp_path)
    assert done.stderr.startswith("weir: --only 'nothing': no scenario of natural is chosen; give others\n")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "scipy" not in done.stderr.split()


def run(program, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, **options
    )


LISTING = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from weir_cli.main import main
main()
"""


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_a_quick_command_imports_only_what_it_needs(arguments):
    done = run(LISTING, *arguments)
    assert done.returncode == 0
    assert done.stdout
    loaded = done.stderr.split()
    assert {name for name in loaded if name.partition(".")[0] == "weir"} <= OF_ALL | QUICK[arguments]
    assert SLOW & set(loaded) == set()


@pytest.mark.parametrize(("arguments", "message"), REFUSED.items(), ids=map(" ".join, REFUSED))
def test_a_wrong_use_is_refused_before_anything_heavy_is_loaded_or_made(arguments, message, tmp_path):
    (tmp_path / "bad.onnx").write_text("no model")
    done = run(LISTING, *arguments, cwd=tmp_path, env=os.environ | {"WEIR_PEER": "nowhere", "WEIR_SIM": sys.executable})
    assert (done.returncode, done.stdout) == (3 if "missing:" in message else 2, "")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.onnx"]
    assert done.stderr.startswith(message)
    assert (SLOW - {"pydantic"}) & set(done.stderr.splitlines()[-1].split()) == set()


@pytest.mark.parametrize(
    "moment",
    [
        "weir_cli.app",
        "typer.core",
        "weir_eval.replay_command",
        "weir_eval.replay",
        "numpy",
        "pydantic",
        "weir_traces.schema.scenario",
    ],
)
def test_ctrl_c_while_it_imports_is_no_traceback(moment):
    program = f"""
import os, signal, sys
from importlib.abc import MetaPathFinder
class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {moment!r}:
            os.kill(os.getpid(), signal.SIGINT)
from weir_cli.main import main
sys.meta_path.insert(0, Interrupt())
main()
"""
    done = run(program, "replay", "catalogue/steps")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "weir: interrupted\n")


def test_ctrl_c_in_a_command_is_a_status_and_no_traceback():
    program = """
import os, signal
import weir_eval.replay_command as module
def replay(inputs: str) -> None:
    os.kill(os.getpid(), signal.SIGINT)
module.replay = replay
from weir_cli.main import main
main()
"""
    done = run(program, "replay", "nowhere.json")
    assert (done.returncode, done.stderr) == (1, "weir: interrupted\n")
