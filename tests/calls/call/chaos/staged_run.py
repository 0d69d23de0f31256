"""A `weir` command that a test holds at each stage of its call, what it has started, and what it leaves."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

from processes import wait_until

COMMAND = Path(__file__).with_name("staged_weir.py")
LIMIT_S = 90.0
GONE_LIMIT_S = 40.0
# A folder of a call of a few seconds without its frames has some hundred kB.
LARGEST_FOLDER_BYTES = 20 << 20
# Timeouts are shorter than in production.
LIMITS = {
    "weir_calls.link.process:_START_LIMIT_S": 5.0,
    "weir_calls.link.process:_ANSWER_LIMIT_S": 3.0,
    "weir_calls.link.process:_STOP_LIMIT_S": 3.0,
    "weir_calls.call.weir_peer:_START_LIMIT_S": 8.0,
    "weir_calls.call.weir_peer:_STOP_LIMIT_S": 4.0,
    "weir_calls.call.browser:_START_LIMIT_S": 20.0,
    "weir_calls.call.browser:_STOP_LIMIT_S": 3.0,
    "weir_calls.call.session:_CONNECT_LIMIT_S": 12.0,
    "weir_calls.call.disturbance:LONGEST_S": 4.0,
    "weir_calls.call.media.ffmpeg:_TIME_LIMIT_S": 8.0,
}


class StagedRun:
    """Everything that it starts carries a mark in its environment, or is in its networks, as Chromium's
    renderers, which overwrite theirs; and it writes temporary files into a folder of its own.
    """

    def __init__(self, folder, *arguments, environment=()):
        self.folder = folder
        # A short path, as users have: Chromium makes sockets below it.
        self.temporary = Path(tempfile.mkdtemp(prefix="chaos-"))
        self._mark = f"WEIR_CHAOS={uuid.uuid4().hex}"
        name, _, value = self._mark.partition("=")
        self._stages, stages_end = os.pipe()
        go_end, self._go = os.pipe()
        settings = {"stages": stages_end, "go": go_end, "limits": LIMITS}
        self.process = subprocess.Popen(
            [sys.executable, COMMAND, json.dumps(settings), *map(str, arguments)],
            cwd=folder, env=os.environ | {name: value, "TMPDIR": str(self.temporary)} | dict(environment),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=(stages_end, go_end),
        )  # fmt: skip
        os.close(stages_end)
        os.close(go_end)
        self._text = b""
        self._networks = set()

    def next_stage(self):
        """The stage at which it waits now; None once it has ended."""
        deadline = time.monotonic() + LIMIT_S
        while b"\n" not in self._text:
            ready, _, _ = select.select([self._stages], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "no stage, and no end"
            chunk = os.read(self._stages, 4096)
            if not chunk:
                return None
            self._text += chunk
        line, _, self._text = self._text.partition(b"\n")
        for process in self._processes():
            with suppress(OSError):
                self._networks.add(identity(Path(f"/proc/{process}/ns/net")))
        self._networks.discard(identity(Path("/proc/self/ns/net")))
        return line.decode()

    def go(self):
        with suppress(BrokenPipeError):
            os.write(self._go, b".")

    def go_to(self, wanted):
        """Until it waits at a stage whose text begins so."""
        while not (stage := self.next_stage() or "(its end)").startswith(wanted):
            assert stage != "(its end)", f"it ended before {wanted}: {self.process.communicate()[1]}"
            self.go()

    def finish(self):
        """To its end: exit status, standard output, standard error."""
        self.go()
        while self.next_stage() is not None:
            self.go()
        output, errors = self.process.communicate(timeout=LIMIT_S)
        os.close(self._stages)
        os.close(self._go)
        return self.process.returncode, output, errors

    def find(self, wanted):
        """The numbers of its processes whose command line `wanted`; waits until there is one."""
        return wait_until(
            lambda: [process for process in self._processes() if wanted(command_line(process))],
            "such a process",
            LIMIT_S,
        )

    def strike(self, wanted, number):
        """Sends the signal to those processes."""
        for process in self.find(wanted):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def assert_nothing_is_left(self):
        """Dead or alive, of the command and all that it has started."""
        wait_until(lambda: not self._left(), lambda: f"the end of {self._left()}", GONE_LIMIT_S)

    def _left(self):
        processes = [" ".join(command_line(process))[:200] for process in self._processes()]
        files = [str(path) for path in self.temporary.iterdir()]
        files += [str(path) for path in self.folder.rglob("*") if path.suffix == ".part"]
        sizes = [path.stat().st_size for path in self.folder.rglob("*") if path.is_file()]
        return processes + files + (["too much"] if sum(sizes) > LARGEST_FOLDER_BYTES else [])

    def _processes(self):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != self.process.pid:
                # A dead one has no environment any more.
                with suppress(OSError):
                    marked = self._mark.encode() in (entry / "environ").read_bytes().split(b"\0")
                    if marked or identity(entry / "ns/net") in self._networks:
                        yield int(entry.name)

    def kill(self):
        """When a test has failed."""
        for process in [self.process.pid, *self._processes()]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.temporary, ignore_errors=True)


def identity(path):
    status = path.stat()
    return status.st_dev, status.st_ino


def command_line(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return [""]
