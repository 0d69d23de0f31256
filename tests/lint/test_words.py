"""The check of words: what it finds, where, and what it leaves alone."""

import subprocess
import sys
from pathlib import Path

import pytest
from lint import words

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests/lint/words.py"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.md", "One.\nREMB takes the way\nback.\n", [(2, "way back")]),
        ("a.h", "int a;  // The way back.\n", [(1, "way back")]),
        ("a.cc", "// The way\n// back.\nint a;\n", [(1, "way back")]),
        ("a.c", "/* A line.\n   The way back. */\n", [(2, "way back")]),
        ("a.cc", 'Refuse("the way back is missing");\n', [(1, "way back")]),
        ("a.py", '"""A path.\n\nIts way back.\n"""\n', [(3, "way back")]),
        ("a.py", 'x = 1  # The way back.\nprint(f"{x}: the way back")\n', [(1, "way back"), (2, "way back")]),
        ("a.js", "const text = 'The way back'; // The way back\n", [(1, "way back"), (1, "way back")]),
        ("a.html", "<p title='way back'>The way back</p>\n", [(1, "way back")]),
        ("a.sh", "echo 'the way back' # the way back\n", [(1, "way back"), (1, "way back")]),
        ("a.md", "The controller says so, ORDINARY LIFE.\n", [(1, "ORDINARY LIFE"), (1, "says")]),
    ],
)
def test_a_term_is_found_in_prose(name, text, found):
    assert [(line, term) for line, term, _ in words.findings(Path(name), text)] == found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The family `mute`.\n```\nthe way back\n```\n"),
        ("a.h", "int seat = vote(mend);  // The active controller.\n"),
        ("a.cc", '#include <weir/seat.h>\nFind("seat");\n// See pool/seat.h.\n'),
        ("a.py", "seats = {'vote': fly}  # `seats` are named here.\n"),
        ("a.py", 'print(f"{told} and {seats.fly()} of them")\n'),
        ("a.html", "<script>const seat = way.back;</script><p>text</p>\n"),
        ("a.md", "It is computed on the fly.\n"),
        ("a.cc", "// the way\nint a;\n// back\n"),
    ],
)
def test_code_is_not(name, text):
    assert words.findings(Path(name), text) == []


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.h", "// Of the sender.\nint a;\n", [1]),
        ("a.h", "int a;  // Whether it is set.\nint b;  // What it has.\n", [1, 2]),
        ("a.h", "/* That many. */\n", [1]),
        ("a.h", "// A sentence.\n// Of it, the rest.\nint a;\n", []),
        ("a.h", "// Offers and answers.\nint a;\n", []),
        ("a.py", 'def f():\n    """Of the sender."""\n    # What it has.\n    return 1\n', [2, 3]),
        ("a.py", 'f(help="Of a tree, at most.")\nprint("Of course it is.")\n', [1]),
        ("a.sh", "# Whether it is set.\n", [1]),
        ("a.md", "## What is promised\n", []),
    ],
)
def test_the_first_word_of_a_comment(name, text, lines):
    assert [line for line, _, _ in words.findings(Path(name), text)] == lines


def test_every_allowed_file_is_there():
    tracked = words.tracked()
    unused = [pattern for pattern in words.ALLOWED_FILES if not any(words.fnmatch(name, pattern) for name in tracked)]
    assert unused == []


def test_a_finding_is_a_line_with_its_replacement(tmp_path):
    document = ROOT / "build/words_test.md"
    document.parent.mkdir(exist_ok=True)
    document.write_text("The way back.\n")
    try:
        done = subprocess.run([sys.executable, SCRIPT, document], capture_output=True, text=True, check=False)
    finally:
        document.unlink()
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "build/words_test.md:1: way back -> return path, feedback path\n"
