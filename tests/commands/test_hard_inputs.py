"""Names, files and disks that are not as one would wish: one message each, and nothing lost or mixed up."""

import json
import os
import resource
import subprocess
import sys

import pytest
from edges import skip_without_command

from weir_sim.installed import shipped_model

TRACE = "time_s,rate_bps\n0,1000000\n5,2000000\n10,1000000\n"
REPLAY = ("--controller", "rule", "--seeds", "1", "--objectives", "0", "--out", "here")


@pytest.fixture
def weir(fake_simulator, run_weir, tmp_path):
    (tmp_path / "trace.csv").write_text(TRACE)
    return run_weir


def scenario(name="x", **changes):
    capacity = {"times_s": [0], "rates_bps": [1e6]}
    document = {"schema": "weir.scenario/1", "name": name, "duration_s": 10, "forward": {"capacity": capacity}}
    return document | {"flows": [{"kind": "rtp"}]} | changes


@pytest.mark.parametrize(
    "names",
    [
        ("drive é.csv", "drive è.csv"),
        ("drive e\u0301.csv", "drive \u00e9.csv"),
        (os.fsdecode(b"drive \xe9.csv"), os.fsdecode(b"drive \xe8.csv")),
        ("Drive.csv", "drive.csv"),
    ],
)
def test_each_file_has_a_series_of_its_own(weir, tmp_path, names):
    for name, rate in zip(names, (1_000_000, 3_000_000), strict=True):
        (tmp_path / name).write_text(f"time_s,rate_bps\n0,{rate}\n10,\n")
    assert weir("traces", "validate", *names)[0] == 0
    status, out, _ = weir("replay", *names, *REPLAY, "--json")
    assert status == 0
    assert len(json.loads(out)["scenarios"]) == 2
    assert len(os.listdir(tmp_path / "here/series")) == 2
    page = (tmp_path / "here/report.html").read_text(encoding="utf-8")
    assert all(name in page for name in json.loads(out)["scenarios"])
    # Also as what any reader of JSON takes: no lone surrogates.
    out.encode("utf-8")
    json.dumps(json.loads(out), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time_s,rate_bps\n0," + "9" * 5000 + "\n", "line 2: rate_bps is '999"),
        ('time_s,rate_bps\n0,"' + "9" * 200_000 + '"\n', "line 2: no CSV (field larger than field limit"),
        (json.dumps(scenario()).replace("1000000.0", "9" * 5000), "5000 characters long, is too large"),
        (json.dumps(scenario()).replace('"name"', '"name": "y", "name"'), 'the key "name" is there twice'),
        (json.dumps(scenario(duration_s=1e9)), "duration_s: must be at most 86400"),
        (json.dumps(scenario(name="lone \ud800")), "name: "),
        (
            json.dumps(scenario(forward={"capacity": {"times_s": [0, 20], "rates_bps": [0, 1e6]}})),
            "error (all_zero): the link has no capacity in all of the 10 s",
        ),
        ("5\n999999999999999\n", "windows of 200 ms; fix the line"),
        ("", "the file is empty"),
        ("\ufeff", "the file is empty"),
        ("\0" * 1000, "line 1: neither JSON"),
    ],
    ids=range(11),
)
def test_validate_and_replay_have_one_verdict(weir, tmp_path, content, message):
    (tmp_path / "input").write_text(content)
    for command in (("traces", "validate", "input"), ("replay", "input", *REPLAY)):
        status, _, error = weir(*command)
        assert status == 2
        assert message in error
        assert len(error.splitlines()) <= 2
    assert not (tmp_path / "here").exists()


def test_a_scenario_with_nothing_to_compare_is_refused(weir, tmp_path):
    (tmp_path / "input").write_text(json.dumps(scenario(flows=[{"kind": "rtp", "controller": "rule"}])))
    status, _, error = weir("replay", "input", *REPLAY)
    assert status == 2
    assert 'x: no RTP flow has the controller "under_test": nothing to compare' in error


