import importlib.util
import json
from pathlib import Path

import pytest

from weir.qoe_eval.call.media import source_video

FAKE_PEER = Path(__file__).parent / "fake_weir_peer.py"


@pytest.fixture
def fake_peer(monkeypatch, tmp_path):
    """The stand-in for weir-peer; fake_peer(receive="die in call") makes it misbehave, fake_peer.heard() returns the
    messages that it received.
    """
    monkeypatch.setenv("WEIR_PEER", str(FAKE_PEER))
    monkeypatch.delenv("FAKE_WEIR_PEER", raising=False)
    monkeypatch.setenv("FAKE_WEIR_PEER_HEARD", str(tmp_path / "heard.jsonl"))
    return FakePeer(monkeypatch, tmp_path / "heard.jsonl")


class FakePeer:
    def __init__(self, monkeypatch, heard):
        self._monkeypatch = monkeypatch
        self._heard = heard

    def __call__(self, **behaviour):
        self._monkeypatch.setenv("FAKE_WEIR_PEER", json.dumps(behaviour))

    def heard(self):
        return [json.loads(line) for line in self._heard.read_text().splitlines()] if self._heard.exists() else []


@pytest.fixture(scope="session")
def fake_call():
    """The module fake_call.py: a call without root."""
    return _load("fake_call")


@pytest.fixture(scope="session")
def made_call():
    """The module made_call.py: logs of a call with known measures."""
    return _load("made_call")


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A small source video."""
    return source_video.make(tmp_path_factory.mktemp("source"), 320, 180)


def _load(name):
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
