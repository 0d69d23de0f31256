"""Files of a user: read with a bound, written whole or not at all, and named without two having one name."""

import os
import re
import resource
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from rich.table import Table

from weir_cli.console import error_console, output_console
from weir_cli.errors import InputError
from weir_cli.files.input import open_file, parse_json, printable, read_bytes, read_text
from weir_cli.files.output import append, file_name, make_folder, replacing, write_bytes, write_text
from weir_cli.files.place import refuse_folders_of_others
from weir_cli.main import _fail as fail


def refused(call, *arguments: object) -> str:
    with pytest.raises(InputError) as refusal:
        call(*arguments)
    return str(refusal.value)


def test_a_new_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_text(path, "old")
    with pytest.raises(KeyboardInterrupt):
        _write_half(path)
    assert path.read_text() == "old"
    write_text(path, "new \udce9")
    assert path.read_text() == "new \\udce9"
    assert os.listdir(tmp_path) == ["result.json"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half of the")
        raise KeyboardInterrupt


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_full_disk_is_one_message_and_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        message = refused(write_text, path, "x" * 200_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert message == f"{path}: cannot be written (File too large); make room, or choose another path"
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["result.json"])


WRITERS = [write_text, lambda path, text: append(path, text.encode())]


@pytest.mark.parametrize("write", WRITERS)
def test_a_device_that_is_full(write) -> None:
    message = refused(write, "/dev/full", "x")
    assert message == "/dev/full: cannot be written (No space left on device); make room, or choose another path"
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("write", WRITERS)
def test_a_pipe_needs_a_reader(tmp_path: Path, write) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        assert refused(write, path, "x") == f"{path}: is a pipe that nobody reads; choose another path"
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(link, "x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)


def test_links_stay_links_and_pipes_are_written_into(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    command = "from weir_cli.files.output import write_text; write_text('/dev/stdout', 'through')"
    assert subprocess.run([sys.executable, "-c", command], capture_output=True, check=True).stdout == b"through"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, why in [
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "below", "Not a directory"),
        (tmp_path / "none" / "below", "No such file or directory"),
        (tmp_path / ("n" * 300), "File name too long"),
        (loop, "Too many levels of symbolic links"),
    ]:
        assert refused(write_text, path, "x").startswith(f"{path}: cannot be written ({why})")
        if path != tmp_path and "none" not in str(path):
            assert refused(make_folder, path / "x").startswith(f"--out '{path / 'x'}': the folder cannot be made (")


def test_reading_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(read_bytes, "/dev/zero", 1 << 20) == "/dev/zero: over 1 MiB, more than is read; give a smaller file"
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(10_000_000_000)
    assert "over 64 MiB" in refused(read_text, large)
    monkeypatch.setattr("weir_cli.files.input._LONGEST_WAIT_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    assert "nothing came out of it for 0.05 s" in refused(read_text, tmp_path / "pipe")


def test_open_file_refuses_pipes_and_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"content")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="is no file"):
            open_file(path)
    with open_file(tmp_path / "file") as file:
        assert file.read() == b"content"


def test_a_pipe_that_somebody_writes_into_is_read() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"time_s,rate_bps\n")
        os.close(writing)
        assert read_text(f"/dev/fd/{reading}") == "time_s,rate_bps\n"
    finally:
        os.close(reading)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    (tmp_path / "empty").write_text("\ufeff \n")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    for name, why in [
        ("none", "no such file"),
        (".", "cannot be read (Is a directory)"),
        ("loop", "cannot be read (Too many levels of symbolic links)"),
        ("empty", "the file is empty"),
        ("latin", "byte 3 is no UTF-8 text"),
    ]:
        assert why in refused(read_text, tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ' + "9" * 5000 + "}", "the number 99999999999999999999..., 5000 characters long, is too large"),
        ('{"a": ' + "9" * 400 + "}", "400 characters long, is too large"),
        ('{"a": -1e999}', "the number -1e999, 6 characters long, is too large"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ('{"b": {"x": 1, "y": 2, "x": 3}}', 'the key "x" is there twice in one object'),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1\x00}', "line 1, column 8: not valid JSON"),
    ],
)
def test_json_that_is_refused(text: str, message: str) -> None:
    assert message in refused(parse_json, text, "x.json")


def test_numbers_that_are_long_but_small_are_read() -> None:
    assert parse_json("[0." + "1" * 5000 + ", 12, -0.5]", "x") == [pytest.approx(1 / 9), 12, -0.5]


def test_different_parts_give_different_file_names() -> None:
    composed, decomposed = (unicodedata.normalize(form, "drive é") for form in ("NFC", "NFD"))
    scenarios = [
        composed,
        decomposed,
        "drive è",
        "Drive é",
        "drive_",
        "drive ",
        "x" * 300,
        "x" * 301,
        "x",
        "X",
        "",
        "..",
    ]
    scenarios += ["drive \udce9", "drive \udce8", "a/b", "a_b"]
    names = [file_name(scenario, "weir", 1) for scenario in scenarios]
    # Also where a file system folds case.
    assert len({name.lower() for name in names}) == len(names)
    assert all(name.isascii() and len(name) <= 69 and "/" not in name and not name.startswith(".") for name in names)
    assert file_name("a-b", "c", 1) != file_name("a", "b-c", 1)
    assert file_name("steady-1m", "gcc-remb", 2).startswith("steady-1m-gcc-remb-2-")
    assert file_name("steady-1m", "gcc", 2) == file_name("steady-1m", "gcc", 2)


def test_names_that_are_no_utf_8_can_be_printed() -> None:
    assert printable(os.fsdecode(b"drive \xe9.csv")) == r"drive \xe9.csv"
    assert printable("drive é.csv") == "drive é.csv"
    assert printable("lone \ud800") == r"lone \xed\xa0\x80"
    assert printable("\x1b[31mred\x9b2J\n") == r"\x1b[31mred\x9b2J\x0a"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write into the folders of others")
