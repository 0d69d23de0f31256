"""The notice of what did not complete."""

from __future__ import annotations

from collections.abc import Sequence

from weir.qoe_eval.report.page_template import Section

_MOST_TEXTS = 20


def failures(texts: Sequence[str], noun: str) -> Section | None:
    """Some of them in words; nothing where all completed. `noun` is what did not: a run, a call."""
    if not texts:
        return None
    view = {"count": len(texts), "noun": noun, "texts": texts[:_MOST_TEXTS], "more": len(texts) - _MOST_TEXTS}
    return Section("failures", "", "failures.html", view)
