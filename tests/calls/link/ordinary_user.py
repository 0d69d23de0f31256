"""Programs as the user nobody, who has no privilege: how an ordinary user finds Weir."""

import functools
import os
import pwd
import subprocess
import sys
import sysconfig

from weir_sim.executables import find_simulator

ORDINARY_USER = pwd.getpwnam("nobody")
_IMPORT = f"import site, sys; site.addsitedir({sysconfig.get_path('purelib')!r}); import weir"


WEIR = "sys.argv[0] = 'weir'; from weir_cli.main import main; main()"
"""The code of `weir` with the arguments."""


def run(code, *arguments, sudo=False):
    """Runs Python code; with `sudo` as sudo does when nobody calls it."""
    with start(code, *arguments, sudo=sudo) as process:
        out, error = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def start(code, *arguments, sudo=False):
    """The same, without waiting for its end."""
    identity = {} if sudo else {"user": ORDINARY_USER.pw_uid, "group": ORDINARY_USER.pw_gid, "extra_groups": []}
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/root" if sudo else "/nonexistent", "WEIR_SIM": find_simulator()}
    environment |= {"SUDO_UID": str(ORDINARY_USER.pw_uid)} if sudo else {}
    command = [_python(), "-c", f"{_IMPORT}\n{code}", *arguments]
    return subprocess.Popen(
        command, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **identity
    )


@functools.cache
def missing():
    """The reason that nobody cannot run Weir here; empty otherwise."""
    if os.geteuid() != 0:
        return "only root can become another user"
    return "" if _python() else "Weir is in a folder of root's"


@functools.cache
def _python():
    """This Python, or the system's where this one is in a folder of root's; they are of one version, or weir._core is
    not imported.
    """
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            subprocess.run(
                [python, "-c", _IMPORT], user=ORDINARY_USER.pw_uid, group=ORDINARY_USER.pw_gid, extra_groups=[],
                cwd="/", check=True, env={"PATH": "/usr/bin:/bin"}, capture_output=True,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    return None
