"""Namespaces of a call: whatever becomes of their owner, they go, and nobody else's do."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from processes import is_running, wait_until

from weir.errors import MissingComponent
from weir.qoe_eval.link import leftovers as owner_names
from weir.qoe_eval.link import namespaces as module
from weir.qoe_eval.link.namespaces import FOLDER, CallNamespaces, processes_in, remove_leftovers

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and the command ip"
)

# Makes a pair, starts a process in it, reports that, and waits.
START = """
import asyncio, signal, subprocess, time
# The parent of the tests may ignore it (nohup), and children inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from weir.qoe_eval.link.namespaces import CallNamespaces
def start(made):
    command = ["ip", "netns", "exec", made.left, "sh", "-c", "echo inside; exec sleep 60"]
    inside = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert inside.stdout.readline() == b"inside\\n"
    print(made.left, made.right, inside.pid, flush=True)
    # Kept by the caller: what a signal's handler raises within Popen.__del__ is lost.
    return inside
"""
IN_CONTEXT = f"""
{START}
with CallNamespaces() as made:
    inside = start(made)
    time.sleep(60)
"""
IN_ASYNCIO = f"""
{START}
async def main():
    made = CallNamespaces()
    try:
        await made.create()
        inside = start(made)
        await asyncio.sleep(60)
    finally:
        await made.remove()
asyncio.run(main())
"""


# As in a container that is not privileged; the mounts are for this process alone.
READ_ONLY_SYSCTLS = f"""
mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec {sys.executable} -c '
import subprocess
from weir.qoe_eval.link.namespaces import CallNamespaces
with CallNamespaces() as made:
    subprocess.run(["ip", "netns", "exec", made.left, "cat", "/proc/sys/net/ipv6/conf/default/disable_ipv6"])
'
"""


@pytest.fixture
def run_owner():
    """Starts an owner of namespaces: the process, its namespaces' names, and the process it has in one of them."""
    owners = []

    def start(program):
        owner = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        owners.append(owner)
        left, right, inside = owner.stdout.readline().split()
        return owner, [left, right], int(inside)

    yield start
    for owner in owners:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    remove_leftovers()


def exist(names):
    return [name for name in names if (FOLDER / name).exists()]


@needs_root
def test_a_pair_has_loopback_and_nothing_else_and_goes():
    with CallNamespaces() as made:
        names = [made.left, made.right]
        assert exist(names) == names
        for name in names:
            links = subprocess.run(["ip", "-n", name, "-o", "link"], capture_output=True, text=True, check=True).stdout
            assert len(links.splitlines()) == 1
            assert "lo: <LOOPBACK,UP" in links
        # Processes that still run in them end with them.
        inside = subprocess.Popen(["ip", "netns", "exec", made.right, "sleep", "60"])
        wait_until(lambda: list(processes_in(made.right)) == [inside.pid])
    assert exist(names) == []
    assert inside.wait(120) == -signal.SIGKILL
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@needs_root
def test_an_exception_removes_them():
    made = CallNamespaces()

    def break_in_the_middle():
        with made:
            assert exist([made.left, made.right]) == [made.left, made.right]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_in_the_middle()
    assert exist([made.left, made.right]) == []


@needs_root
@pytest.mark.parametrize("program", [IN_CONTEXT, IN_ASYNCIO], ids=["context", "asyncio"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_remove_them(run_owner, program, number):
    owner, names, inside = run_owner(program)
    assert exist(names) == names
    owner.send_signal(number)
    assert owner.wait(120) != 0
    assert exist(names) == []
    assert not is_running(inside)


@needs_root
def test_what_a_killed_run_left_goes_at_the_next_and_live_ones_stay(run_owner):
    dead, left_behind, inside = run_owner(IN_CONTEXT)
    _, living, inside_living = run_owner(IN_CONTEXT)
    assert exist(left_behind) == left_behind
    dead.kill()
    # Not waited for: its exit status is still there, as with a parent that is busy. From here on another test that runs
    # at the same time may remove what it left.
    wait_until(lambda: not is_running(dead.pid))
    with CallNamespaces():
        assert exist(left_behind) == []
        assert not is_running(inside)
        assert exist(living) == living
        assert is_running(inside_living)


@needs_root
def test_a_cancelled_creation_leaves_nothing(monkeypatch):
    ip = module._ip

    async def cancelled_at(number):
        """With the command of that number about to run, of the four that make them; 0: at its start."""
        made, loop = CallNamespaces(), asyncio.get_running_loop()
        reached, cancelled, commands = asyncio.Event(), threading.Event(), []

        def held_ip(*arguments):
            if {made.left, made.right} & {*arguments}:
                commands.append(arguments)
                if len(commands) == number:
                    loop.call_soon_threadsafe(reached.set)
                    assert cancelled.wait(120)
            ip(*arguments)

        monkeypatch.setattr(module, "_ip", held_ip)
        creating = asyncio.create_task(made.create())
        await (asyncio.wait_for(reached.wait(), 120) if number else asyncio.sleep(0))
        creating.cancel()
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await creating
        return exist([made.left, made.right])

    for number in range(5):
        assert asyncio.run(cancelled_at(number)) == []


@needs_root
def test_a_forked_copy_removes_nothing():
    with CallNamespaces() as made:
        child = os.fork()
        if child == 0:
            made.__exit__()
            os._exit(0)
        os.waitpid(child, 0)
        assert exist([made.left, made.right]) == [made.left, made.right]


def test_only_names_of_dead_owners_are_leftovers():
    boot, process_namespace, process = owner_names._boot(), owner_names._process_namespace(), os.getpid()
    start_time = owner_names._start_time(process)
    ours = f"weir-{boot}-{process_namespace}-{process}-{start_time}-0-left"
    assert not module._is_leftover(ours)
    # Another process with the number of ours, before us.
    assert module._is_leftover(f"weir-{boot}-{process_namespace}-{process}-{start_time - 1}-0-left")
    assert module._is_leftover(f"weir-{boot}-{process_namespace}-{2**22 + 1}-5-0-right")
    other_boot = "0" * 8 if boot != "0" * 8 else "1" * 8
    assert module._is_leftover(f"weir-{other_boot}-{process_namespace}-{process}-{start_time}-0-left")
    # The name of another container may be in use.
    assert not module._is_leftover(f"weir-{boot}-{process_namespace + 1}-{2**22 + 1}-5-0-right")
    for name in ("weir", "weir-left", "mine", ours + "x", "x" + ours):
        assert not module._is_leftover(name)


def test_without_root_or_ip_it_says_so(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingComponent, match="root"), CallNamespaces():
        pass
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingComponent, match="iproute2"), CallNamespaces():
        pass


@needs_root
def test_no_ipv6_where_sysctls_are_read_only():
    done = subprocess.run(["unshare", "--mount", "sh", "-c", READ_ONLY_SYSCTLS], capture_output=True, text=True)
    if "disable_ipv6: No such file" in done.stderr:
        pytest.skip("this kernel has no IPv6")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
