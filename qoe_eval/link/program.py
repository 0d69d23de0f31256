"""The command line and environment of a user's program at one end of a link."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from weir.qoe_eval.link.namespaces import Network


def program_in(
    here: Network, far: Network, command: Sequence[str], more: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Returns the command line and the environment of a program at one end of a link.

    The environment has the addresses of both ends in WEIR_LINK_LOCAL and WEIR_LINK_FAR.

    Args:
        here: the network of its end.
        far: the network of the other end.
        command: the program with its arguments; empty: the user's shell.
        more: further environment variables.
    """
    line = here.command(command or [os.environ.get("SHELL") or "/bin/sh"])
    return line, {**os.environ, "WEIR_LINK_LOCAL": here.address, "WEIR_LINK_FAR": far.address, **(more or {})}
