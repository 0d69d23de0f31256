import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from weir_calls.call import disturbance
from weir_calls.call.disturbance import WakeUpLag
from weir_calls.link.child_process import run_in_real_time


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may use the real-time class")
def test_every_thread_of_a_process_and_what_it_starts_later():
    program = """
import subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print("there", flush=True)
sys.stdin.readline()
child = subprocess.Popen(["sleep", "30"])
print(child.pid, flush=True)
sys.stdin.readline()
child.kill()
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        run_in_real_time([process.pid])
        tasks = [int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(tasks) == 2
        process.stdin.write("\n")
        process.stdin.flush()
        child = int(process.stdout.readline())
        assert {os.sched_getscheduler(task) for task in (*tasks, child)} == {os.SCHED_RR}
        process.communicate("\n")
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_a_process_that_is_gone_does_not_matter():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    run_in_real_time([process.pid])
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


class LateClock:
    """Stands in for `time`: every sleep ends 5 ms late, every `rarely`-th 40 ms."""

    def __init__(self, rarely):
        self.now_s, self.sleeps, self.rarely = 0.0, 0, rarely
        self.seen_enough = threading.Event()

    def monotonic(self):
        return self.now_s

    def sleep(self, seconds):
        self.sleeps += 1
        self.now_s += seconds + (0.04 if self.sleeps % self.rarely == 0 else 0.005)
        if self.sleeps == 1000:
            self.seen_enough.set()


@pytest.mark.parametrize(("rarely", "p99_ms"), [(50, 40), (200, 5)])
def test_how_late_a_thread_wakes_up(monkeypatch, rarely, p99_ms):
    clock = LateClock(rarely)
    monkeypatch.setattr(disturbance, "time", clock)
    lag = WakeUpLag()
    assert lag.p99_ms is None
    lag.start()
    clock.seen_enough.wait()
    lag.stop()
    assert lag.p99_ms == pytest.approx(p99_ms)


def test_a_wake_up_measurement_that_never_started_can_be_stopped():
    lag = WakeUpLag()
    lag.stop()
    assert lag.p99_ms is None
