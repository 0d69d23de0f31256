"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "call": ("weir_calls.call_command:call", "Make real calls through a link that replays a scenario."),
    "link": ("weir_calls.link_command:link", "Run a command behind a link that replays a scenario."),
    "serve": ("weir_calls.serve_command:serve", "Make, steer and watch calls on a page."),
}
