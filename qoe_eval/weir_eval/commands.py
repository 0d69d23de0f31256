"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "replay": ("weir_eval.replay_command:replay", "Replay traces or scenarios under rate controllers."),
}
