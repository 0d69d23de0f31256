"""The server of a policy for many calls, in this process: the tests are its calls, over sockets."""

import json
import socket
import stat
import struct

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from weir._core import Policy
from weir.errors import InputError
from weir.installation import shipped_model
from weir.trainer.gym import ActionSpecification, EnvironmentSpecification
from weir.trainer.gym.process import FRAME_HEADER
from weir.trainer.gym.remote import BEGINS, MOST_WAITING, STEP_FIELDS, PolicyServer, RemotePolicy
from weir.trainer.model.export import export
from weir.trainer.model.remote_policy import read_remote_policy
from weir.trainer.policies.recurrent import RecurrentPolicy

SIZE = 4
REQUEST = {
    "interval_ms": 100, "features": ["receive_rate_bps", "loss_ratio"], "history": 2,
    "action": {"kind": "rate_bps", "min_bps": 3e4, "max_bps": 5e7},
}  # fmt: skip


class Call:
    """One end of a connection, as weir-peer has it."""

    def __init__(self, server, path, greet=True):
        self._server = server
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(5)
        self._socket.connect(str(path))
        server.step(0.0)
        self.request = self.read("R")
        if greet:
            self.send("C", json.dumps({"observation_size": SIZE, "step_fields": STEP_FIELDS}).encode())

    def send(self, kind, payload=b""):
        self.send_raw(FRAME_HEADER.pack(len(payload), ord(kind)) + payload)

    def send_raw(self, data):
        self._socket.sendall(data)
        self._server.step(0.0)

    def observe(self, *values, flags=0, objective=(0.4, 0.5, 0.1)):
        """Sends without waking the server, so that what several calls send waits together."""
        payload = struct.pack(f"<B{len(values)}f3d", flags, *values, *objective)
        self._socket.sendall(FRAME_HEADER.pack(len(payload), ord("O")) + payload)

    def read(self, kind):
        length, found = FRAME_HEADER.unpack(self._read(FRAME_HEADER.size))
        assert chr(found) == kind
        return self._read(length)

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            assert part, "the connection was closed"
            data += part
        return data

    def answer(self):
        """Action and objective of the next step."""
        return struct.unpack("<4f", self.read("S"))

    def assert_refused(self, reason):
        assert reason in self.read("E").decode()
        assert self._socket.recv(1) == b""

    def close(self):
        self._socket.close()
        self._server.step(0.0)


def counting(observations, objectives, states):
    """The first feature, and how many observations the call has made; batches are kept."""
    counting.batches.append(len(observations))
    counting.objectives = objectives
    return observations[:, :1] + 1000 * states, states + 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent"


@pytest.fixture
def server(path):
    counting.batches = []
    with PolicyServer(RemotePolicy(REQUEST, SIZE, counting, state_size=1), path) as server:
        yield server


def test_what_waits_is_decided_in_one_batch_with_the_state_of_each_call(server, path):
    calls = [Call(server, path) for _ in range(5)]
    assert json.loads(calls[0].request) == REQUEST
    assert server.calls == 5
    for interval in range(3):
        for number, call in enumerate(calls[interval:]):
            call.observe(number, 0, 0, 0)
        assert server.step(1.0) == len(calls) - interval
        for number, call in enumerate(calls[interval:]):
            action, *objective = call.answer()
            assert action == number + 1000 * interval
            assert np.isnan(objective).all()
    assert counting.batches == [5, 4, 3]
    assert counting.objectives[0] == pytest.approx([0.4, 0.5, 0.1])
    calls[4].observe(1, 0, 0, 0, flags=BEGINS)
    assert server.step(1.0) == 1
    assert calls[4].answer()[0] == 1
    calls[4].observe(1, 0, 0, 0)
    assert server.step(1.0) == 1
    assert calls[4].answer()[0] == 1001


def test_every_observation_is_answered_in_order(server, path):
    behind, other = Call(server, path), Call(server, path)
    for number in range(3):
        behind.observe(number, 0, 0, 0)
    other.observe(7, 0, 0, 0)
    assert [server.step(0.0) for _ in range(4)] == [2, 1, 1, 0]
    assert [behind.answer()[0] for _ in range(3)] == [0, 1001, 2002]
    assert other.answer()[0] == 7


def test_an_answer_that_is_not_finite_is_one_calls_fault_and_its_state_begins_anew(path):
    def sometimes(observations, objectives, states):
        return observations[:, :1] + states, np.where(observations[:, :1] < 0, np.inf, states + 1)

    with PolicyServer(RemotePolicy(REQUEST, SIZE, sometimes, state_size=1), path) as server:
        calls = [Call(server, path) for _ in range(2)]
        for values in ((5, -5), (5, 5)):
            for call, value in zip(calls, values, strict=True):
                call.observe(value, 0, 0, 0)
            server.step(1.0)
        assert [calls[0].answer()[0] for _ in range(2)] == [5, 6]
        assert np.isnan(calls[1].answer()[0])
        assert calls[1].answer()[0] == 5


OBSERVATION = struct.pack("<B4f3d", 0, 1, 2, 3, 4, 0.4, 0.5, 0.1)
NOT_FINITE = struct.pack("<B4f3d", 0, 1, float("nan"), 3, 4, 0.4, 0.5, 0.1)


