"""Runs a program in namespaces, and represents it outside: `enter.py OWNER DESCRIPTORS COMMAND...`.

A script that uses only the standard library and starts in milliseconds. The process OWNER has the namespaces open, as
DESCRIPTORS separated by commas. The program keeps its user, without capabilities unless that is root. It is killed with
this process, which forwards SIGTERM to it and exits with its status or signal.
"""

import ctypes
import os
import signal
import sys
from typing import NoReturn

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
# A terminal's signals reach the program too.
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP}

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    """Runs until the program has ended."""
    owner, descriptors, *command = sys.argv[1:]
    folder, leads_session = os.getcwd(), os.getsid(0) == os.getpid()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        namespaces = [
            os.open(f"/proc/{owner}/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
            for descriptor in descriptors.split(",")
        ]
        for namespace in namespaces:
            if _libc.setns(namespace, 0) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), "setns")
        program = os.fork()
    except OSError as error:
        sys.exit(f"the namespaces of the link cannot be entered ({error})")
    if program == 0:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if leads_session:
            os.setsid()
        # Restore signals that Python ignores.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _execute(folder, command)
    # Close the program's files here, so that its readers see their end when the program closes them.
    os.closerange(0, 1024)
    _stand_in(program, leads_session)


def _execute(folder: str, command: list[str]) -> NoReturn:
    try:
        os.chdir(folder)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127)


def _stand_in(program: int, leads_session: bool) -> NoReturn:
    ended = status = 0
    while not ended:
        number = signal.sigwait(_SIGNALS)
        if number == signal.SIGTERM:
            (os.killpg if leads_session else os.kill)(program, number)
        elif number == signal.SIGCHLD:
            ended, status = os.waitpid(program, os.WNOHANG)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # End by the same signal, without a core file.
        _libc.prctl(_PR_SET_DUMPABLE, 0)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main()
