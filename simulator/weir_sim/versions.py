"""Versions of `weir-sim` and of what it is built from, and the controllers that they have."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from weir_cli.errors import MissingComponent
from weir_cli.installation import how_to_get
from weir_sim.controllers import CONTROLLERS


def simulator_versions(executable: Path) -> dict[str, str]:
    """The output of `weir-sim --version`.

    Raises:
        MissingComponent: weir-sim does not start, or its output has another form.
    """
    try:
        answer = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=20, check=True)
        return {str(name): str(version) for name, version in json.loads(answer.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError, AttributeError) as error:
        fault = getattr(error, "stderr", None) or str(error)
        raise MissingComponent(
            f"{executable} --version does not work: {fault.strip()}; it needs the ns-3 that it was built with (apt-get "
            f"install libns3-dev on the same release of Debian); {how_to_get('build')} builds it for this one"
        ) from error


def unavailable_controllers(executable: Path) -> set[str]:
    """The controllers that require a later libwebrtc than the one in weir-sim.

    Raises:
        MissingComponent: weir-sim does not start, or its output has another form.
    """
    # The version of January 2023 is not a number: "2023-01".
    version = simulator_versions(executable).get("libwebrtc", "")
    milestone = int(version.partition(".")[0]) if re.match(r"\d+\.", version) else 0
    return {name for name, row in CONTROLLERS.items() if row.libwebrtc_milestone > milestone}
