"""Networks of a link: whatever becomes of their owner, and whatever their processes do, they go."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from link import real_network as network
from processes import is_running, processes_with, wait_until

from weir_calls.link import leftovers
from weir_calls.link.leftovers import ScratchFolder, remove_scratch_folders
from weir_calls.link.namespaces import CallNamespaces
from weir_cli.errors import ComponentFailed, MissingComponent

needs_namespaces = pytest.mark.skipif(bool(network.missing()), reason=network.missing())

# Makes networks and a temporary folder, starts a process that leaves its session and has namespaces of its own, and
# waits.
OWNER = """
import subprocess, sys, time
from weir_calls.link.leftovers import ScratchFolder
from weir_calls.link.namespaces import CallNamespaces
with ScratchFolder() as folder, CallNamespaces() as made:
    command = ["setsid", "unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "sleep", sys.argv[1]]
    subprocess.Popen(made.left.command(command))
    print(folder, made._holder.pid, flush=True)
    time.sleep(60)
"""


class Owner:
    """A process that owns networks; `sleeps` counts the processes that sleep in them."""

    numbers = iter(range(4_240_000 + os.getpid() % 1000 * 100, 2**31))

    def __init__(self, *, prefix=()):
        self._seconds = str(next(self.numbers))
        command = [*prefix, sys.executable, "-c", OWNER, self._seconds]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        folder, holder = self.process.stdout.readline().split()
        self.folder, self.holder = Path(folder), int(holder)
        wait_until(self.sleeps, "its process")

    def sleeps(self):
        return processes_with(f"sleep\0{self._seconds}\0", first=True)


@pytest.fixture
def make_owner():
    owners = []

    def make(**options):
        owners.append(Owner(**options))
        return owners[-1]

    yield make
    for owner in owners:
        owner.process.kill()
        owner.process.wait()
        owner.process.stdout.close()


def run(network, *command, **options):
    return subprocess.run(network.command(command), capture_output=True, text=True, **options)


@needs_namespaces
def test_each_end_has_loopback_and_one_device_and_no_other_process():
    with CallNamespaces() as namespaces:
        for end, address in ((namespaces.left, "10.211.0.1"), (namespaces.right, "10.211.0.2")):
            devices = re.findall(r"(\w+):", run(end, "cat", "/proc/net/dev").stdout)
            assert devices == ["lo", "weir0"]
            assert end.address == address
            assert run(end, "sh", "-c", f"cat /proc/net/fib_trie | grep -c {address}").stdout != "0\n"
        assert namespaces.left._network != namespaces.right._network
        inside = run(namespaces.left, sys.executable, "-c", "import os; print(os.getpid(), os.getuid(), os.getgid())")
        number, *user_and_group = map(int, inside.stdout.split())
        assert number < 20
        assert user_and_group == [os.getuid(), os.getgid()]
        running = subprocess.Popen(namespaces.right.command(["sleep", "60"]))
        (found,) = wait_until(
            lambda: [process for process in namespaces.right.processes() if process != running.pid], "the program"
        )
        assert found not in list(namespaces.left.processes())
    # Its stand-in outside ends as the program does.
    assert running.wait(60) == -signal.SIGKILL


@needs_namespaces
def test_a_program_ends_outside_as_it_does_inside():
    with CallNamespaces() as namespaces:
        assert run(namespaces.left, "sh", "-c", "exit 7").returncode == 7
        assert run(namespaces.left, "sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL
        missing = run(namespaces.left, "./no-such-program")
        assert (missing.returncode, missing.stderr) == (127, "./no-such-program: No such file or directory\n")
        assert run(namespaces.left, "sh", "-c", "pwd", cwd="/usr/lib").stdout == "/usr/lib\n"
        # A program that a broken pipe ends, as from a shell.
        assert run(namespaces.left, "sh", "-c", "yes | head -c 2").stderr == ""
        stopped = subprocess.Popen(
            namespaces.left.command(["sh", "-c", "trap 'exit 3' TERM; echo there; while :; do sleep 0.01; done"]),
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        stopped.stdout.readline()
        stopped.terminate()
        assert stopped.wait(60) == 3
        stopped.stdout.close()


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_an_owner_that_ends(make_owner, number):
    owner, living = make_owner(), make_owner()
    # Found while they run, so that the test would notice one that stays.
    assert owner.sleeps()
    owner.process.send_signal(number)
    assert owner.process.wait(60) != 0
    wait_until(lambda: not owner.sleeps(), "the end of the process inside")
    wait_until(lambda: not is_running(owner.holder), "the end of the holder")
    wait_until(lambda: not owner.folder.exists(), "the end of its temporary folder")
    assert living.sleeps()
    assert living.folder.exists()


@needs_namespaces
def test_processes_do_not_outlive_a_holder_that_is_killed(make_owner):
    owner = make_owner()
    os.kill(owner.holder, signal.SIGKILL)
    wait_until(lambda: not owner.sleeps(), "the end of the process inside")
    owner.process.kill()
    owner.process.wait()
    # The next run finds its folder.
    assert owner.folder.exists()
    remove_scratch_folders()
    assert not owner.folder.exists()


@needs_namespaces
def test_a_holder_that_is_stopped_is_not_waited_for_long(monkeypatch):
    monkeypatch.setattr("weir_calls.link.namespaces._END_LIMIT_S", 0.5)
    with CallNamespaces() as namespaces:
        inside = subprocess.Popen(namespaces.left.command(["sleep", "60"]))
        wait_until(lambda: len(list(namespaces.left.processes())) == 2, "the program")
        holder = namespaces._holder.pid
        os.kill(holder, signal.SIGSTOP)
    assert inside.wait(60) == -signal.SIGKILL
    assert not is_running(holder)


@needs_namespaces
def test_an_exception_or_a_cancellation_leaves_nothing():
    def holders():
        return processes_with(f"namespace_holder.py\0{os.getpid()}")

    def break_in_the_middle(namespaces):
        with namespaces:
            raise RuntimeError

    namespaces = CallNamespaces()
    with pytest.raises(RuntimeError):
        break_in_the_middle(namespaces)
    assert namespaces._holder is None

    async def cancelled():
        other = CallNamespaces()
        creating = asyncio.create_task(other.create())
        await asyncio.sleep(0)
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        return other

    assert asyncio.run(cancelled())._holder is None


@needs_namespaces
def test_a_forked_copy_removes_nothing():
    with CallNamespaces() as namespaces:
        child = os.fork()
        if child == 0:
            namespaces.__exit__()
            os._exit(0)
        os.waitpid(child, 0)
        assert run(namespaces.left, "true").returncode == 0


FORBIDDEN = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


@needs_namespaces
def test_where_they_are_forbidden_it_is_one_message():
    code = "from weir_calls.link.namespaces import CallNamespaces; CallNamespaces().__enter__()"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", FORBIDDEN, "-", sys.executable, "-c", code],
        capture_output=True, text=True,
    )  # fmt: skip
    *_, message = done.stderr.splitlines()
    assert message.startswith(
        "weir_cli.errors.MissingComponent: user and network namespaces cannot be made here ([Errno"
    )
    assert "sudo" in message


def test_temporary_folders_of_others_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ScratchFolder() as folder:
        dead = tmp_path / "weir-call-dead"
        (dead / "below").mkdir(parents=True)
        (tmp_path / "weir-call-link").symlink_to(dead)
        (tmp_path / "other").mkdir()
        remove_scratch_folders()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["other", "weir-call-link", folder.name])
        other_folder = tmp_path / "weir-call-theirs"
        other_folder.mkdir()
        monkeypatch.setattr(leftovers.os, "geteuid", lambda: 1)
        remove_scratch_folders()
        assert other_folder.exists()
    assert not folder.exists()


def test_what_makes_them_may_be_missing(monkeypatch):
    monkeypatch.setattr("weir_calls.link.namespaces._SCRIPT", ("/bin/false",))
    from weir_calls.requirements import find_link_devices

    with pytest.raises(ComponentFailed, match="killed"), CallNamespaces():
        pass
    with pytest.raises(MissingComponent, match="killed"):
        find_link_devices()
