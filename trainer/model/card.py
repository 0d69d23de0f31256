"""The model card: Markdown made from the model file and a results summary, so that no figure in it is typed by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import parse_json, read_text
from weir.trainer.model.file import ModelFile
from weir.trainer.model.paired_text import paired_sentences

MEASURES = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio")


def model_card(model: ModelFile, summary: Mapping[str, Any] | None = None) -> str:
    """Markdown: data, ranges, objectives, figures, limits, command.

    Args:
        model: the model's file.
        summary: a `summary.json` of `weir replay` or `weir report` that has this model as `weir`; None leaves the
            figures out and says so.
    """
    provenance = model.provenance if isinstance(model.provenance, dict) else {"note": model.provenance}
    lines = [
        f"# Model card: {model.name} {model.version}",
        "",
        f"`{Path(model.path).name}`, {model.bytes:,} bytes, {model.parameters:,} parameters. "
        f"A decision every {model.interval_ms} ms from the last "
        f"{model.history} intervals of {len(model.features)} features and the objective <throughput, latency, loss>.",
        "",
        "## Inputs and output",
        "",
        f"- Features, newest interval first, of those about the path the newest only: "
        f"{', '.join(f'`{name}`' for name in model.features)}. "
        "SI units, raw: scaling is in the graph.",
        f"- Action: `{model.action_kind}`, {model.min_bps / 1e3:,.0f} kbps to {model.max_bps / 1e6:,.0f} Mbps.",
        f"- {model.golden_vectors} golden vectors, checked at load.",
        "",
        "## Training",
        "",
    ]
    lines += [f"- {key.replace('_', ' ')}: {_text(value)}" for key, value in provenance.items()]
    lines += ["", "## Figures", ""]
    lines += (
        _figures(summary) if summary is not None else ["None were given to this card; `weir report` measures them."]
    )
    lines += [
        "",
        "## Limits",
        "",
        "- Trained in simulation only. Paths outside the ranges above are extrapolation; there the guard and the "
        "rule-based fallback stand behind it.",
        "- The objectives' weights were drawn above 0.05 each; nearer to the rim is extrapolation too.",
        "- The policy steers the rate around the ten-line rule (`rule` in the reports) by a bounded factor: compare it "
        "with that first.",
        "",
    ]
    return "\n".join(lines)


def read_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a `summary.json`.

    Raises:
        InputError: it is missing or not a summary.
    """
    summary = parse_json(read_text(path), str(path))
    if not isinstance(summary, dict) or not isinstance(summary.get("controllers"), dict):
        raise InputError(f"{path}: is not a results summary: it has no `controllers`")
    return summary


def _figures(summary: Mapping[str, Any]) -> list[str]:
    controllers = summary["controllers"]
    described = summary.get("metrics")
    if isinstance(described, dict) and (unknown := [name for name in MEASURES if name not in described]):
        raise InputError(f"the results summary has no metric {', '.join(unknown)}; it has {', '.join(described)}")
    lines = [
        f"Means over {len(summary.get('scenarios', {}))} scenarios.",
        "",
        "| controller | " + " | ".join(MEASURES) + " |",
        "|---|" + "---|" * len(MEASURES),
    ]
    for name, measures in controllers.items():
        cells = [_number(measures.get(measure, {}).get("mean")) for measure in MEASURES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    sentences = paired_sentences(summary)
    if sentences:
        lines += ["", "Mean differences, paired by scenario and seed, with 95 % intervals:", ""]
        lines += [f"- {sentence}" for sentence in sentences.values()]
    return lines


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value)
