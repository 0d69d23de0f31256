"""The crate of plugins/rust."""

import shutil
import subprocess
import sys
from pathlib import Path

from common import ROOT, project_version


def write(folder: Path) -> None:
    """`cargo package` compiles what it has packed."""
    if not shutil.which("cargo"):
        print("crate.py: no crate, since cargo is not here", file=sys.stderr)
        return
    target = ROOT / "build/plugins/rust"
    command = ["cargo", "package", "--quiet", "--allow-dirty", "--target-dir", str(target)]
    subprocess.run(command, cwd=ROOT / "plugins/rust", check=True)
    shutil.copy(target / f"package/weir-bwe-{project_version()}.crate", folder)
