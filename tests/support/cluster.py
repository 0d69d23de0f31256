"""Ray nodes of one core each on this machine, with a token: Ray makes 127.0.0.1 the machine's address, and some of its
ports listen on all interfaces.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess

from processes import wait_until


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Cluster:
    """Nodes are `ray start` processes in sessions of their own; `ray stop` would end those of others, too."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        # Ray's workers would have the lowest priority, and on a busy machine get no time.
        self.environment = os.environ | token | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        self.nodes = []
        self.commands = []

    def start(self, **environment):
        """Starts a node, the head first, and waits until it is up."""
        port = self.address.rpartition(":")[2]
        first = ["--head", f"--port={port}", f"--temp-dir={self.folder}", "--include-dashboard=false"]
        words = first if not self.nodes else [f"--address={self.address}"]
        common = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--object-store-memory=200000000", "--block"]
        log = self.folder / f"node{len(self.nodes)}.log"
        with log.open("w") as output:
            node = subprocess.Popen(
                [self.programs / "ray", "start", *words, *common],
                env=self.environment | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.nodes.append(node)
        wait_until(lambda: "Ray runtime started" in log.read_text(), lambda: f"the node: {log.read_text()}", 300.0)
        return node

    def kill(self, node):
        """As when a machine loses power."""
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                if os.getsid(int(name)) == node.pid:
                    os.kill(int(name), signal.SIGKILL)
        node.wait()

    def close(self):
        for command in self.commands:
            if command.poll() is None:
                command.kill()
                command.communicate()
        for node in self.nodes:
            self.kill(node)

    def run(self, *words):
        """`weir`, from start to end."""
        command = [self.programs / "weir", *map(str, words)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=600)

    def popen(self, *words):
        """`weir`, in the background."""
        command = [self.programs / "weir", *map(str, words)]
        self.commands.append(subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, text=True))
        return self.commands[-1]
