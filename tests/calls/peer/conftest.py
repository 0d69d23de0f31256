"""Two `weir-peer` processes that call each other over loopback."""

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

from weir_cli.errors import MissingComponent
from weir_sim.executables import find_peer

MODEL = Path(__file__).parents[3] / "estimator/models/weir.onnx"
SIGNALLING = ("offer", "answer", "candidate")
# For what hangs, not for a busy machine.
LIMIT_S = 120.0


class Peer:
    """A process, and all lines it wrote. What is not JSON ends in `not_json`."""

    def __init__(self, executable, *arguments):
        self.process = subprocess.Popen(
            [str(executable), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines = []
        self.not_json = []
        self.errors = b""
        self.hand_on = lambda line: None
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self):
        for text in self.process.stdout:
            try:
                line = json.loads(text)
            except ValueError:
                self.not_json.append(text)
                continue
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
            if line["type"] in SIGNALLING:
                self.hand_on(line)

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, line):
        self.send_raw(json.dumps(line).encode() + b"\n")

    def send_raw(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def of_type(self, name):
        with self._changed:
            return [line for line in self.lines if line["type"] == name]

    def wait_for(self, name, condition=lambda line: True, timeout_s=LIMIT_S):
        """The first line of that type that fulfils the condition."""
        end = time.monotonic() + timeout_s
        with self._changed:
            while True:
                for line in self.lines:
                    if line["type"] == name and condition(line):
                        return line
                left = end - time.monotonic()
                assert left > 0, f"no such line {name} in {timeout_s} s; {[x['type'] for x in self.lines[-20:]]}"
                self._changed.wait(left)

    def wait_for_state(self, state, timeout_s=LIMIT_S):
        return self.wait_for("state", lambda line: line["state"] == state, timeout_s)

    def end(self, timeout_s=LIMIT_S):
        """The exit status, once everything has been read."""
        status = self.process.wait(timeout_s)
        for thread in self._threads:
            thread.join(timeout_s)
        return status

    def stop(self):
        self.send({"type": "stop"})
        return self.end()


@pytest.fixture(scope="session")
def executable():
    try:
        return find_peer()
    except MissingComponent as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def start_peer(executable):
    """Starts a peer; all are killed in the end."""
    peers = []

    def start(*arguments):
        peers.append(Peer(executable, *arguments))
        return peers[-1]

    yield start
    for peer in peers:
        peer.process.kill()
        peer.end()


@pytest.fixture(scope="module")
def start_call(start_peer):
    """Starts a sender and a receiver that call each other. A small picture: the machine is not to be the limit."""

    def start(sender=(), receiver=()):
        receiving = start_peer("--role", "receive", *receiver)
        sending = start_peer("--role", "send", "--pattern", "320x180@30", *sender)
        receiving.hand_on, sending.hand_on = sending.send, receiving.send
        receiving.wait_for("ready")
        sending.wait_for("ready")
        sending.send({"type": "start"})
        return sending, receiving

    return start


@pytest.fixture(scope="session")
def model():
    return MODEL
