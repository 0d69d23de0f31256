"""An agent in another process decides in a call between two peers: `weir-peer --agent`; when it is gone the rule goes
on, and when it is back it decides again.
"""

import socket
import threading
from dataclasses import replace

import numpy as np
import pytest

from weir.trainer.gym.remote import PolicyServer
from weir.trainer.model.remote_policy import read_remote_policy


class Serving:
    """A server on a thread; `observations` are those that it has answered."""

    def __init__(self, policy, path, answer_bps=None):
        self.observations = []

        def decide(observations, objectives, states):
            self.observations.append((observations, objectives))
            if answer_bps is None:
                return policy.decide(observations, objectives, states)
            return np.full((len(observations), 1), answer_bps), states

        self._server = PolicyServer(replace(policy, decide=decide), path)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with self._server:
            while not self._ended.is_set():
                self._server.step(0.02)

    def end(self):
        self._ended.set()
        self._thread.join(10)


@pytest.fixture(scope="module")
def policy(model):
    return read_remote_policy(model)


@pytest.fixture
def serve(policy, tmp_path):
    servers = []

    def start(**options):
        servers.append(Serving(policy, tmp_path / "agent", **options))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


def is_by(controller, after_us=0):
    return lambda line: line["controller"] == controller and line["time_us"] > after_us


def test_it_decides_and_the_call_outlives_it(start_call, serve, tmp_path):
    server = serve(answer_bps=432_100)
    sender, receiver = start_call((), ("--agent", tmp_path / "agent", "--objective", "0.1,0.8,0.1"))
    assert receiver.of_type("ready")[0]["active"] == "agent"
    estimate = receiver.wait_for("estimate", lambda line: line["target_rate_bps"] == 432_100)
    assert (estimate["controller"], estimate["reason"]) == ("weir", "controller")
    observations, objectives = server.observations[-1]
    assert objectives.tolist() == [pytest.approx([0.1, 0.8, 0.1])]
    assert observations.max() > 100_000
    server.end()
    lost = receiver.wait_for("error")
    assert "closed the connection" in lost["message"]
    assert not lost["fatal"]
    fallen = receiver.wait_for("estimate", is_by("fallback"))
    receiver.wait_for("estimate", lambda line: line["time_us"] > fallen["time_us"] and line["receive_rate_bps"] > 0)
    serve()
    receiver.wait_for("error", lambda line: "is back" in line["message"])
    receiver.wait_for("estimate", is_by("weir", fallen["time_us"]))
    assert (sender.stop(), receiver.stop()) == (0, 0)


def test_it_decides_at_the_sender_and_for_many(start_peer, serve, tmp_path):
    server = serve()
    sending = ("--role", "send", "--controller", "weir-send", "--pattern", "320x180@30", "--agent", tmp_path / "agent")
    pairs = [(start_peer(*sending), start_peer("--role", "receive", "--controller", "gcc")) for _ in range(2)]
    for sender, receiver in pairs:
        sender.hand_on, receiver.hand_on = receiver.send, sender.send
        receiver.wait_for("ready")
        sender.wait_for("ready")
        sender.send({"type": "start"})
    for sender, _ in pairs:
        sender.wait_for("estimate", lambda line: line["reason"] == "controller")
    assert not any(peer.of_type("error") for pair in pairs for peer in pair)
    assert server.observations
    assert [peer.stop() for pair in pairs for peer in pair] == [0] * 4


def test_one_that_is_silent_or_not_there_is_missing(start_peer, tmp_path):
    peer = start_peer("--role", "receive", "--agent", tmp_path / "nobody")
    assert peer.end() == 3
    assert "No such file" in peer.of_type("error")[0]["message"]
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        peer = start_peer("--role", "receive", "--agent", tmp_path / "silent")
        assert peer.end() == 3
    assert "has not described its policy in time" in peer.of_type("error")[0]["message"]
    assert peer.of_type("error")[0]["fatal"]


@pytest.mark.parametrize(
    "others",
    [
        ("--model", "m.onnx"),
        ("--controller", "pilot=rule"),
        ("--own-controller", '{"name":"x","kind":"library","library":"x"}'),
    ],
)
def test_it_decides_alone(start_peer, others):
    peer = start_peer("--role", "receive", "--agent", "here", *others)
    assert peer.end() == 2
    assert "--agent decides alone" in peer.errors.decode()
