"""Checks the words of documents, comments, docstrings, help texts, messages and identifiers.

    python tests/lint/words.py [FILES]

Prints `file:line: term -> replacement` for each finding, and exits with 1 if there is one. Without FILES it checks
every file that git tracks. Code spans (`name`) and blocks of code are names of things and are not checked in prose.
Identifiers are checked where Python defines them, and wherever C and C++ name them.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Term and replacement. A space of a term also matches a line break.
TERMS = {
    r"way back": "return path, feedback path",
    r"way of the data": "data flow",
    r"ordinary (?:network )?life": "network impairments",
    r"(?:routes?|paths?) (?:grows?|grew|that grow)": "route change, RTT rises",
    r"(?:path|route)s? (?:is|are) longer by": "RTT rises by",
    r"seats?": "active controller",
    r"votes?": "candidate",
    r"(?:fly|flies|flew|flown|flying)": "run",
    r"copilots? speaks?": "candidate's target",
    r"(?:pool|pool's) lines?": "pool specification",
    r"mutes?": "pause, DTX",
    r"carriable": "achievable",
    r"told": "receives, is reported",
    r"(?:is|are|was|were|be|been|being) asked": "is polled",
    r"(?:says|knows)": "reports, has",
    r"(?:rule|pilot|controller|estimator|guard|policy|model|receiver|it) speaks": "acts, reports",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"(?:security holes?|is a hole|a hole in)": "vulnerability",
    r"is a guest": "is untrusted",
    r"(?:is|are|was|were) held out": "held-out set",
    r"kept from": "held-out set",
    r"what (?:the )?(?:path|paths|cross traffic|others|link) leaves?": "available bandwidth, residual capacity",
    r"beside (?:a |one )?(?:TCP|Cubic|NewReno|BBR)": "in competition with",
    r"(?:TCP|Cubic|NewReno|BBR|flow) joins": "starts later",
    r"share (?:that )?it holds": "throughput share",
    r"(?:catch(?:es)? up|caught up)": "recovers, ramps up",
    r"(?:rate|call|flow|sender|target|network)s? (?:comes?|came) back": "recovers, ramps up",
    r"swing(?:s|ing)?|swung": "oscillation",
    r"controllers? of (?:a user's|one's|your|their) own": "custom controller",
    r"(?:user's|users'|one's|your) own controllers?": "custom controller",
    r"(?:leave|leaves|leaving|take|takes|taken|taking|took) out": "exclude, compensate",
    r"silences?": "no packets, feedback timeout",
    r"broken on purpose": "fault-injected",
    r"(?-i:Measured|Found) is": "we measure, we found",
}  # fmt: skip
FIRST_WORDS = ("Of", "What", "That", "Whether")

# Identifiers are compared in words: `LeftOut` and `_LEFT_OUT` are `left_out`. Names that are banned as a whole:
IDENTIFIERS = {
    r"ones?": "what the item is: flow, path, record",
    r"given": "value, path, argument",
    r"(?:left_out|said|there|what|whom?|thing)": "what the value is: excluded, message, existing, description",
    r"(?:mine|ours|theirs)": "own, reference, other",
    r"others_of": "others",
    r"(?:test_)?(?:what|that|whether|who|of)_.*": "condition and expectation, subject first",
}  # fmt: skip
# Words that are banned within names.
IDENTIFIER_WORDS = {
    r"told": "reported, received",
    r"(?:asks?|asked)": "requested, polled",
    r"(?:fly|flies|flew|flown|flying)": "run",
    r"seats?": "active controller",
    r"votes?": "candidate",
    r"(?:mend|mends|mended)": "fixed, repaired",
    r"(?:nobody|whoever|strangers?)": "no member, no receiver, other user",
    r"(?:say|says|said|speaks?|spoken)": "reports, states, is printed",
    r"(?:know|knows)": "has, handles, depends on",
    r"tells?": "reports, distinguishes",
    r"(?:hears?|heard|unheard)": "receives, received, audible",
    r"(?:ones?_that|ones_own|whois|who_is)": "name of the subject",
    r"(?:left|leaves|leave|takes|taken)_out": "excluded, compensated",
    r"way_back": "return path, feedback path",
}  # fmt: skip
# Files, and identifiers that they may have, with the reason.
ALLOWED_IDENTIFIERS = {
    ("*", r".*told_apart.*"): "distinguished",
    ("qoe_eval/weir_eval/records/summary.py", "left_out"): "key of summary.json",
    ("qoe_eval/weir_eval/report/goal_table.py", "what"): "field of goals and claims, which suites and papers define",
    ("qoe_eval/weir_eval/runs/scenario_sets.py", "of_media"): "part of every suite, to be renamed with them",
    ("qoe_eval/weir_eval/runs/simulator.py", "say_left_out"): "called by suites, to be renamed with them",
    ("simulator/weir_sim/controllers.py", "knows_path"): "field of the table of controllers",
}
# Files whose identifiers are not clean yet.
NOT_YET = (
    "calls/*", "estimator/*", "examples/*", "logs/*", "papers/*", "plugins/*", "programs/*", "suites/*", "trainer/*",
    "qoe_eval/weir_eval/measures/*", "simulator/*.cc", "simulator/*.h", "webrtc_patch/*.cc",
    "tests/bench/*", "tests/calls/*", "tests/estimator/*", "tests/fuzz/*", "tests/install/*", "tests/logs/*",
    "tests/plugins/*", "tests/programs/*", "tests/qoe_eval/measures/*", "tests/simulator/*", "tests/soak/*",
    "tests/structure/*", "tests/suites/*", "tests/support/*", "tests/trainer/*", "tests/webrtc_patch/*",
)  # fmt: skip

# Phrases in which a term is the right word, with the reason.
ALLOWED_PHRASES = {
    r"on the fly": "idiom",
    r"told apart": "distinguished",
}
# Files that are not checked, with the reason.
ALLOWED_FILES = {
    "tests/lint/*words.py": "name the terms",
    "tests/fuzz/corpus/*": "inputs that fuzzers found",
    "tests/data/*": "inputs of tests",
    "requirements/*.txt": "written by uv",
    "webrtc_patch/*.patch": "libwebrtc's lines",
    "*.svg": "pictures",
    "LICENSE": "legal text",
    "estimator/models/weir.md": "written by `weir model card`",
}

# One character of code: it ends every term.
CODE = "\0"
C_LIKE = {".cc", ".h", ".c", ".js", ".go", ".rs", ".css"}
HASHED = {".sh", ".toml", ".yml", ".yaml", ".cmake", ".txt", ""}
C_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.DOTALL)
HASH_TOKEN = re.compile(r"(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'", re.MULTILINE)
MARKS = re.compile(r"^(\s*)(?://+!?<?|/\*+|\*/|\*|#+)", re.MULTILINE)


def pattern_of(term: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/.-])(?:{term})(?![\w/-])".replace(" ", r"\s+"), re.IGNORECASE)


PATTERNS = {pattern_of(term): replacement for term, replacement in TERMS.items()}
ANY_TERM = pattern_of("|".join(TERMS))
IDENTIFIER_PATTERNS = {re.compile(name): replacement for name, replacement in IDENTIFIERS.items()} | {
    re.compile(rf"(?:.*_)?(?:{word})(?:_.*)?"): replacement for word, replacement in IDENTIFIER_WORDS.items()
}
WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def hidden(text: str) -> str:
    """The text as code: as many lines, and nothing to find."""
    return re.sub(r"[^\n]", CODE, text)


def without_marks(comment: str) -> str:
    """A comment whose marks are spaces, so that a term may go on in the next line."""
    return MARKS.sub(lambda found: " " * len(found[0]), comment).replace("*/", "  ")


def is_prose(text: str) -> bool:
    return " " in text.strip("\"'` ")


class Prose:
    """The prose of a file: its text with everything else hidden, and where its comments begin."""

    def __init__(self, path: Path, text: str) -> None:
        self.starts: list[tuple[int, str]] = []
        if path.suffix == ".py":
            shown = self._python(text)
        elif path.suffix in C_LIKE:
            shown = self._tokens(text, C_TOKEN, ("//", "/*"))
        elif path.suffix == ".md":
            shown = re.sub(
                r"^ *(```|~~~).*?^ *\1|<!--.*?-->", lambda found: hidden(found[0]), text, flags=re.DOTALL | re.MULTILINE
            )
        elif path.suffix == ".html":
            code = r"<script.*?</script>|<style.*?</style>|<[^>]*>|{[{%#].*?[}%#]}"
            shown = re.sub(code, lambda found: hidden(found[0]), text, flags=re.DOTALL)
        else:
            shown = self._tokens(text, HASH_TOKEN, ("#",))
        shown = re.sub(r"``?[^`\n]+``?", lambda found: hidden(found[0]), shown)
        for phrase in ALLOWED_PHRASES:
            shown = re.sub(phrase.replace(" ", r"\s+"), lambda found: hidden(found[0]), shown, flags=re.IGNORECASE)
        self.text = shown

    def _tokens(self, text: str, token: re.Pattern[str], marks: tuple[str, ...]) -> str:
        shown, end, last_comment_line = [], 0, -1
        for found in token.finditer(text):
            between = text[end : found.start()]
            shown.append(between if between.isspace() else hidden(between))
            line = text.count("\n", 0, found.start()) + 1
            if found[0].startswith(marks):
                full_line = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
                if not (full_line and line == last_comment_line + 1):
                    self.starts.append((line, without_marks(found[0]).strip()))
                last_comment_line = line if full_line else -1
                shown.append(without_marks(found[0]))
            else:
                shown.append(CODE + found[0][1:-1] + CODE if is_prose(found[0]) else hidden(found[0]))
            end = found.end()
        return "".join(shown) + hidden(text[end:])

    def _python(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        shown = [list(hidden(line)) for line in lines]
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        string_types = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
        last_comment_line = -1
        before = ["", ""]
        for token in tokens:
            (first, column), (last, end) = token.start, token.end
            if token.type == tokenize.COMMENT:
                full_line = not lines[first - 1][:column].strip()
                if not (full_line and first == last_comment_line + 1):
                    self.starts.append((first, token.string.lstrip("#: ")))
                last_comment_line = first if full_line else -1
                shown[first - 1] = (
                    list(" " * column + without_marks(token.string) + "\n")
                    if full_line
                    else [*shown[first - 1][:column], *without_marks(token.string), "\n"]
                )
            elif token.type in string_types and is_prose(token.string):
                body = token.string.lstrip("rbfRBF").lstrip("\"'")
                is_docstring = before[-1] in ("", "\n", ":") and '"""' in token.string
                if is_docstring or before[-2:] == ["help", "="]:
                    self.starts.append((first, body.strip()))
                for number in range(first, last + 1):
                    line = lines[number - 1]
                    start, stop = (column if number == first else 0), (end if number == last else len(line))
                    shown[number - 1][start:stop] = re.sub("[\"']", CODE, line[start:stop])
                    if token.string[:2].lower() in ("f'", 'f"') or token.string[:3].lower() in ('rf"', "rf'", 'fr"'):
                        expressions = r"(?<!{){[^{}\n]*}"
                        kept = "".join(shown[number - 1][start:stop])
                        shown[number - 1][start:stop] = re.sub(expressions, lambda found: hidden(found[0]), kept)
            if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                before = [before[-1], "\n" if token.type == tokenize.NEWLINE else token.string]
        return "".join("".join(line) for line in shown)

    def findings(self) -> Iterator[tuple[int, str, str]]:
        # Most files have no term: one search, without the code, instead of one for each term.
        patterns = PATTERNS if ANY_TERM.search(re.sub(f"{CODE}+", CODE, self.text)) else {}
        for pattern, replacement in patterns.items():
            for found in pattern.finditer(self.text):
                line = self.text.count("\n", 0, found.start()) + 1
                yield line, " ".join(found[0].split()), replacement
        for line, start in self.starts:
            if (word := start.partition(" ")[0]) in FIRST_WORDS:
                yield line, f"a comment begins with {word!r}", "name the subject"