@pytest.mark.parametrize("write", [write_text, lambda path, text: append(path, text.encode())])
def test_root_writes_through_no_link_of_another_user(tmp_path: Path, write, monkeypatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    secret, other_user = tmp_path / "secret", tmp_path / "theirs"
    secret.mkdir()
    (secret / "file").write_text("old")
    other_user.mkdir()
    for name, target in (
        ("file", "../secret/file"),
        ("folder", str(secret)),
        ("chain", "folder"),
        ("new", "../secret/x"),
        ("here", "."),
    ):
        (other_user / name).symlink_to(target)
        os.lchown(other_user / name, 1234, 1234)
    (other_user / "own").symlink_to("chain")
    os.mkfifo(other_user / "pipe")
    os.chown(other_user / "pipe", 1234, 1234)
    monkeypatch.chdir(other_user)
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    for path in (
        "file",
        "new",
        "folder/file",
        "chain/file",
        "own/file",
        "here/x",
        other_user / "../theirs/folder/file",
        "pipe",
    ):
        assert "of user 1234" in refused(write, path, "new"), path
    os.close(reader)
    for path in ("folder/below", "new", "own/below"):
        assert "of user 1234" in refused(make_folder, path), path
    assert [path.read_text() for path in secret.iterdir()] == ["old"]
    # The user who called sudo, and files that are no links, are as before.
    monkeypatch.setenv("SUDO_UID", "1234")
    write("file", "new")
    assert (other_user / "file").is_symlink()
    assert "new" in (secret / "file").read_text()
    monkeypatch.setenv("SUDO_UID", "nobody")
    write("real", "text")
    write("/dev/null", "text")


SWAP = """
import ctypes, sys
libc, (file, other) = ctypes.CDLL(None), (name.encode() for name in sys.argv[1:])
print(flush=True)
while True:
    libc.renameat2(-100, file, -100, other, 2)  # RENAME_EXCHANGE
"""


def race(write, other_user: Path, secret: Path, tries: int) -> Counter[str]:
    """How often a file was written, and how often refused, while its name and that of a link were exchanged."""
    outcomes = Counter[str]()
    for name in ("file", "other"):
        (other_user / name).unlink(missing_ok=True)
    (other_user / "file").write_text("")
    (other_user / "other").symlink_to(secret / "file")
    os.lchown(other_user / "other", 1234, 1234)
    with subprocess.Popen(
        [sys.executable, "-c", SWAP, other_user / "file", other_user / "other"], stdout=subprocess.PIPE
    ) as swapping:
        swapping.stdout.readline()
        for _ in range(tries):
            try:
                write(other_user / "file", b"x")
                outcomes["written"] += 1
            except InputError:
                outcomes["refused"] += 1
        swapping.kill()
    return outcomes


# WEIR_RACE: tries of each, 100,000 in minutes.
@pytest.mark.parametrize("write", [append, write_bytes])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write into the folders of others")
def test_a_link_that_takes_the_place_of_a_file_is_not_followed(tmp_path: Path, monkeypatch, write) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    secret, other_user = tmp_path / "secret", tmp_path / "theirs"
    for folder in (secret, other_user):
        folder.mkdir()
    os.chown(other_user, 1234, 1234)
    outcomes = race(write, other_user, secret, int(os.environ.get("WEIR_RACE", "1000")))
    # A write may replace the link for good, and on a busy machine the other process may hardly run: then once more.
    for _ in range(20):
        if len(outcomes) == 2:
            break
        outcomes += race(write, other_user, secret, 1000)
    assert list(secret.iterdir()) == []
    assert outcomes.keys() == {"refused", "written"}


@pytest.mark.skipif(os.geteuid() != 0, reason="of root alone")
def test_root_works_in_no_folder_that_others_can_exchange(tmp_path: Path, monkeypatch) -> None:
    def is_refused(path: Path) -> str:
        try:
            refuse_folders_of_others(path)
        except InputError as error:
            return str(error)
        return ""

    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "theirs/below").mkdir(parents=True)
    (tmp_path / "all").mkdir(mode=0o777)
    (tmp_path / "all").chmod(0o777)
    os.chown(tmp_path / "theirs", 1234, 1234)
    (tmp_path / "link").symlink_to("theirs")
    for path in ("own", "own/new", "new", "."):
        assert is_refused(Path(path)) == "", path
    for path in ("theirs", "theirs/below", "theirs/below/new", "link/below"):
        assert "belongs to user 1234" in is_refused(Path(path)), path
    assert "is open to other users" in is_refused(Path("all/new"))
    # As /tmp.
    (tmp_path / "all").chmod(0o1777)
    assert is_refused(Path("all/new")) == ""
    os.chown(tmp_path, 1234, 1234)
    assert "belongs to user 1234" in is_refused(Path("own"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert is_refused(Path("theirs")) == ""


def test_other_users_than_root_follow_any_link(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (tmp_path / "link").symlink_to("file")
    if os.getuid() == 0:
        os.lchown(tmp_path / "link", 1234, 1234)
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "file").read_text() == "text"


@pytest.mark.parametrize("console", [output_console, error_console])
def test_escape_sequences_from_input_are_never_printed(capsys, console):
    table = Table("name")
    table.add_row("\x1b[2Jcell")
    console().print("\x1b]0;title\x07a\tb\nc\r")
    console().print(table)
    fail("\x1b[31mred\nline", 1)
    printed = "".join(capsys.readouterr())
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed)
    for text in (r"\x1b]0;title\x07a", "\nc", r"\x1b[2Jcell", "weir: \\x1b[31mred\nline"):
        assert text in printed
