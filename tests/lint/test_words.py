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
        ("a.js", "const seat = vote(mend);  // The active controller.\n"),
        ("a.cc", '#include <weir/seat.h>\nFind("seat");\n// See pool/seat.h.\n'),
        ("a.py", "count = {'vote': fly}  # `seats` are named here.\n"),
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


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "for one in flows:\n    print(one)\n", [(1, "one")]),
        ("a.py", "lines = [one for one in flows]\n", [(1, "one")]),
        ("a.py", "class LeftOut:\n    _told = 1\ndef f(given): pass\n", [(1, "LeftOut"), (2, "_told"), (3, "given")]),
        ("a.py", "def test_what_is_missing(): pass\n", [(1, "test_what_is_missing")]),
        ("a.py", "def test_the_log_says_so(): pass\nASKED = 1\n", [(1, "test_the_log_says_so"), (2, "ASKED")]),
        ("a.py", "import a as ours\ntry:\n    pass\nexcept OSError as said:\n    pass\n", [(1, "ours"), (4, "said")]),
        ("a.cc", "TEST(Pool, NobodyWhoCannotFlyGetsTheSeat) {}\n", [(1, "NobodyWhoCannotFlyGetsTheSeat")]),
        ("a.h", "// A comment.\nint told_ = 0;\nint b = told_;\n", [(2, "told_")]),
    ],
)  # fmt: skip
def test_riddles_are_found_in_identifiers(name, text, found):
    assert [(line, term) for line, term, _ in words.findings(Path(name), text)] == found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "one_way_delay_ms = 1\nis_known = whole_seconds = 2\n"),
        ("a.py", "import other\nprint(other.told, given(asked=1))\n"),
        ("a.py", "def test_losses_are_told_apart(): pass\n"),
        ("a.cc", '#include "told.h"\nnotify_one(seating, "told", milestone);\n'),
        ("a.js", "const told = 1;\n"),
        ("calls/a.py", "for one in flows: pass\n"),
    ],
)
def test_other_identifiers_are_not(name, text, monkeypatch):
    monkeypatch.setattr(words, "NOT_YET", ("calls/*",))
    assert words.findings(Path(name), text) == []


def test_every_allowed_file_is_there():
    tracked = words.tracked()
    patterns = [*words.ALLOWED_FILES, *words.NOT_YET, *(file for file, _ in words.ALLOWED_IDENTIFIERS)]
    unused = [pattern for pattern in patterns if not any(words.fnmatch(name, pattern) for name in tracked)]
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
