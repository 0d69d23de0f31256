"""clang-tidy over every C++ file of a build that has changed since it last passed.

    tests/lint/tidy.py BUILD_FOLDER STAMP_FOLDER [FILE...]

A file has changed when its text, a header that it includes, its compile command, `.clang-tidy` or clang-tidy itself
has; for each that passes an empty file is left in STAMP_FOLDER. Clones may share that folder: the names do not depend
on the place of a clone, and what was not used for a month is removed. Exit codes: 0 all pass, 1 findings.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLANG_TIDY = Path(sys.executable).parent / "clang-tidy"
KEPT_S = 30 * 24 * 3600


def is_ours(path: Path) -> bool:
    """Returns True for a file of the repository, not of the system and not made by the build."""
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] not in ("build", ".venv", ".venv-distributed")


def headers_of_objects(build: Path) -> dict[str, list[Path]]:
    """The files that each object was compiled from, as ninja noted them."""
    noted = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    # Hundreds of objects share thousands of headers.
    resolved = cache(lambda line: (build / line).resolve())
    included: dict[str, list[Path]] = {}
    for block in noted.split("\n\n"):
        first, *lines = block.strip().splitlines() or [""]
        included[first.partition(": #deps")[0]] = [resolved(line.strip()) for line in lines]
    return included


@cache
def digest_of(path: Path) -> bytes:
    """The SHA-256 of a file."""
    return sha256(path.read_bytes()).digest()


def stamp_names(build: Path) -> dict[Path, str]:
    """Every source file of the build, with a name that changes when something has that clang-tidy looks at."""
    included = headers_of_objects(build)
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    checks = [ROOT / ".clang-tidy", ROOT / "tests/.clang-tidy"]
    common = version + b"".join(path.read_bytes() for path in checks)
    names = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        source = Path(command["file"])
        if source.suffix != ".cc" or not is_ours(source):
            continue
        words = shlex.split(command["command"])
        compiled = words[words.index("-o") + 1]
        digest = sha256(common + command["command"].replace(str(ROOT), "").encode())
        for path in [source, *included.get(compiled, [])]:
            digest.update(digest_of(path))
        names[source] = digest.hexdigest()
    return names


def is_used(stamp: Path) -> bool:
    """Returns True for a stamp that is there, which counts as a use of it."""
    try:
        os.utime(stamp)
    except FileNotFoundError:
        return False
    return True


def main() -> int:
    """Prints the findings, and a line that counts."""
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, stamps = (Path(argument).resolve() for argument in sys.argv[1:3])
    stamps.mkdir(parents=True, exist_ok=True)
    names = stamp_names(build)
    chosen = names.keys() & ({Path(argument).resolve() for argument in sys.argv[3:]} or names.keys())
    changed = [source for source in names if source in chosen and not is_used(stamps / names[source])]
    began = time.monotonic()

    def passes(source: Path) -> bool:
        done = subprocess.run([CLANG_TIDY, "-p", build, "--quiet", source], capture_output=True, text=True)
        if done.returncode == 0:
            (stamps / names[source]).touch()
        else:
            print(done.stdout or done.stderr, flush=True)
        return done.returncode == 0

    passed = 0
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for count, passing in enumerate(pool.map(passes, changed), 1):
            passed += passing
            if sys.stderr.isatty():
                print(f"\rclang-tidy: {count}/{len(changed)}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        pool.shutdown(cancel_futures=True)
        print("\rclang-tidy: interrupted; what has passed is kept", file=sys.stderr)
        return 1
    for stamp in stamps.iterdir():
        if stamp.stat().st_mtime < time.time() - KEPT_S:
            stamp.unlink()
    seconds = time.monotonic() - began
    unchanged = len(chosen) - len(changed)
    print(f"\rclang-tidy: {passed} of {len(changed)} files pass, {unchanged} as before, {seconds:.0f} s")
    return 0 if passed == len(changed) else 1


if __name__ == "__main__":
    sys.exit(main())
