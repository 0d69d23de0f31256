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
def user_folder():
    """A folder of that user's; those of pytest are root's alone."""
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, ordinary_user.ORDINARY_USER.pw_uid, ordinary_user.ORDINARY_USER.pw_gid)
    yield folder
    shutil.rmtree(folder)


@needs_link
def test_a_call_of_two_commands(user_folder):
    for name in ("sender.py", "receiver.py"):
        (user_folder / name).write_text((EXAMPLES / name).read_text())
    (user_folder / "path.csv").write_text("time_s,rate_bps\n0,2000000\n")
    done = ordinary_user.run(
        ordinary_user.WEIR, "call", str(user_folder / "path.csv"), "--duration", "5",
        "--out", str(user_folder / "calls"), "--controller", "new",
        "--sender", f"id -u > {user_folder}/user; exec python3 {user_folder}/sender.py",
        "--receiver", f"exec python3 {user_folder}/receiver.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, (user_folder / "calls/results.jsonl").read_text().splitlines())
    assert record["controller"] == "new"
    assert record["metrics"]["run"]["received_bitrate_bps"] > 0.5e6
    assert (user_folder / "user").read_text() == f"{ordinary_user.ORDINARY_USER.pw_uid}\n"
    assert {path.stat().st_uid for path in (user_folder / "calls").rglob("*")} == {ordinary_user.ORDINARY_USER.pw_uid}


def test_the_page(user_folder):
    arguments = ["serve", "catalogue/steps", "--port", "0", "--out", str(user_folder / "out")]
    with ordinary_user.start(ordinary_user.WEIR, *arguments) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), process.communicate()[1]
            with urllib.request.urlopen(f"{address}setup", timeout=10) as answer:
                assert '"steps"' in answer.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
        finally:
            process.kill()
