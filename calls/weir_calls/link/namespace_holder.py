"""Makes and holds the namespaces of a link: `namespace_holder.py CONTROL ADDRESS...`.

A script that uses only the standard library and starts in milliseconds. In a user namespace of the caller, it makes a
PID namespace and, for each IPv4 address, a network with one device: a TUN device if the user may open one, else a veth
pair with a packet socket. It sends their descriptors through the socket CONTROL. When that closes or receives a byte,
it kills every process in the PID namespace; without the byte the owner is dead, and its temporary folders are removed.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import stat
import struct
import sys

_DEVICE = b"weir0"
_NETMASK = "255.255.255.252"
_MTU = 1500
# Both devices of a pair have this address, so that a packet socket on one has the destination address of the other.
_MAC_ADDRESS = bytes((2, 0, 0, 0, 0, 1))
_RECEIVE_BUFFER_BYTES = 4 << 20
_OWNER_LIMIT_S = 10.0
_REMOVE_FOLDERS = "from weir_calls.link.leftovers import remove_scratch_folders; remove_scratch_folders()"

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG = 1
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 1, 0x1000
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFMTU, _SIOCETHTOOL = 0x8914, 0x8916, 0x891C, 0x8922, 0x8946
_IFF_UP, _IFF_NOARP = 0x1, 0x80
# ethtool commands: checksums, scatter/gather, TCP and generic segmentation offload.
_OFFLOADS = {"STXCSUM": 0x17, "SSG": 0x19, "STSO": 0x1F, "SGSO": 0x24}
_ETH_P_IP = 0x0800
_RTM_NEWLINK, _NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_EXCL, _NLM_F_CREATE = 16, 0x1, 0x4, 0x200, 0x400
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_LINKINFO, _IFLA_NET_NS_FD = 1, 3, 18, 28
_IFLA_INFO_KIND, _IFLA_INFO_DATA, _VETH_INFO_PEER = 1, 2, 1
_IFINFOMSG = bytes(16)

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Runs until the owner releases the namespaces or dies."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control, owner = socket.socket(fileno=int(sys.argv[1])), os.pidfd_open(os.getppid())
    init = 0
    try:
        _make_user_namespace()
        _call("unshare", _CLONE_NEWPID | _CLONE_NEWNS | _CLONE_NEWNET)
        init = os.fork()
        if init == 0:
            _run_init(control)
    except OSError as error:
        control.send(json.dumps({"error": str(error)}).encode())
    dismissed = control.recv(1)
    if init:
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)
    if not dismissed:
        # A dying process closes its files first: wait for its end.
        select.select([owner], [], [], _OWNER_LIMIT_S)
        # A child would be in the PID namespace, which accepts no more processes.
        os.execv(sys.executable, [sys.executable, "-P", "-c", _REMOVE_FOLDERS])


def _call(function: str, *arguments: object) -> None:
    if getattr(_libc, function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), function)


def _make_user_namespace() -> None:
    """Moves this process to a new user namespace, with every capability and the same user."""
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("gid_map", f"{group} {group} 1"), ("uid_map", f"{user} {user} 1")):
        _write(f"/proc/self/{name}", text)


def _run_init(control: socket.socket) -> None:
    """Runs the first process of the PID namespace: makes the networks, and reaps processes that have ended."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        # Containers may forbid this; then programs see the processes outside.
        with contextlib.suppress(OSError):
            _call("mount", b"proc", b"/proc", b"proc", 0, None)
        between = _namespace("net")
        shared = [_namespace("user"), _namespace("mnt"), _namespace("pid")]
        networks = []
        for address in sys.argv[2:]:
            _call("unshare", _CLONE_NEWNET)
            networks.append(_make_network(address, between))
            _call("setns", between, _CLONE_NEWNET)
        has_sockets = stat.S_ISSOCK(os.fstat(networks[0][1]).st_mode)
        # Programs enter namespaces by descriptor number; these stay open here.
        answer = {
            "devices": "veth pairs" if has_sockets else "TUN devices",
            "namespaces": [[*shared, network] for network, _, _ in networks],
        }
        sent = [os.pidfd_open(os.getpid()), *(descriptor for network in networks for descriptor in network)]
    except OSError as error:
        sent, answer = [], {"error": str(error)}
    socket.send_fds(control, [json.dumps(answer).encode()], sent)
    control.close()
    while True:
        signal.sigwait({signal.SIGCHLD})
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _make_network(address: str, between: int) -> list[int]:
    """Returns the descriptors of this network, of its device, and of a TCP socket in it."""
    # IPv6 announcements would cross the link like the program's packets. Containers may forbid disabling them.
    with contextlib.suppress(OSError):
        _write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")
    network = _namespace("net")
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    _set(tcp, _SIOCSIFFLAGS, b"lo", "H", _IFF_UP)
    device, peer = _tun_device(), address.encode()
    if device is None:
        _make_veth_pair(peer, between)
    _set(tcp, _SIOCSIFADDR, _DEVICE, "HH4s", socket.AF_INET, 0, socket.inet_aton(address))
    _set(tcp, _SIOCSIFNETMASK, _DEVICE, "HH4s", socket.AF_INET, 0, socket.inet_aton(_NETMASK))
    _set(tcp, _SIOCSIFMTU, _DEVICE, "i", _MTU)
    _set(tcp, _SIOCSIFFLAGS, _DEVICE, "H", _IFF_UP | _IFF_NOARP)
    if device is None:
        for command in _OFFLOADS.values():
            off = ctypes.create_string_buffer(struct.pack("II", command, 0))
            _set(tcp, _SIOCETHTOOL, _DEVICE, "Q", ctypes.addressof(off))
        _call("setns", between, _CLONE_NEWNET)
        device = _packet_socket(peer)
    return [network, device, tcp.detach()]


