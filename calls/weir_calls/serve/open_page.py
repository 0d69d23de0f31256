"""Opens the page of `weir serve` in the user's browser.

Any user of the machine can read the arguments of a process, so the browser gets the name of a file that only this user
can read; the file redirects to the address with the token.
"""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from weir_calls.link.leftovers import ScratchFolder


@contextmanager
def page_in_browser(url: str) -> Iterator[None]:
    """Opens the page; the file that redirects to it is removed at the end."""
    with ScratchFolder() as folder:
        path = folder / "weir.html"
        address = escape(url)
        head = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}"><title>Weir</title>'
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f'<!doctype html>{head}<a href="{address}">Weir</a>\n')
        # Some browsers stay in the foreground; the server ends without waiting for them.
        threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
        yield
