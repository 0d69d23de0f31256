"""`weir serve` as a user starts it: its address, its end, its complaints."""

import asyncio
import json
import math
import os
import queue
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from processes import wait_until
from serve.fake_call import FakeCalls
from serve.test_server import CALL

from weir_calls import serve_command
from weir_calls.serve.models import Models
from weir_calls.serve.setup_description import describe_setup, offered_scenarios
from weir_traces.catalogue import load_bundled

WEIR = [sys.executable, "-c", "from weir_cli.main import main; main()", "serve"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_serves_and_ends(tmp_path, number):
    scenario = tmp_path / "mine.json"
    load_bundled("steps").model_copy(update={"name": "mine"}).save(scenario)
    command = [*WEIR, str(scenario), "--port", "0", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32,}/", address)
            with urllib.request.urlopen(f"{address}setup", timeout=10) as answer:
                text = answer.read().decode()
            assert '"mine"' in text
            assert '"muses-cross-traffic"' in text
            process.send_signal(number)
            assert process.wait(120) == 0
        finally:
            process.kill()


BROWSER = """#!/bin/sh
echo "$1" > "$BROWSER_ARGUMENTS.part" && mv "$BROWSER_ARGUMENTS.part" "$BROWSER_ARGUMENTS"
exec tail -f /dev/null
"""


def test_no_argument_of_the_browser_has_the_token(tmp_path):
    """The browser stays in the foreground: the server ends all the same."""
    (tmp_path / "browser").write_text(BROWSER)
    (tmp_path / "browser").chmod(0o700)
    arguments = tmp_path / "arguments"
    command = [*WEIR, "--port", "0", "--out", str(tmp_path / "out"), "--browser"]
    environment = os.environ | {"BROWSER": str(tmp_path / "browser"), "BROWSER_ARGUMENTS": str(arguments)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            address = process.stdout.readline().strip()
            wait_until(arguments.exists, "the start of the browser")
            (token,) = re.findall(r"[\w-]{32,}", address)
            for pid in processes_of_session(process.pid):
                assert token not in Path(f"/proc/{pid}/cmdline").read_text()
            file = Path(urllib.request.url2pathname(arguments.read_text().strip().removeprefix("file://")))
            assert f"url={address}" in file.read_text()
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0
            assert not file.parent.exists()
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def processes_of_session(session):
    """The server and the browser that it started."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    found = []
    for pid in pids:
        with suppress(OSError):
            found += [pid] if os.getsid(pid) == session else []
    assert len(found) >= 2
    return found


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nowhere.json"], 2, "nowhere.json"),
        (["--out", "steps.json/below"], 2, "--out"),
        (["--port", "65536"], 2, "--port"),
        (["--models", "steps.json"], 2, "--models 'steps.json': no such folder"),
    ],
)
def test_wrong_use_is_one_message(tmp_path, arguments, status, message):
    load_bundled("steps").save(tmp_path / "steps.json")
    ended = subprocess.run([*WEIR, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == status
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_in_use(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        command = [*WEIR, "--port", port, "--out", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr == (
        f"weir: 127.0.0.1:{port} is not available (Address already in use); use another --port, or 0 for any\n"
    )


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_waits_for_the_measures_and_a_second_one_does_not(tmp_path, monkeypatch, presses):
    calls = FakeCalls(hold_s=math.inf, measuring=0.4)
    monkeypatch.setattr("weir_calls.serve.call_runner.real_calls", calls.backend)
    lines = queue.Queue()
    monkeypatch.setattr(serve_command.typer, "echo", lambda text, err=False: lines.put(text))

    def press():
        url = lines.get(timeout=60).split()[0]
        origin = url.split("/", 3)
        request = urllib.request.Request(url + "call", json.dumps(CALL).encode(), {"Origin": "/".join(origin[:3])})
        urllib.request.urlopen(request, timeout=60).close()
        wait_until(lambda: calls.being_measured, "the call is not measured")
        os.kill(os.getpid(), signal.SIGINT)
        texts.append(lines.get(timeout=60))
        if presses == 2:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            calls.release()

    texts = []
    thread = threading.Thread(target=press)
    thread.start()
    serving = serve_command._serve(offered_scenarios([]), 0, tmp_path, Models(None), False)
    assert asyncio.run(serving) == 0
    thread.join()
    texts += [lines.get_nowait() for _ in range(lines.qsize())]
    (folder,) = tmp_path.iterdir()
    assert texts[0] == f"stopping and measuring the call in {folder}; Ctrl-C again ends without"
    assert texts[1:] == ([] if presses == 1 else ["interrupted: the logs of the call are kept, without measures"])
    assert (folder / "call.json").exists() is (presses == 1)


def test_a_file_takes_the_place_of_the_bundled_scenario_of_its_name(tmp_path):
    user_scenario = load_bundled("steps").model_copy(update={"description": "mine"})
    user_scenario.save(tmp_path / "steps.json")
    groups = offered_scenarios([str(tmp_path / "steps.json")])
    assert [scenario.description for group in groups.values() for scenario in group if scenario.name == "steps"] == [
        "mine"
    ]
    assert describe_setup(groups, tmp_path)["own"] == ["steps"]
    assert describe_setup(offered_scenarios([]), tmp_path)["own"] == []
