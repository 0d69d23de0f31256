"""Counts the lines of each distribution without blanks, comments and tests: `python tests/structure/count_lines.py`.

Counts Python and C++ that git tracks. Docstrings count as comments. The core is what a replay and a training need: the
library, the adapter to libwebrtc, the simulator, traces, replays and training, with the base of the command.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ("estimator", "webrtc_patch/adapter", "programs", "simulator", "cli", "traces", "qoe_eval", "trainer")
OTHERS = ("webrtc_patch", "calls", "logs", "suites", "papers", "plugins", "examples")
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def code_lines(path: Path) -> int:
    """The lines of a file of Python, C or C++ that have code."""
    text = path.read_text(encoding="utf-8")
    return len(_python_lines(text)) if path.suffix == ".py" else _cpp_lines(text)


def _python_lines(text: str) -> set[int]:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in skipped
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        # Docstrings, also those of variables.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _cpp_lines(text: str) -> int:
    without = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "\n" * found[0].count("\n"), text)
    return sum(bool(line.strip()) for line in without.splitlines())


def count(root: Path = ROOT) -> Counter[str]:
    """The lines by folder of CORE and OTHERS; a file counts for the longest folder that has it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    found: Counter[str] = Counter()
    for name in listed.split("\0"):
        path = root / name
        if path.suffix not in (".py", ".cc", ".h", ".c") or "tests" in path.parts[len(root.parts) :]:
            continue
        homes = [folder for folder in (*CORE, *OTHERS) if name.startswith(f"{folder}/")]
        if homes and path.is_file():
            found[max(homes, key=len)] += code_lines(path)
    return found


def main() -> None:
    """Prints the table."""
    found = count()
    for folder in (*CORE, *OTHERS):
        print(f"{found[folder]:7,}  {folder}")
    print(f"{sum(found[folder] for folder in CORE):7,}  core")


if __name__ == "__main__":
    main()
