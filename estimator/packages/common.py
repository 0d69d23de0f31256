"""Where the packages come from, and what they have in common."""

import sys
from pathlib import Path

PACKAGES = Path(__file__).resolve().parent
ESTIMATOR = PACKAGES.parent
ROOT = ESTIMATOR.parent
sys.path.insert(0, str(ESTIMATOR))

from amalgamate import MOCC_HEADER, MODEL_HEADER, SOURCE, amalgamated, project_version  # noqa: E402

__all__ = ["MOCC_HEADER", "SOURCE", "amalgamated", "project_version"]

# Files of `make amalgamation`, and the library as WebAssembly.
ONE_FILE = ("weir.cc", "weir.h", MODEL_HEADER)
WEBASSEMBLY = "weir.wasm"
AMALGAMATION = ROOT / "build/amalgamation"


def template(name: str) -> str:
    """A file of this folder with the version in it."""
    return (PACKAGES / name).read_text().replace("@VERSION@", project_version())
