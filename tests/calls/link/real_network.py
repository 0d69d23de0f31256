"""UDP through the networks of a link, for its tests: sockets, a sender that keeps time, a receiver with the kernel's
time stamps. All in real time: the link is measured by the clock of the machine.
"""

import functools
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np

from weir_calls.link.namespaces import LEFT_ADDRESS, RIGHT_ADDRESS
from weir_calls.requirements import find_link_devices
from weir_cli.errors import MissingComponent

UDP_IP_BYTES = 28
_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("<q")


MAKE_SOCKET = """
import socket, sys
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b"."], [made.fileno()])
"""


@functools.cache
def missing():
    """The reason that the real link cannot run here; empty if it can."""
    try:
        find_link_devices()
    except MissingComponent as error:
        return str(error)
    return ""


def udp_socket(network):
    """Made in the network of an end; stays there, whoever uses it."""
    own_end, holder_end = socket.socketpair()
    with own_end, holder_end:
        command = network.command([sys.executable, "-S", "-c", MAKE_SOCKET, str(holder_end.fileno())])
        subprocess.run(command, pass_fds=[holder_end.fileno()], check=True)
        _, (descriptor,), *_ = socket.recv_fds(own_end, 1, 1)
    return socket.socket(fileno=descriptor)


class Receiver:
    """Takes what arrives until it is closed: `packets`, an array of (sent, arrived, IP bytes), times in ns of the
    monotonic clock.
    """

    def __init__(self, network, port=5000):
        self._socket = udp_socket(network)
        self._socket.bind((network.address, port))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.settimeout(0.1)
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        self._packets = []
        self._closing = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        self._closing = True
        self._thread.join()
        self._socket.close()

    @property
    def packets(self):
        return np.array(self._packets, dtype=np.int64).reshape(-1, 3)

    def _run(self):
        while not self._closing:
            try:
                data, ancillary, _, _ = self._socket.recvmsg(2048, 256)
            except TimeoutError:
                continue
            seconds, nanoseconds = struct.unpack("<qq", ancillary[0][2][:16])
            arrived_ns = seconds * 10**9 + nanoseconds - self._offset_ns
            self._packets.append((_STAMP.unpack_from(data)[0], arrived_ns, len(data) + UDP_IP_BYTES))


def send(network, rate_bps, duration_s, *, to=RIGHT_ADDRESS, port=5000, ip_bytes=1200):
    """Sends at a constant rate of IP bits, in real time; blocks. Returns when each packet was sent."""
    sending = udp_socket(network)
    payload = bytes(ip_bytes - UDP_IP_BYTES - _STAMP.size)
    interval_ns = round(ip_bytes * 8e9 / rate_bps)
    next_ns = time.monotonic_ns()
    end_ns = next_ns + round(duration_s * 1e9)
    sent_ns = []
    while next_ns < end_ns:
        time.sleep(max(0, next_ns - time.monotonic_ns()) / 1e9)
        sent_ns.append(time.monotonic_ns())
        sending.sendto(_STAMP.pack(sent_ns[-1]) + payload, (to, port))
        next_ns += interval_ns
    sending.close()
    return np.array(sent_ns)


__all__ = ["LEFT_ADDRESS", "RIGHT_ADDRESS", "Receiver", "missing", "send", "udp_socket"]
