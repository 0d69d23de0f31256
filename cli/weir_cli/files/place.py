"""The place of a file that is written: its opened folder and its name there.

A path is followed folder by folder, and each opened folder is checked, so that nobody can replace one in between.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from weir_cli.errors import InputError
from weir_cli.files.input import printable

# The kernel's limit for one path.
_MOST_LINKS = 40
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class Place:
    """A name in the open folder `folder`, with its printable path `shown`.

    If `is_open_file`, the name is the kernel's link to an open file without a path, such as a pipe; else it is no link.
    """

    shown: str
    folder: int
    name: str
    is_open_file: bool

    @property
    def is_special(self) -> bool:
        """True if the name exists and is not a regular file."""
        try:
            return not stat.S_ISREG(os.stat(self.name, dir_fd=self.folder, follow_symlinks=self.is_open_file).st_mode)
        except FileNotFoundError:
            return False

    def open(self, flags: int) -> int:
        """Opens the file. A pipe without a reader is refused, because open() would wait forever.

        Raises:
            InputError: it is such a pipe, or, for root, a pipe of another user.
            OSError: it cannot be opened, or has become a link.
        """
        flags |= os.O_NONBLOCK | os.O_CLOEXEC | (0 if self.is_open_file else os.O_NOFOLLOW)
        try:
            descriptor = os.open(self.name, flags, 0o666, dir_fd=self.folder)
        except OSError as error:
            if error.errno == errno.ENXIO:
                raise InputError(f"{self.shown}: is a pipe that nobody reads; choose another path") from None
            raise
        try:
            status = os.fstat(descriptor)
            if stat.S_ISFIFO(status.st_mode) and not self.is_open_file:
                _refuse_other_owner(status, "pipe", self.shown, self.name)
            os.set_blocking(descriptor, True)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def make_folder(self) -> None:
        """Makes a folder of this name, unless it exists. Raises an OSError if it cannot be made."""
        try:
            os.mkdir(self.name, dir_fd=self.folder)
        except FileExistsError:
            if not stat.S_ISDIR(os.stat(self.name, dir_fd=self.folder).st_mode):
                raise


@contextmanager
def place_of(path: str | os.PathLike[str], *, make: bool = False, own: str = "") -> Iterator[Place]:
    """Follows a path. For root, refuses links of users other than root and the caller of sudo: such a link could make
    root overwrite any file.

    Args:
        path: a file or folder that may be missing.
        make: makes the folders above it.
        own: if not empty, folders of other users on the path are refused; the message calls the folder by this name.

    Raises:
        InputError: it was refused.
        OSError: a folder is missing, or cannot be opened or made.
    """
    shown, steps = printable(path), _steps(os.fsdecode(path))
    folder = os.open("/" if os.fsdecode(path).startswith("/") else ".", _FOLDER)
    links, is_open_file = 0, False
    try:
        while True:
            if own:
                _refuse_folder_of_others(folder, own)
            step = steps.pop() if steps else "."
            try:
                entry = os.open(step, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except FileNotFoundError:
                if not steps:
                    break
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=folder)
                steps.append(step)
                continue
            status = os.fstat(entry)
            if not stat.S_ISLNK(status.st_mode):
                if not steps:
                    os.close(entry)
                    break
                os.close(folder)
                folder = entry
                continue
            target = os.readlink("", dir_fd=entry)
            os.close(entry)
            _refuse_other_owner(status, "link", shown, step)
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if not steps and target.endswith("]"):  # "pipe:[123]" is no path
                is_open_file = True
                break
            steps += _steps(target)
            if target.startswith("/"):
                os.close(folder)
                folder = os.open("/", _FOLDER)
        yield Place(shown, folder, step, is_open_file)
    finally:
        os.close(folder)


def refuse_folders_of_others(path: str | os.PathLike[str]) -> None:
    """Stops root from working in a folder that another user could replace, or fill with links. Files that root and its
    programs then open there by path are root's own.

    Raises:
        InputError: the folder, or one above it, belongs to another user or is writable by others.
    """
    if os.geteuid() == 0:
        with suppress(OSError), place_of(os.path.join(os.getcwd(), path, "file"), own=printable(path)):
            pass


def _steps(path: str) -> list[str]:
    """The names of a path, the last first."""
    return [step for step in path.split("/") if step not in ("", ".")][::-1]


def _refuse_other_owner(status: os.stat_result, kind: str, path: str, place: str) -> None:
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and status.st_uid not in ({0, int(sudo)} if sudo.isdecimal() else {0}):
        raise InputError(
            f"{path}: {printable(place)} is a {kind} of user {status.st_uid}, through which root does not write; "
            "choose another path"
        )


def _refuse_folder_of_others(folder: int, path: str) -> None:
    status = os.fstat(folder)
    all_may_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
    if status.st_uid or all_may_write:
        place = printable(os.readlink(f"/proc/self/fd/{folder}"))
        why = f"belongs to user {status.st_uid}" if status.st_uid else "is open to other users"
        raise InputError(
            f"{path}: {place} {why}, and root makes no calls in a folder of others; choose another, or be that user"
        )
