"""Commands of documents: `weir` has each command and option that they name, make each target."""

import re
import subprocess
from pathlib import Path

import pytest
import typer
from edges import ABSENT_COMMANDS

from weir_cli.app import build_app
from weir_sim.controllers import COMPARED

ROOT = Path(__file__).parents[2]
LISTED = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
# The changelog names commands of former versions, the results trials that were removed.
DOCUMENTS = [name for name in LISTED.split() if name not in ("CHANGELOG.md", "docs/results.md")]


def code(document: str) -> list[str]:
    """The lines of blocks of code, without comments and with continued lines joined, and the code spans."""
    text = re.sub(r"\\\n\s*", "", (ROOT / document).read_text())
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()] + re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", prose)]
    return [re.split(r"\s{2,}#| // ", line)[0].strip() for line in lines + spans]


def options_of(command, words=()):
    """The options of each command that does something, by the words that call it."""
    if not hasattr(command, "list_commands"):
        return {words: {name for option in command.params for name in option.opts + option.secondary_opts}}
    below = {word: command.get_command(None, word) for word in command.list_commands(None)}
    return {key: found for word, one in below.items() for key, found in options_of(one, (*words, word)).items()}


@pytest.fixture(scope="module")
def options():
    return options_of(typer.main.get_command(build_app()))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_weir_has_the_commands_and_options_of_a_document(options, document):
    first_words = {words[0] for words in options}
    for line in code(document):
        called = re.match(r"(?:\S*/)?weir ([a-z]\S*(?: .*)?)$", line.split(" -- ")[0])
        if called is None:
            continue
        words = tuple(called[1].split())
        assert words[0] in first_words | ABSENT_COMMANDS, line
        known = options.get(words[:2]) or options.get(words[:1])
        named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", line.split(" -- ")[0]))
        assert known is None or named <= known | {"--help", "--help-all"}, line


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_has_the_targets_of_a_document(document):
    folder = (ROOT / document).parent
    files = [ROOT / "Makefile", *(path for path in (folder / "Makefile",) if path.exists())]
    if len(files) > 1 and folder != ROOT:
        files += [ROOT / "plugins/plugin.mk", ROOT / "plugins/go.mk", ROOT / "plugins/browser/calls.mk"]
    targets = {target for path in files for target in re.findall(r"^([a-z][\w-]*):", path.read_text(), re.MULTILINE)}
    # The Makefile has one rule for all distributions. NAME stands for any of them.
    targets |= {f"test-{path.parent.name}" for path in ROOT.glob("*/pyproject.toml")} | {"test-NAME"}
    for line in code(document):
        called = re.match(r"make (?:-C (\S+) )?([a-z][\w-]*)", line)
        if called is None or called[1]:
            continue
        assert called[2] in targets, line


def test_the_page_of_replays_names_the_defaults():
    documented = " ".join((ROOT / "docs/replays.md").read_text().split())
    names = ", ".join(f"`{name}`" for name in COMPARED[:-1])
    assert f"Without `--controller`, a replay runs {names} and `{COMPARED[-1]}`, " in documented
    assert "without `--seeds`, five runs of each scenario" in documented
