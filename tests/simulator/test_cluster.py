"""Joining a cluster: what is wrong with it is one message. Ray itself is a stand-in here."""

import socket
import sys
import types

import pytest

from weir_cli.errors import InputError
from weir_sim import cluster

MISMATCH = (
    "Version mismatch: The cluster was started with:\n    Ray: 2.59.0\nThis process was started with:\n    Ray: 2.60.0"
)


@pytest.fixture
def ray(monkeypatch):
    """A `ray` whose cluster has another version."""

    def init(address, **arguments):
        raise RuntimeError(MISMATCH)

    found = types.ModuleType("ray")
    found.init, found.shutdown = init, lambda: None
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(cluster, "require", lambda extra: None)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    return found


def joined(address):
    with cluster.connected(address):
        pass


@pytest.mark.parametrize("address", ["", "nowhere", "host:", ":6379", "host:port", "host:0", "host:70000"])
def test_an_address_that_is_none(ray, address):
    with pytest.raises(InputError, match=r'must be "auto" or HOST:PORT'):
        joined(address)


def test_a_cluster_that_is_not_there(ray):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(InputError, match=rf"--address '127.0.0.1:{port}': there is no cluster .*ray start --head"):
        joined(f"127.0.0.1:{port}")


def test_another_version_of_ray_is_one_line(ray):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with pytest.raises(InputError, match=r"cannot join .*: Version mismatch: .*2\.59\.0 .*2\.60\.0") as raised:
            joined(f"127.0.0.1:{listening.getsockname()[1]}")
    assert "\n" not in str(raised.value)


def test_ray_that_does_not_start_is_one_line(ray):
    with pytest.raises(cluster.ClusterError, match=r"Ray does not start on this machine: Version mismatch") as raised:
        joined(None)
    assert "\n" not in str(raised.value)
