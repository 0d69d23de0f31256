"""The report's section about what a viewer would see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.video_quality import STANDARD_ERROR
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.report.tables import means

VIEWER = (
    "viewer_quality", "video_quality", "frozen_share", "freeze_count", "frames_per_second", "frame_delay_ms_p50",
    "frame_delay_ms_p95",
)  # fmt: skip


def section(summary: Mapping[str, Any]) -> str:
    """What a viewer would see, by controller; nothing for runs whose frames were not followed."""
    controllers = {name: values for name, values in summary["controllers"].items() if VIEWER[0] in values}
    if not controllers:
        return ""
    ordered = sorted(controllers, key=lambda name: -controllers[name][VIEWER[0]]["mean"])
    rows = [
        html.row([html.controller_name(name), *means(controllers[name], VIEWER)], name == REFERENCE) for name in ordered
    ]
    head = ["Controller", *(html.heading(METRICS[name]) for name in VIEWER)]
    note = (
        "Means over all runs, best first. <b>Frame delay</b> runs from the capture of a frame to its last packet; a "
        "lost packet is taken to come again one round trip after its gap shows. <b>Video quality</b> is an estimate of "
        "VMAF from the bitrate alone, by a line fitted to eight groups of real VP8 calls at 1280x720 of 79 to 1,501 "
        f"kbps (off by {STANDARD_ERROR:.1f} points there, by up to 11 in single calls; beyond, extrapolated to 100 "
        "at 3.9 Mbps). "
        "<b>Viewer’s quality</b> is its mean over the viewer’s time, in which a frozen picture counts as 0. A "
        "call that is not simulated is measured by <code>weir call</code>."
    )
    return html.section(
        "viewer",
        "What a viewer would see",
        note,
        html.table(head, rows) + '<div id="viewer-scatter" class="chart"></div>',
    )