def words_of(identifier: str) -> str:
    """The words of an identifier in lower case, joined by underscores."""
    return "_".join(WORDS_OF_NAME.findall(identifier)).lower()


def defined_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Lines and names of the variables, parameters, attributes, functions and classes that a module defines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs):
            if node.name:
                yield node.lineno, node.name
        elif isinstance(node, ast.alias):
            if node.asname:
                yield node.lineno, node.asname
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def named_in_c(text: str) -> Iterator[tuple[int, str]]:
    """Lines and names of all identifiers of C or C++, without its comments, strings and includes."""
    code = re.sub(r"^#include.*", "", C_TOKEN.sub(lambda found: hidden(found[0]), text), flags=re.MULTILINE)
    for number, line in enumerate(code.split("\n"), 1):
        for found in re.finditer(r"\b[A-Za-z_]\w*", line):
            yield number, found[0]


def identifier_findings(path: Path, text: str) -> list[tuple[int, str, str]]:
    """The banned identifiers of a file, each in the line that names it first."""
    if path.suffix not in (".py", ".cc", ".h", ".c"):
        return []
    first: dict[str, int] = {}
    for line, name in defined_in_python(text) if path.suffix == ".py" else named_in_c(text):
        first[name] = min(line, first.get(name, line))
    found = []
    for name, line in first.items():
        words = words_of(name)
        if any(fnmatch(path.as_posix(), file) and re.fullmatch(names, words) for file, names in ALLOWED_IDENTIFIERS):
            continue
        replacements = (IDENTIFIER_PATTERNS[pattern] for pattern in IDENTIFIER_PATTERNS if pattern.fullmatch(words))
        if replacement := next(replacements, None):
            found.append((line, name, replacement))
    return sorted(found)


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def findings(path: Path, text: str) -> list[tuple[int, str, str]]:
    try:
        found = sorted(Prose(path, text).findings())
        return found if matches(path.as_posix(), NOT_YET) else sorted(found + identifier_findings(path, text))
    except (tokenize.TokenError, SyntaxError) as error:
        return [(1, str(error), "a file that Python can read")]


def tracked() -> list[str]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def is_checked(name: str) -> bool:
    suffix = Path(name).suffix
    named = Path(name).name in ("Makefile", "Dockerfile", "CMakeLists.txt")
    return not matches(name, ALLOWED_FILES) and (named or suffix in C_LIKE | HASHED - {""} | {".py", ".md", ".html"})


def main(arguments: list[str]) -> int:
    names = [str(Path(name).resolve().relative_to(ROOT)) for name in arguments] or tracked()
    found = 0
    for name in names:
        path = ROOT / name
        if not is_checked(name) or not path.is_file():
            continue
        for line, term, replacement in findings(Path(name), path.read_text()):
            print(f"{name}:{line}: {term} -> {replacement}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
