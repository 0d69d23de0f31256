"""Connects to Ray: to a running cluster, or to one on this machine that runs as long as a command.

Ray's usage statistics are off. The cluster of a single command has a random token.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import weir
from weir_cli.errors import ComponentFailed, InputError
from weir_cli.installation import require
from weir_sim.executables import find_simulator

_ANSWER_S: Final = 60.0
_CONNECT_S: Final = 5.0
_QUIET: Final[dict[str, Any]] = {"log_to_driver": False, "logging_level": logging.CRITICAL}


class ClusterError(ComponentFailed):
    """A cluster failed while a command worked on it. The message has the fault, its place and how to go on."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Joins the cluster at `address`, "auto" or HOST:PORT. None starts one on this machine that ends with the block.

    Raises:
        MissingComponent: Ray is not installed.
        InputError: there is no such cluster, its Ray is another version, or a machine of it lacks this Weir.
        ClusterError: Ray does not start on this machine.
    """
    require("weir-sim[distributed]")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address is None:
        # Ray would give its workers the lowest priority: on a busy machine they would get no time.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_worker_niceness": "0"}
    import ray

    try:
        if address is None:
            _start()
        else:
            _join(address)
            _check_machines()
        yield
    finally:
        ray.shutdown()


def core_count() -> int:
    """The number of cores of the joined cluster."""
    import ray

    return int(ray.cluster_resources().get("CPU", 0))


def _start() -> None:
    import ray

    cores = len(os.sched_getaffinity(0))
    try:
        ray.init("local", num_cpus=cores, include_dashboard=False, _node_ip_address="127.0.0.1", **_QUIET)
    # On a busy machine Ray's processes start too late.
    except Exception as error:
        raise ClusterError(f"Ray does not start on this machine: {_reason(error)}") from None


def _join(address: str) -> None:
    import ray

    host, _, port = address.rpartition(":")
    if address != "auto":
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise InputError(f'--address {address}: must be "auto" or HOST:PORT')
        try:
            socket.create_connection((host, int(port)), _CONNECT_S).close()
        except OSError as error:
            raise InputError(
                f"--address '{address}': there is no cluster ({error.strerror or error}); start one: ray start --head"
            ) from None
    try:
        ray.init(address, **_QUIET)
    except Exception as error:
        raise InputError(f"--address '{address}': cannot join the cluster: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """The message of an exception of Ray, which may span pages, as one line."""
    return " ".join(str(error).split())[:300]


def _check_machines() -> None:
    """Checks that every machine has this version of Weir and a `weir-sim`."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0)(_machine)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    answers = [
        task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
        for node in nodes
    ]
    for node, answer in zip(nodes, answers, strict=True):
        try:
            version, fault = ray.get(answer, timeout=_ANSWER_S)
        except Exception as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            version, fault = None, lines[-1][:300]
        if not fault and version != weir.__version__:
            fault = f"has Weir {version}, and this is {weir.__version__}"
        if fault:
            raise InputError(
                f"machine {node['NodeManagerAddress']} of the cluster: {fault}; give all machines the same installation"
            )


def _machine() -> tuple[str, str]:
    """The version of Weir on this machine, and its fault or ""."""
    try:
        find_simulator()
    except Exception as error:
        return weir.__version__, str(error)
    return weir.__version__, ""
