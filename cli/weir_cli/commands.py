"""The commands of this distribution. Each has such a table, an entry point of the group `weir.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "doctor": ("weir_cli.doctor_command:doctor", "Show every component: its version, or how to get it."),
    "report": ("weir_cli.report_command:report", "Make a report again, or one of a dump or event log."),
}
"""By name: the module and name of a function or group, or a table of commands; and a line of help."""