@pytest.mark.parametrize("content", ["\ufeff" + TRACE, TRACE.replace("\n", "\r\n"), "\ufeff" + json.dumps(scenario())])
def test_byte_order_marks_and_line_ends_of_windows(weir, tmp_path, content):
    (tmp_path / "input").write_bytes(content.encode())
    assert weir("traces", "validate", "input")[0] == 0
    assert weir("replay", "input", *REPLAY)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "/dev/zero"), "/dev/zero: over 64 MiB"),
        (("replay", "loop"), "loop: cannot be read (Too many levels of symbolic links)"),
        (("replay", "trace.csv", "--reverse", "none.down"), "none.down: no such file"),
        (("replay", "trace.csv", "--queue", "9" * 5000), "is beyond any queue"),
        (
            ("replay", "trace.csv", "--decision-delay", "-1"),
            "--decision-delay '-1': must be greater than or equal to 0",
        ),
        (
            ("replay", "trace.csv", "--decision-delay", "10001"),
            "--decision-delay '10001': must be less than or equal to 10000",
        ),
        (("replay", "trace.csv", "--decision-delay", "nan"), "--decision-delay 'nan': must be"),
        (("replay", "trace.csv", "--model", "."), "--model '.': is no file"),
        (("replay", "trace.csv", "--model", "/dev/zero"), "--model '/dev/zero': is no file"),
        (("replay", "trace.csv", "--model", "empty"), "--model 'empty': has 0 bytes"),
        (("replay", "trace.csv", "--out", "trace.csv"), "--out 'trace.csv': the folder cannot be made (File exists)"),
        (("replay", "trace.csv", "--out", "/dev/full"), "--out '/dev/full': the folder cannot be made"),
        (("replay", "trace.csv", "--out", "loop"), "--out 'loop': the folder cannot be made"),
        (("replay", "trace.csv", "--out", "/proc/self"), "weir: /proc/self"),
        (("model", "/dev/zero"), "/dev/zero: over 64 MiB"),
        (("model", "."), ".: cannot be read (Is a directory)"),
        (("train", "/dev/zero"), "/dev/zero: over 64 MiB"),
        (("train", "digits.toml"), "digits.toml: is not TOML: "),
        (("train", "latin.toml"), "latin.toml: byte 11 is no UTF-8 text"),
        (("whatif", "pipe"), "pipe: is no file; give an event log"),
        (("report", "loop"), "loop: cannot be read (Too many levels of symbolic links)"),
        (("traces", "generate", "step", "--out", "/dev/full", "--force"), "/dev/full: the ending does not give"),
        (("traces", "convert", "trace.csv", "n" * 300 + ".csv"), "(File name too long); make room, or choose another"),
        (("export", "pipe"), "pipe: there is no such checkpoint"),
        (("adapt", "loop", "--objective", "latency"), "loop: there is no such checkpoint"),
        (("serve", "--models", "n" * 300), f"weir: {'n' * 300}: File name too long; check the path"),
    ],
)
def test_no_traceback(weir, tmp_path, arguments, message):
    skip_without_command("whatif" if arguments == ("report", "loop") else arguments[0])
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "digits.toml").write_text("steps = " + "9" * 5000)
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    status, _, error = weir(*arguments)
    assert status == 2
    assert message in error


def test_a_full_disk_is_a_failure(weir):
    status, _, error = weir("traces", "convert", "trace.csv", "/dev/full", "--to", "csv")
    assert (status, "/dev/full: cannot be written (No space left" in error) == (1, True)


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        (("traces", "convert", "trace.csv"), ".csv"),
        (("traces", "generate", "step", "--out"), ".csv"),
        (("link", "trace.csv", "--log"), ".jsonl"),
        (("export", "run", "--out"), ".onnx"),
        (("adapt", "run", "--objective", "latency", "--out"), ".onnx"),
        (("bench", "--build-dir", ".", "--out"), ".json"),
    ],
)
def test_a_file_is_replaced_with_force_alone_and_a_pipe_needs_a_reader(weir, tmp_path, command, suffix):
    skip_without_command(command[0])
    file, pipe = f"there{suffix}", f"pipe{suffix}"
    (tmp_path / file).write_text("mine")
    (tmp_path / "run").mkdir()
    status, _, err = weir(*command, file)
    assert (status, err) == (
        2,
        f"weir: {file}: is there already; choose another name, or add --force to replace it\n",
    )
    assert (tmp_path / file).read_text() == "mine"
    if command[0] in ("traces", "link"):
        os.mkfifo(tmp_path / pipe)
        status, _, err = weir(*command, pipe)
        assert (status, err.splitlines()[-1]) == (2, f"weir: {pipe}: is a pipe that nobody reads; choose another path")


