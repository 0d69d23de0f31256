import json
from pathlib import Path

import call.fake_call
import call.made_call
import pytest

from weir_calls.call import session
from weir_calls.call.media import source_video

FAKE_PEER = Path(__file__).parent / "fake_weir_peer.py"


@pytest.fixture
def fake_peer(monkeypatch, tmp_path):
    """The stand-in for weir-peer; fake_peer(receive="die in call") makes it misbehave.

    fake_peer.received_orders() returns the messages that it received.
    """
    monkeypatch.setenv("WEIR_PEER", str(FAKE_PEER))
    monkeypatch.delenv("FAKE_WEIR_PEER", raising=False)
    monkeypatch.setenv("FAKE_WEIR_PEER_HEARD", str(tmp_path / "heard.jsonl"))
    return FakePeer(monkeypatch, tmp_path / "heard.jsonl")


class FakePeer:
    def __init__(self, monkeypatch, orders_log):
        self._monkeypatch = monkeypatch
        self._orders_log = orders_log

    def __call__(self, **behaviour):
        self._monkeypatch.setenv("FAKE_WEIR_PEER", json.dumps(behaviour))

    def received_orders(self):
        return (
            [json.loads(line) for line in self._orders_log.read_text().splitlines()]
            if self._orders_log.exists()
            else []
        )


@pytest.fixture(scope="session")
def fake_call():
    """The module fake_call.py: a call without a link."""
    return call.fake_call


@pytest.fixture(scope="session")
def made_call():
    """The module made_call.py: logs of a call with known measures."""
    return call.made_call


@pytest.fixture
def simulated_link(monkeypatch, tmp_path):
    """Calls have no networks, no link, no video and no speech."""
    monkeypatch.setattr(session, "CallNamespaces", call.fake_call.FakeNamespaces)
    monkeypatch.setattr(session, "LinkProcess", call.fake_call.FakeLink)
    monkeypatch.setattr(session, "source_video_path", lambda width, height, on_progress: tmp_path / "source.y4m")
    monkeypatch.setattr(session, "source_speech_path", lambda: tmp_path / "speech.wav")
    monkeypatch.setattr("weir_calls.call.record.source_video_path", lambda width, height: None)
    # How busy this machine is does not matter here.
    monkeypatch.setattr("weir_calls.call.disturbance.LARGEST_WAKE_UP_LAG_MS", 1e9)
    monkeypatch.setattr("weir_calls.call.disturbance.LONGEST_S", 1e9)


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A small source video."""
    return source_video.make(tmp_path_factory.mktemp("source"), 320, 180)
