"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "traces": (
        {
            "validate": ("weir_traces.convert_command:validate", "Check files of traces and scenarios."),
            "convert": ("weir_traces.convert_command:convert", "Convert a trace or scenario to another format."),
            "list": ("weir_traces.list_command:list_scenarios", "List the bundled scenarios."),
            "generate": ("weir_traces.generate_command:generate", "Generate a trace or scenario."),
        },
        "Check, convert, list and generate traces and scenarios.",
    ),
}
