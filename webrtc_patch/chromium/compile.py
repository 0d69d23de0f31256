"""Compiles single files of a Chromium build that gn has generated with --export-compile-commands.

    compile.py OUT <FILES       OUT: the build's folder; FILES: paths below the source tree, one a line

First makes the headers that scripts write, so that only a few dozen of Chromium's 30,000 steps run. Prints the errors,
and a line with counts. Exit codes: 0 all compile, 1 a file does not compile or is in no target, 2 wrong use.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Headers of constants, and sources, that scripts make; these steps need no program of Chromium.
_MADE = re.compile(r"gen/\S*(build_?flags\w*\.h|registered_field_trials\.h|shipped_model\.cc)$")


def targets(out: Path) -> list[str]:
    """Returns the files that ninja can make, relative to `out`."""
    listed = subprocess.run(["ninja", "-C", out, "-t", "targets", "all"], capture_output=True, check=True).stdout
    return [line.partition(": ")[0] for line in listed.decode(errors="replace").splitlines()]


def main() -> int:
    """Compiles the files listed on standard input."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(sys.argv[1]).resolve()
    made = [target for target in targets(out) if _MADE.match(target)]
    subprocess.run(["ninja", "-C", out, "--quiet", *made], check=True)
    commands = {
        (out / entry["file"]).resolve(): entry["command"]
        for entry in json.loads((out / "compile_commands.json").read_text())
    }
    files = [out.parents[1] / line.strip() for line in sys.stdin]
    files += [out / target for target in made if target.endswith("shipped_model.cc")]

    def compiles(file: Path) -> bool:
        command = commands.get(file.resolve())
        if command is None:
            print(f"{file}: in no target", flush=True)
            return False
        compiled = re.search(r" -o (\S+)", command)
        if compiled is not None:
            (out / compiled[1]).parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, shell=True, cwd=out, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            print(done.stderr, flush=True)
        return done.returncode == 0

    with ThreadPoolExecutor(int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count() or 1))) as pool:
        passed = sum(pool.map(compiles, files))
    print(f"{passed} of {len(files)} files compile")
    return 0 if passed == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
