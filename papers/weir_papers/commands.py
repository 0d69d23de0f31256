"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "paper": ("weir_papers.paper:app", "Repeat the experiment of a paper."),
}
