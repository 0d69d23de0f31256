"""`weir call` and `weir serve` as a user without privileges: nothing needs root, and nothing runs as it."""

import json
import os
import shutil
import signal
import tempfile
import urllib.request
from pathlib import Path

import pytest
from call.test_commands import EXAMPLES, needs_link
from link import ordinary_user

pytestmark = pytest.mark.skipif(bool(ordinary_user.missing()), reason=ordinary_user.missing())


@pytest.fixture
def theirs():
    """A folder of that user's; those of pytest are root's alone."""
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, ordinary_user.NOBODY.pw_uid, ordinary_user.NOBODY.pw_gid)
    yield folder
    shutil.rmtree(folder)


@needs_link
def test_a_call_of_two_commands(theirs):
    for name in ("sender.py", "receiver.py"):
        (theirs / name).write_text((EXAMPLES / name).read_text())
    (theirs / "path.csv").write_text("time_s,rate_bps\n0,2000000\n")
    done = ordinary_user.run(
        ordinary_user.WEIR, "call", str(theirs / "path.csv"), "--duration", "5", "--out", str(theirs / "calls"),
        "--controller", "new", "--sender", f"id -u > {theirs}/user; exec python3 {theirs}/sender.py",
        "--receiver", f"exec python3 {theirs}/receiver.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, (theirs / "calls/results.jsonl").read_text().splitlines())
    assert record["controller"] == "new"
    assert record["metrics"]["run"]["received_bitrate_bps"] > 0.5e6
    assert (theirs / "user").read_text() == f"{ordinary_user.NOBODY.pw_uid}\n"
    assert {path.stat().st_uid for path in (theirs / "calls").rglob("*")} == {ordinary_user.NOBODY.pw_uid}


def test_the_page(theirs):
    arguments = ["serve", "catalogue/steps", "--port", "0", "--out", str(theirs / "out")]
    with ordinary_user.start(ordinary_user.WEIR, *arguments) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), process.communicate()[1]
            with urllib.request.urlopen(address.replace("/?", "/setup?"), timeout=10) as answer:
                assert '"steps"' in answer.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
        finally:
            process.kill()