@pytest.mark.parametrize(
    ("kind", "payload", "reason"),
    [
        ("O", b"", "instead of an observation"),
        ("O", OBSERVATION + b"x", "instead of an observation"),
        ("S", OBSERVATION, "instead of an observation"),
        ("\x00", b"", "instead of an observation"),
        ("O", NOT_FINITE, "not finite"),
        ("O", struct.pack("<B4f3d", 0, 1, 2, 3, 4, 1e308, 0.5, 0.1), "weights that are not 0 to 1"),
    ],
)
def test_a_call_that_breaks_the_protocol_is_dropped_and_the_others_go_on(server, path, kind, payload, reason):
    good, bad = Call(server, path), Call(server, path)
    bad.send(kind, payload)
    bad.assert_refused(reason)
    assert server.calls == 1
    good.observe(3, 0, 0, 0)
    assert server.step(1.0) == 1
    assert good.answer()[0] == 3


@pytest.mark.parametrize(
    ("kind", "payload", "reason"),
    [
        ("C", b"{}", "greeting"),
        ("C", b"\xff\xff", "greeting"),
        ("C", b"[" * 60_000, "greeting"),
        ("C", b'{"observation_size": 5, "step_fields": ["throughput", "latency", "loss"]}', "greeting"),
        ("C", b'{"observation_size": 4, "step_fields": 3}', "greeting"),
        ("O", OBSERVATION, "greeting"),
        ("E", b"no such feature", "refuses the policy: 'no such feature'"),
    ],
)
def test_a_call_that_does_not_greet_is_dropped(server, path, kind, payload, reason):
    call = Call(server, path, greet=False)
    call.send(kind, payload)
    call.assert_refused(reason)
    assert server.calls == 0


def test_lengths_and_what_waits_are_bounded(server, path):
    long = Call(server, path)
    long.send_raw(FRAME_HEADER.pack(0xFFFFFFFF, ord("O")))
    long.assert_refused("a frame of 4294967295 bytes")
    many = Call(server, path)
    for _ in range(MOST_WAITING + 1):
        many.observe(1, 2, 3, 4)
    server.step(0.0)
    many.assert_refused(f"more than {MOST_WAITING} observations")
    # Half a frame is waited for; the end of a connection is no fault.
    half = Call(server, path)
    half.send_raw(FRAME_HEADER.pack(len(OBSERVATION), ord("O")) + OBSERVATION[:9])
    assert server.calls == 1
    half.send_raw(OBSERVATION[9:])
    assert half.answer()[0] == 1
    half.close()
    assert server.calls == 0


def test_a_call_that_reads_nothing_is_dropped(path):
    def wide(observations, objectives, states):
        return np.zeros((len(observations), 10_000)), states

    with PolicyServer(RemotePolicy(REQUEST, SIZE, wide), path) as server:
        call = Call(server, path)
        for _ in range(100):
            if not server.calls:
                break
            call.observe(1, 2, 3, 4)
            server.step(1.0)
        assert server.calls == 0


def test_the_socket_is_for_this_user_and_goes_with_its_server(path):
    policy = RemotePolicy(REQUEST, SIZE, counting)
    with PolicyServer(policy, path) as server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(InputError, match="no socket can be made there: Address already in use"):
            PolicyServer(policy, path)
        # The other one has looked whether somebody listens.
        server.step(0.0)
        Call(server, path)
    assert not path.exists()
    # As a server that was killed leaves it.
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with PolicyServer(policy, path) as server:
        Call(server, path)
    path.write_text("mine")
    with pytest.raises(InputError, match="no socket can be made there"):
        PolicyServer(policy, path)
    assert path.read_text() == "mine"
    with pytest.raises(InputError, match="no socket can be made there"):
        PolicyServer(policy, "x" * 200)


def test_a_model_file_decides_for_many_as_the_library_does_for_one():
    policy = read_remote_policy(shipped_model())
    library = Policy(shipped_model().read_bytes())
    metadata = {one.key: one.value for one in onnx.load(shipped_model()).metadata_props}
    golden = json.loads(metadata["weir.golden"])
    rows = np.array([one["observation"] for one in golden], dtype=np.float32)
    objectives = np.array([one["objective"] for one in golden], dtype=np.float32)
    actions, _ = policy.decide(rows, objectives, np.zeros((len(rows), 0), dtype=np.float32))
    for row, objective, action in zip(rows, objectives, actions, strict=True):
        assert library.run(row, objective=objective.tolist()) == pytest.approx(action, rel=1e-4)
    assert policy.observation_size == rows.shape[1]
    assert policy.request["interval_ms"] == 100


@pytest.fixture
def specification():
    features = ("receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps")
    return EnvironmentSpecification(
        interval_ms=100, features=features, history=2, action=ActionSpecification("around_rule")
    )


def test_a_recurrent_model_has_a_state_for_each_row(specification, tmp_path):
    export(RecurrentPolicy(specification, hidden=4), specification, tmp_path / "lstm.onnx")
    policy = read_remote_policy(tmp_path / "lstm.onnx")
    assert policy.state_size == 8
    assert policy.request["action"]["kind"] == "rate_bps"
    rows = np.random.default_rng(1).uniform(1, 1e6, (3, policy.observation_size)).astype(np.float32)
    objectives = np.full((3, 3), 1 / 3, dtype=np.float32)
    states = np.random.default_rng(2).uniform(-1, 1, (3, 8)).astype(np.float32)
    together = policy.decide(rows, objectives, states)
    for i in range(3):
        alone = policy.decide(rows[i : i + 1], objectives[i : i + 1], states[i : i + 1])
        for one, all_of_them in zip(alone, together, strict=True):
            assert one[0] == pytest.approx(all_of_them[i], rel=1e-5, abs=1e-6)


def test_a_model_that_cannot_be_used_is_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_remote_policy(tmp_path / "none.onnx")
    model = onnx.load(shipped_model())
    weights = next(one for one in model.graph.initializer if one.name == "head.weight")
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights) + 1, weights.name))
    changed = tmp_path / "changed.onnx"
    changed.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="golden vector"):
        read_remote_policy(changed)
