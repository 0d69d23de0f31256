"""Commands of several distributions that read traces share the options that state how rows are read."""

from dataclasses import fields

import pytest
from typer.main import get_command

from weir_cli.app import build_app
from weir_traces.reading_options import ReadingArguments

OPTIONS = {f"--{field.name.replace('_', '-')}" for field in fields(ReadingArguments)}


@pytest.mark.parametrize("words", ["traces validate", "traces convert", "replay", "call", "link"])
def test_commands_that_read_traces_share_the_options(words: str) -> None:
    command = get_command(build_app())
    for word in words.split():
        command = command.get_command(None, word)  # type: ignore[attr-defined] # groups have it
    found = {name for parameter in command.params for name in parameter.opts}
    assert found >= OPTIONS
