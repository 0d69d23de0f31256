"""Reads dumps of getStats(): what `chrome://webrtc-internals` saves, and rtcstats files.

A dump comes from anywhere: it is bounded in size, and whatever in it is not as it should be is passed over or refused.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from weir.errors import InputError
from weir.files.input import printable, read_bytes
from weir.qoe_eval.dumps.rtcstats_file import MAGIC, parse_rtcstats
from weir.qoe_eval.dumps.stats_dump import StatsDump, parse_json
from weir.qoe_eval.dumps.webrtc_internals import parse_internals

LARGEST_BYTES = 256 << 20
_GZIP_MAGIC = b"\x1f\x8b"


def read_dump(path: Path) -> StatsDump:
    """Reads a dump of either format, gzip or not.

    Raises:
        InputError: it cannot be read, is too large, or no dump with statistics; the message says what it is lacking.
    """
    text = _read(path)
    if text.startswith(MAGIC):
        dump = parse_rtcstats(text, printable(path))
    elif text.lstrip()[:1] == "{":
        dump = parse_internals(parse_json(text, printable(path)), printable(path))
    else:
        raise InputError(
            f"{path}: neither a dump of chrome://webrtc-internals (a JSON object) nor an rtcstats file (first line "
            f"{MAGIC}); save one with 'Create a WebRTC-Internals dump'"
        )
    dump.connections = [connection for connection in dump.connections if connection.reports.objects]
    if not dump.connections:
        raise InputError(
            f"{path}: no statistics of a peer connection in it (those from before webrtc-stats are not read); "
            "open chrome://webrtc-internals before the call begins, and save the dump before it is closed"
        )
    return dump


def _read(path: Path) -> str:
    content = read_bytes(path, LARGEST_BYTES)
    if content.startswith(_GZIP_MAGIC):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                content = file.read(LARGEST_BYTES + 1)
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(f"{printable(path)}: damaged gzip file ({error})") from None
    if len(content) > LARGEST_BYTES:
        raise InputError(f"{printable(path)}: over {LARGEST_BYTES >> 20} MiB; save a dump of a shorter call")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{printable(path)}: byte {error.start} is no UTF-8 text; give the dump as it was saved"
        ) from None
