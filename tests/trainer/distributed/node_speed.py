"""Steps a second of a training over two nodes of one core each, and over one: prints both and their ratio.

    python tests/trainer/distributed/node_speed.py .venv-distributed/bin CONFIGURATION

The learner shares the first core with the first node's runner, which has a lower priority. That has no effect where the
kernel gives each session a share of its own: /proc/sys/kernel/sched_autogroup_enabled must be 0, or use a container.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from cluster import Cluster
from processes import wait_until
from test_two_nodes import Run

WARM_UP_S, MEASURED_S = 10.0, 45.0


def steps_per_s(programs, configuration, nodes):
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        cluster, out = Cluster(programs, Path(folder)), Path(folder) / "run"
        try:
            for core in range(nodes):
                os.sched_setaffinity(0, {core})
                cluster.start()
            os.sched_setaffinity(0, {0})
            training, run = cluster.popen("train", configuration, "--address", cluster.address, "--out", out), Run(out)
            wait_until(lambda: run.working(nodes) or training.poll() is not None, "the runners at work", 600.0)
            assert training.poll() is None, training.communicate()[1]
            time.sleep(WARM_UP_S)
            steps, started = run.steps(), time.monotonic()
            time.sleep(MEASURED_S)
            rate = (run.steps() - steps) / (time.monotonic() - started)
            training.send_signal(signal.SIGINT)
            training.communicate()
            return rate
        finally:
            cluster.close()


if __name__ == "__main__":
    one, two = (steps_per_s(Path(sys.argv[1]).absolute(), sys.argv[2], nodes) for nodes in (1, 2))
    print(f"one node {one:.0f} steps/s, two {two:.0f}: {two / one:.2f} times")
