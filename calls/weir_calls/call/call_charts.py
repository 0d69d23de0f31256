"""The time series of the call report: for every case and seed, the calls of its controllers in one chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weir_calls.call import logs
from weir_calls.call.logs import read_pool_states
from weir_calls.call.measures import VMAF_FRAMES, end_to_end_delays_ms
from weir_calls.call.media.received_frames import read_index
from weir_calls.call.plan import CALLS
from weir_calls.call.summary import Call
from weir_calls.link.log import LinkLog, read_link_log
from weir_eval.json_lines import number, read_objects
from weir_eval.measures.comparison import is_ours
from weir_eval.measures.flow_series import Array
from weir_eval.measures.summary import ordered_controllers
from weir_eval.records.call_record import CallRecord
from weir_eval.report.chart_rows import (
    Chart,
    Line,
    Reduce,
    bin_width_s,
    binned,
    chart,
    line,
    rate_rows,
    row,
    thinned,
)
from weir_eval.report.display import css_name
from weir_eval.report.sections.causes import cause_line, cause_row
from weir_eval.webrtc_stats import read_stats_log
from weir_sim.controllers import LIBWEBRTC_SENDERS, without_field_trials

_BIN_S = 0.5
_FRAME_BIN_S = 1.0


def call_charts(calls: Sequence[tuple[Call, Path]]) -> list[Chart]:
    """Returns one chart per case and seed, in the order of the calls. A missing log leaves its lines out.

    Raises:
        InputError: a log cannot be read, or is larger than that of any call.
    """
    grouped: dict[tuple[str, int], dict[str, tuple[Call, Path]]] = {}
    for call, folder in calls:
        grouped.setdefault((call.case, call.record.seed), {})[call.controller] = (call, folder)
    charts = []
    for (case, seed), by_controller in grouped.items():
        call_lines = [_CallLines(*by_controller[name]) for name in ordered_controllers(by_controller)]
        capacity = next((lines.capacity() for lines in call_lines if lines.has_link), None)
        duration_s = max(lines.duration_s for lines in call_lines)
        vmaf = [lines.vmaf() for lines in call_lines]
        members = list(dict.fromkeys(member for lines in call_lines for member in lines.members))
        limit_kbps = max(by_controller[name][0].record.call.max_bitrate_bps for name in by_controller) / 1e3
        rows = [
            *rate_rows(
                capacity,
                [lines.estimate() for lines in call_lines],
                [lines.received() for lines in call_lines],
                limit_kbps,
                duration_s,
            ),
            row("Delay, ms", [part for lines in call_lines for part in lines.delays()], share=1.1),
            row("Frames per s", [lines.frame_rate() for lines in call_lines], share=0.7),
            row("VMAF", vmaf, share=0.7, range=_vmaf_range(vmaf)),
            row(
                "Active controller",
                [lines.active_controller(members) for lines in call_lines],
                share=0.5,
                ticks=members,
            ),
            cause_row([lines.causes() for lines in call_lines]),
            row("Trust", [lines.trust() for lines in call_lines], share=0.5, range=(0, 1.05)),
        ]
        charts.append(chart(f"{case} · seed {seed}", call_lines[0].description, duration_s, rows))
    return [entry for entry in charts if entry["rows"]]


class _CallLines:
    """The lines of one call; time 0 is the start of the scenario."""

    def __init__(self, call: Call, folder: Path) -> None:
        self._folder, self._controller = folder, call.controller
        self._kind, self._colour = call.record.controller, f"--c-{css_name(call.controller)}"
        about = call.record.call
        measured = about.measured
        self._start_us = about.started_us or measured.media_start_us or 0
        end_us = measured.end_us or 0
        self.duration_s = max(1.0, min((end_us - self._start_us) / 1e6, 1e6))
        self.description = about.description
        self._episodes = call.record.episodes
        self._link = read_link_log(folder / logs.LINK_LOG, "forward")
        self._frames = read_index(folder / logs.FRAME_LOG)
        self._rendered_us = np.array([frame.render_time_us for frame in self._frames], dtype=np.float64)
        self._pool_states = read_pool_states(folder / logs.ESTIMATES)

    @property
    def has_link(self) -> bool:
        """True if there is a log of the link."""
        return len(self._link.time_us) > 0

    def capacity(self) -> Line:
        """The capacity less cross traffic."""
        link, seconds = self._link, self._link.interval_s
        with np.errstate(divide="ignore", invalid="ignore"):
            left_bps = link.capacity_bps - 8 * np.nan_to_num(link.cross_traffic_bytes) / seconds
        x, y = self._binned(link.time_us, left_bps / 1e3, "mean")
        name = "capacity" if not np.nansum(link.cross_traffic_bytes) else "available capacity"
        return line(name, "--capacity", x, np.maximum(0, y), unit="kbps", fill=True, width=1, step=True)

    def estimate(self) -> Line:
        """The estimate of the active controller."""
        if without_field_trials(self._kind) not in (*LIBWEBRTC_SENDERS, "shadow"):
            times, values = logs.read_estimates(self._folder / logs.ESTIMATES)
            if len(times):
                return self._line(*self._binned(times, values / 1e3, "mean"), "kbps")
        pair = read_stats_log(self._folder / logs.SENDER_STATS).selected_pair()
        if pair is None:
            return None
        times, values = pair.series("availableOutgoingBitrate")
        return self._line(*thinned(times - self._start_us / 1e6, values / 1e3), "kbps")

    def received(self) -> Line:
        """IP bytes that the link delivered; without its log, payload bytes by getStats."""
        link: LinkLog = self._link
        if self.has_link:
            with np.errstate(divide="ignore", invalid="ignore"):
                rates = 8 * link.bytes / link.interval_s
            return self._line(*self._whole(*self._binned(link.time_us, rates / 1e3, "mean")), "kbps")
        streams = read_stats_log(self._folder / logs.RECEIVER_STATS).of("inbound-rtp", "video")
        if not streams:
            return None
        times, rates = max((stream.rate("bytesReceived") for stream in streams), key=lambda found: len(found[0]))
        return self._line(*thinned(times - self._start_us / 1e6, 8 * rates / 1e3), "kbps")

    def delays(self) -> list[Line]:
        """The largest end-to-end delay of a bin, and the queue of the link."""
        delays = np.array([np.nan if d is None else d for d in end_to_end_delays_ms(self._frames)], dtype=np.float64)
        queue = line(
            f"{self._controller}, queue of the link", self._colour,
            *self._binned(self._link.time_us, self._link.queueing_delay_ms, "max"),
            group=self._controller, unit="ms in the link's queue", dash="dot", width=1.2,
        )  # fmt: skip
        return [self._line(*self._binned(self._rendered_us, delays, "max"), "ms"), queue]

    def frame_rate(self) -> Line:
        """Rendered frames per second."""
        if not self._frames:
            return None
        x, y = self._whole(*self._binned(self._rendered_us, np.ones(len(self._frames)), "sum", _FRAME_BIN_S))
        return self._line(x, np.nan_to_num(y) / bin_width_s(self.duration_s, _FRAME_BIN_S), "per s", decimals=1)

    def vmaf(self) -> Line:
        """Mean VMAF over the frames of a second."""
        found = next(read_objects(self._folder / VMAF_FRAMES), {}).get("frames")
        pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []
        known = [(t, v) for t, v in pairs if number(t) is not None and number(v) is not None]
        if not known:
            return None
        times, values = np.array(known, dtype=np.float64).T
        return self._line(*self._binned(times, values, "mean", _FRAME_BIN_S), "", 1)

    @property
    def members(self) -> list[str]:
        """The members of a pool, the controller that is active at first before the others."""
        return list(dict.fromkeys(name for state in self._pool_states[:1] for name in (state.active, *state.trust)))

    def active_controller(self, members: Sequence[str]) -> Line:
        """The index in `members` of the active controller at the end of each bin."""
        places = np.array([members.index(state.active) for state in self._pool_states], dtype=np.float64)
        return self._pool_line(places, step=True)

    def trust(self) -> Line:
        """The lowest trust in the first active controller in each bin."""
        first = next(iter(self.members), "")
        return self._pool_line(
            np.array([state.trust.get(first, np.nan) for state in self._pool_states], dtype=np.float64)
        )

    def causes(self) -> Line:
        """The main cause of each freeze and long queue, over its time."""
        return cause_line(self._controller, self._episodes)

    def _pool_line(self, values: Array, *, step: bool = False) -> Line:
        times_us = np.array([state.time_us for state in self._pool_states], dtype=np.float64)
        x, y = self._binned(times_us, values, "last" if step else "min")
        return line(self._controller, self._colour, x, y, decimals=0 if step else 2, step=step)

    def _line(self, x: Array, y: Array, unit: str, decimals: int = 0) -> Line:
        width = 2.2 if is_ours(self._kind) else 1.6
        return line(self._controller, self._colour, x, y, unit=unit, decimals=decimals, width=width)

    def _binned(self, times_us: Array, values: Array, reduce: Reduce, bin_s: float = _BIN_S) -> tuple[Array, Array]:
        return binned((times_us - self._start_us) / 1e6, values, self.duration_s, bin_s, reduce)

    def _whole(self, x: Array, y: Array) -> tuple[Array, Array]:
        """The bins without the last one, if that is incomplete: it would show a drop that did not happen."""
        whole = x + x[0] <= self.duration_s + 1e-9
        return x[whole], y[whole]


def _vmaf_range(lines: Sequence[Line]) -> tuple[float, float]:
    """From the multiple of 20 below the worst second to 100."""
    worst = min((y for line in lines if line for y in line["y"] if y is not None), default=0.0)
    return 20.0 * (worst // 20), 100.0


def folder_of(record: CallRecord, out: Path) -> Path:
    """The folder of a call among the results in `out`: in `calls`, in `out`, or `out` itself."""
    name = Path(record.call.folder).name
    if out.resolve().name == name and (out / logs.RECORD).is_file():
        return out
    return out / CALLS / name if (out / CALLS / name).is_dir() else out / name
