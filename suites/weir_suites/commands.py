"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "bench": ("weir_suites.bench_command:bench", "Measure the speed of this machine."),
    "evaluate": ("weir_suites.evaluate_command:evaluate", "Measure a model against goals."),
}
