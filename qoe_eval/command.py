"""Starts the `weir` command, and says in one message which Python package is missing when one is."""

from __future__ import annotations

import sys

from weir.installation import how_to_get


def main() -> None:
    """Runs the command and exits with its status."""
    try:
        from weir.qoe_eval.cli import main as run

        run()
    except ModuleNotFoundError as error:
        package = (error.name or "weir").partition(".")[0]
        if package == "weir":
            raise
        # Each imports by the name it is installed by, with "_" for "-".
        remedy = how_to_get("build", package.replace("_", "-"))
        print(f"weir: the Python package {package} is not installed: {remedy} brings it", file=sys.stderr)
        sys.exit(3)
