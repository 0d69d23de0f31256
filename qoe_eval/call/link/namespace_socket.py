"""A listening socket inside a network namespace, made without leaving one's own."""

from __future__ import annotations

import ctypes
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_NAMESPACES = Path("/run/netns")
_CLONE_NEWNET = 0x40000000


def listening_socket(namespace: str | None) -> socket.socket:
    """A TCP socket that listens on 127.0.0.1, at a port of the system's choice, in the namespace of that name (None:
    this process's own). A socket stays in the namespace it was made in, whoever uses it.

    Raises:
        OSError: there is no such namespace, or this process may not enter it.
    """
    if namespace is None:
        return _listen()
    # The thread enters the namespace and ends there: no other work ever runs in it.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_enter_and_listen, namespace).result()


def _enter_and_listen(namespace: str) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(_NAMESPACES / namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(descriptor, _CLONE_NEWNET) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"cannot enter the network namespace {namespace}: {os.strerror(error)}")
    finally:
        os.close(descriptor)
    return _listen()


def _listen() -> socket.socket:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    return listening
