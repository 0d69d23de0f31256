"""A training that stands still is noticed, and one that is slow is not."""

import subprocess
import sys

import pytest

from weir_papers.mvfst.impala.supervisor import Supervisor
from weir_sim.cluster import ClusterError


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


def test_growth_of_both_counts_keeps_it_quiet():
    clock = Clock()
    supervisor = Supervisor(60.0, clock)
    for minute in range(10):
        clock.now_s = 59.0 * minute
        supervisor.check(1000 * minute, minute, "2 of 2")
    clock.now_s += 61.0
    with pytest.raises(ClusterError):
        supervisor.check(1000 * minute, minute, "2 of 2")


@pytest.mark.parametrize(("counter", "sampled", "learned"), [("sampled", 0, 1), ("learned", 1, 0)])
def test_a_count_that_stays_is_named_with_the_state(counter, sampled, learned):
    clock = Clock()
    supervisor = Supervisor(60.0, clock)
    for minute in (1, 2, 3):
        clock.now_s = 30.0 * minute
        if clock.now_s <= 60.0:
            supervisor.check(sampled * minute, learned * minute, "0 of 2 runners are at work")
    with pytest.raises(ClusterError, match=rf"nothing was {counter} for 60 s \(0 of 2 runners are at work\).*--resume"):
        supervisor.check(sampled * 4, learned * 4, "0 of 2 runners are at work")


def test_an_update_that_never_ends_ends_the_process():
    program = """
import threading
from weir_papers.mvfst.impala.supervisor import Supervisor
with Supervisor(0.2):
    threading.Event().wait()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "weir: an update has not ended for 0.2 s" in ended.stderr
