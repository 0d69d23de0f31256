"""A copy of the library's sources, which a test changes as who follows a guide does, and compiles."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_library(folder: Path) -> Path:
    for part in ("include", "src"):
        shutil.copytree(ROOT / "estimator" / part, folder / part)
    return folder


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def compile_in(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    compiler = os.environ.get("CXX", "c++")
    return run(folder, compiler, "-std=c++20", "-Wall", "-Werror", "-Iinclude", "-Isrc", *arguments)
