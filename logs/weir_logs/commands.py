"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "whatif": ("weir_logs.whatif_command:whatif", "Show what other controllers would have said on a recorded call."),
}
