"""The delays that the machine added to real calls, from the calls' logs. The host noise of virtual calls is fitted to
them.

    python -m weir_calls.call.media.host_delays FOLDER...

FOLDER has calls' folders, such as those of `weir evaluate --suite fidelity`. Disturbed calls are ignored. A row has,
for one kind of sender: the share of packets that the path delivered later than its model by more than a bound; the
10th, 50th and 90th percentile, over calls, of the share later than 0.25 ms; and how late pictures were captured,
according to sender reports, which have a resolution of 1 ms.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from weir_calls.call import logs
from weir_calls.call.media.received_frames import ReceivedFrame, read_index
from weir_calls.call.media.source_video import FRAMES_PER_SECOND
from weir_calls.link.log import DELAY_ERROR_BOUNDS_MS, read_link_log
from weir_cli.errors import InputError
from weir_eval.measures.flow_series import Array
from weir_eval.records.call_record import CallRecord

_LATE_BINS: Final = DELAY_ERROR_BOUNDS_MS.index(0.25) + 1
_SHOWN_BOUNDS: Final = 8
_CAMERA_SHARES: Final = (0.5, 0.95, 0.98, 0.99, 0.999)
# Frames before and after a frame. The earliest tenth of them defines the time without delay, since clocks drift.
_NEIGHBOURS: Final = 60


@dataclass
class HostDelays:
    """Delays in the calls of one kind of sender.

    Attributes:
        packets: for each call, counts on the forward path by the bins of DELAY_ERROR_BOUNDS_MS.
        camera_ms: for each call, how late each picture was captured.
    """

    packets: list[Array] = field(default_factory=list)
    camera_ms: list[Array] = field(default_factory=list)

    def later_than(self) -> Array:
        """The share of packets above each bound but the last."""
        counts = np.sum(self.packets, axis=0)
        return np.asarray(1 - np.cumsum(counts) / counts.sum())[:-1]

    def late_shares(self) -> Array:
        """The share of packets later than 0.25 ms in each call."""
        return np.array([counts[_LATE_BINS:].sum() / counts.sum() for counts in self.packets])


def read_host_delays(folders: Sequence[Path]) -> dict[str, HostDelays]:
    """The delays of the calls in the folders, by the kind of sender.

    Raises:
        InputError: a log cannot be read.
    """
    found: dict[str, HostDelays] = defaultdict(HostDelays)
    for path in sorted(path for folder in folders for path in folder.glob(f"*/{logs.RECORD}")):
        record = _record(path)
        if record.call.failure or record.call.disturbed:
            continue
        link = read_link_log(path.parent / logs.LINK_LOG, "forward")
        counts = link.delay_error_ms_counts[np.isfinite(link.scenario_time_s)].sum(axis=0)
        if counts.sum() == 0:
            continue
        of_sender = found[record.call.sender]
        of_sender.packets.append(counts)
        of_sender.camera_ms.append(camera_lateness_ms(read_index(path.parent / logs.FRAME_LOG)))
    return dict(found)


def _record(path: Path) -> CallRecord:
    try:
        return CallRecord.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a record of a call: {error}") from None


def camera_lateness_ms(frames: Sequence[ReceivedFrame]) -> Array:
    """How much later than the earliest of its neighbors each picture was captured; skips pictures without time."""
    time_ms = np.array([one.capture_time_us for one in frames if one.capture_time_us is not None]) / 1000
    if len(time_ms) == 0:
        return time_ms
    interval_ms = 1000 / FRAMES_PER_SECOND
    offset_ms = time_ms - time_ms[0]
    offset_ms -= interval_ms * np.round(offset_ms / interval_ms)
    near = (offset_ms[max(0, i - _NEIGHBOURS) : i + _NEIGHBOURS] for i in range(len(offset_ms)))
    return np.array([own - np.quantile(around, 0.1) for own, around in zip(offset_ms, near, strict=True)])


def _print_table(found: dict[str, HostDelays]) -> None:
    bounds = DELAY_ERROR_BOUNDS_MS[:_SHOWN_BOUNDS]
    print(f"| sender, calls | {' | '.join(f'packets > {bound:g} ms' for bound in bounds)} | late shares |")
    print(f"|---|{'---|' * (len(bounds) + 1)}")
    for sender, delays in found.items():
        shares = [f"{100 * share:.2f} %" for share in delays.later_than()[:_SHOWN_BOUNDS]]
        late = "; ".join(f"{100 * share:.1f} %" for share in np.quantile(delays.late_shares(), (0.1, 0.5, 0.9)))
        print(f"| {sender}, {len(delays.packets)} | {' | '.join(shares)} | {late} |")
    print(f"\n| sender | {' | '.join(f'pictures, {100 * share:g} %' for share in _CAMERA_SHARES)} |")
    print(f"|---|{'---|' * len(_CAMERA_SHARES)}")
    for sender, delays in found.items():
        late_ms = np.quantile(np.concatenate(delays.camera_ms), _CAMERA_SHARES)
        print(f"| {sender} | {' | '.join(f'{one:.1f} ms' for one in late_ms)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    _print_table(read_host_delays([Path(folder) for folder in sys.argv[1:]]))