def _tun_device() -> int | None:
    """Opens a TUN device; None if this user may not."""
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _TUNSETIFF, _request(_DEVICE, "H", _IFF_TUN | _IFF_NO_PI))
        return device
    except OSError:
        return None


def _packet_socket(device: bytes) -> int:
    """A socket for IPv4 packets on a device of this network that has no address, so that the kernel consumes none."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    _set(packets, _SIOCSIFFLAGS, device, "H", _IFF_UP | _IFF_NOARP)
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
    packets.bind((device.decode(), _ETH_P_IP))
    return packets.detach()


def _make_veth_pair(peer: bytes, peer_network: int) -> None:
    """Makes the device here, and its peer in another network (rtnetlink)."""
    peer_body, body = (
        _IFINFOMSG + _attribute(_IFLA_IFNAME, name + b"\0") + _attribute(_IFLA_ADDRESS, _MAC_ADDRESS)
        for name in (peer, _DEVICE)
    )
    peer_body += _attribute(_IFLA_NET_NS_FD, struct.pack("i", peer_network))
    kind = _attribute(_IFLA_INFO_KIND, b"veth") + _attribute(_IFLA_INFO_DATA, _attribute(_VETH_INFO_PEER, peer_body))
    body += _attribute(_IFLA_LINKINFO, kind)
    flags = _NLM_F_REQUEST | _NLM_F_ACK | _NLM_F_EXCL | _NLM_F_CREATE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.send(struct.pack("IHHII", 16 + len(body), _RTM_NEWLINK, flags, 1, 0) + body)
        (error,) = struct.unpack_from("i", kernel.recv(4096), 16)
    if error:
        raise OSError(-error, os.strerror(-error), "veth")


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def _set(control: socket.socket, operation: int, device: bytes, layout: str, *values: object) -> None:
    try:
        fcntl.ioctl(control, operation, _request(device, layout, *values))
    except OSError as error:
        raise OSError(error.errno, error.strerror, device.decode()) from None


def _request(device: bytes, layout: str, *values: object) -> bytes:
    """A struct ifreq."""
    return struct.pack(f"16s{layout}", device, *values).ljust(40, b"\0")


def _namespace(kind: str) -> int:
    return os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main()
