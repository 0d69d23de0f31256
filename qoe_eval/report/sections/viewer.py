"""The section about what a viewer would see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.measures.video_quality import STANDARD_ERROR
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.sections.headline import means

VIEWER = (
    "viewer_quality", "video_quality", "frozen_share", "freeze_count", "frames_per_second", "frame_delay_ms_p50",
    "frame_delay_ms_p95",
)  # fmt: skip


def viewer(summary: Mapping[str, Any]) -> Section | None:
    """What a viewer would see, by controller; nothing for runs whose frames were not followed."""
    controllers = {name: values for name, values in summary["controllers"].items() if VIEWER[0] in values}
    if not controllers:
        return None
    ordered = sorted(controllers, key=lambda name: -controllers[name][VIEWER[0]]["mean"])
    view = {
        "metrics": [METRICS[name] for name in VIEWER],
        "rows": [(name, name == REFERENCE, means(controllers[name], VIEWER)) for name in ordered],
        "standard_error": f"{STANDARD_ERROR:.1f}",
    }
    return Section("viewer", "What a viewer would see", "replay/viewer.html", view)
