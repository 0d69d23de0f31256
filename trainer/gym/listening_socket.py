"""A Unix socket that listens for processes of this user alone."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat

from weir.errors import InputError


class ListeningSocket:
    """Does not block.

    Raises:
        InputError: another server listens there, or no socket can be made.
    """

    def __init__(self, path: str | os.PathLike[str], backlog: int) -> None:
        self._path = os.fspath(path)
        if not self._path or "\0" in self._path:
            # Linux would make one without a file, which every user may join.
            raise InputError(f"{self._path!r}: is no path of a socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.setblocking(False)
            _remove_left_over(self._path)
            os.fchmod(self._socket.fileno(), 0o600)
            self._socket.bind(self._path)
            self._file = os.stat(self._path)
            self._socket.listen(backlog)
        except OSError as error:
            self._socket.close()
            reason = "another server listens there" if error.errno == errno.EADDRINUSE else error.strerror or error
            raise InputError(f"{self._path}: no socket can be made there: {reason}") from None
        self._spare = os.open(os.devnull, os.O_RDONLY)

    def fileno(self) -> int:
        """For a selector."""
        return self._socket.fileno()

    def accept(self) -> socket.socket | None:
        """A connection that waits; None without one, or where the process is out of descriptors: it is closed."""
        try:
            connection, _ = self._socket.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE) and self._spare >= 0:
                self._refuse()
            return None
        connection.setblocking(False)
        return connection

    def close(self) -> None:
        """Removes the socket, unless its path is another's now."""
        self._socket.close()
        if self._spare >= 0:
            os.close(self._spare)
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self._path), self._file):
                os.unlink(self._path)

    def _refuse(self) -> None:
        """Else the selector would not wait as long as the connection does."""
        os.close(self._spare)
        self._spare = -1
        with contextlib.suppress(OSError):
            self._socket.accept()[0].close()
            self._spare = os.open(os.devnull, os.O_RDONLY)


def _remove_left_over(path: str) -> None:
    """Removes the socket of a server that has ended without it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        try:
            client.connect(path)
        except ConnectionRefusedError:
            # So is a connection to a file.
            if stat.S_ISSOCK(os.stat(path).st_mode):
                os.unlink(path)
        except OSError:
            pass