@pytest.mark.parametrize(
    "command", [("export", "run", "--force", "--out", "notes.onnx"), ("model", "notes.onnx", "--card")]
)
def test_a_card_replaces_nothing_but_a_card(weir, tmp_path, command):
    (tmp_path / "notes.onnx").write_bytes(shipped_model().read_bytes())
    (tmp_path / "notes.md").write_text("mine")
    (tmp_path / "run").mkdir()
    status, _, err = weir(*command)
    assert status == 2
    assert err == "weir: notes.md: the model's card goes there, but it is no model card; rename it\n"
    assert (tmp_path / "notes.md").read_text() == "mine"
    (tmp_path / "notes.md").unlink()
    assert [weir("model", "notes.onnx", "--card")[0] for _ in range(2)] == [0, 0]


def test_a_path_that_the_system_refuses_is_one_message():
    program = "import weir_cli.app as app, weir_cli.main as cli; app.build_app = lambda: open('/nowhere/x'); cli.main()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "weir: /nowhere/x: No such file or directory; check the path\n")


@pytest.fixture
def full_after(tmp_path):
    """Runs `weir ARGUMENTS` on a disk that takes no file above so many bytes; returns status and standard error."""

    def run(size_bytes, *arguments, stdout=subprocess.DEVNULL):
        command = [sys.executable, "-c", "from weir_cli.main import main; main()", *arguments]
        ended = subprocess.run(
            command, cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes)),
        )  # fmt: skip
        assert "Traceback" not in ended.stderr
        return ended.returncode, ended.stderr

    return run


@pytest.mark.parametrize(("size_bytes", "file"), [(100, "summary.json"), (40_000, "report.html")])
def test_a_replay_on_a_full_disk_is_one_message_and_goes_on_later(weir, full_after, tmp_path, size_bytes, file):
    command = ("replay", "trace.csv", *REPLAY)
    status, error = full_after(size_bytes, *command)
    assert status == 2
    assert len(error.splitlines()) == 1
    assert error.startswith(f"weir: here/{file}")
    assert ": cannot be written (File too large); make room, or choose another path" in error
    left = [path for path in (tmp_path / "here").rglob("*") if path.name.startswith(".") or path.suffix == ".part"]
    assert left == []
    assert weir(*command)[0] == 0
    assert (tmp_path / "here/report.html").is_file()


def test_a_full_standard_output_is_one_message(full_after):
    with open("/dev/full", "w") as full:
        status, error = full_after(1 << 20, "traces", "list", "--json", stdout=full)
    assert (status, len(error.splitlines())) == (1, 1)
    assert "No space left on device; free some space and try again" in error


def test_no_room_for_temporary_files_is_one_message():
    program = (
        "import resource, tempfile, weir_cli.app as app, weir_cli.main as cli; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "app.build_app = lambda: tempfile.TemporaryFile; cli.main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1)
    assert "No usable temporary directory found" in ended.stderr
    assert ended.stderr.rstrip().endswith("free some space and try again")


def test_near_copies_of_a_path_are_reported_and_count_once(weir, tmp_path):
    names = [f"p{i}.csv" for i in range(8)]
    for i, name in enumerate(names):
        (tmp_path / name).write_text(f"time_s,rate_bps\n0,{1_000_000 + i}\n10,\n")
    (tmp_path / "other.csv").write_text("time_s,rate_bps\n0,1100000\n10,\n")
    status, out, err = weir("replay", *names, "other.csv", *REPLAY, "--json")
    assert status == 0
    assert "7 scenarios copied or cut from another (p1 of p0): they count as one path, and are not independent" in err
    assert json.loads(out)["controllers"]["rule"]["challenge"]["independent"] == 2
    page = (tmp_path / "here/report.html").read_text(encoding="utf-8")
    assert "Not independent" in page
    # 'weir report' has it from the summary.
    status, out, _ = weir("report", "here", "--json")
    assert json.loads(out)["controllers"]["rule"]["challenge"]["independent"] == 2


@pytest.mark.parametrize("command", [["replay", "trace.csv"], ["call", "trace.csv"], ["serve"]])
@pytest.mark.parametrize("argument", [["--out", ""], ["--out="], ["--controller", ""]])
def test_an_empty_argument_is_no_folder(weir, tmp_path, command, argument):
    status, _, err = weir(*command, *argument)
    assert (status, "an argument is empty" in err) == (2, True)
    assert os.listdir(tmp_path) == ["trace.csv"]
