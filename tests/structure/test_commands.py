"""The command line stays small: at most 20 commands in `weir --help` and below, each with its own help text."""

import typer

from weir.cli.app import build_app

MOST_COMMANDS = 20
COMMANDS = {
    "replay", "call", "link", "serve", "doctor", "bench", "report", "evaluate", "train", "adapt", "export", "paper",
    "traces validate", "traces convert", "traces list", "traces generate", "model", "webrtc check",
}  # fmt: skip


def commands(command, name=""):
    """The commands that do something, by the words that call them, with their help texts. `weir paper NAME` is one: its
    names are those of papers.
    """
    below = getattr(command, "commands", None)
    if below is None or name == " paper":
        return {name.strip(): command.help}
    return {words: text for word, one in below.items() for words, text in commands(one, f"{name} {word}").items()}


def test_the_commands_are_these_and_few():
    found = commands(typer.main.get_command(build_app()))
    assert found.keys() == COMMANDS
    assert len(found) <= MOST_COMMANDS
    assert all(found.values())
