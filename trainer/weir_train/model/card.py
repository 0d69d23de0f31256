"""The model card: Markdown from the model file, its notes, and measured results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weir_cli.files.input import read_text
from weir_cli.files.output import write_text
from weir_eval.model_file import ModelFile, read_model
from weir_eval.records.summary import Summary
from weir_eval.report.text import SHOWN, markdown_table, paired_sentences
from weir_train.model.file import CARD_TITLE, card_of

NO_RESULTS = "None are given to this card: see `weir model --help`.\n"

_INTENDED_USE = """\
Bandwidth estimation for WebRTC calls at the receiver, or at a sender that gets transport feedback. The estimator's
guard bounds what the policy proposes, and falls back to a rule when the policy fails; the model is not for use without
them, nor for traffic without real-time media.
"""
_LIMITS = """\
- Trained in simulation only. Paths outside the ranges under Training are extrapolation.
- Weights of the objective below 0.05 are extrapolation: training draws no smaller ones.
- A policy around the rule multiplies the rate of the ten-line rule (`rule` in reports) by a bounded factor: compare it
  with the rule first.
"""


def model_card(model: ModelFile, results: str = NO_RESULTS) -> str:
    """Returns the card as Markdown.

    Args:
        model: the model's file. Includes the sections of `NAME.notes.md` in its folder, such as known failures.
        results: Markdown of measured results, used if the notes have no section "Results".
    """
    provenance = model.provenance if isinstance(model.provenance, dict) else {"note": model.provenance}
    file = Path(model.path).with_suffix(".notes.md")
    notes = read_text(file).rstrip() + "\n" if file.is_file() else ""
    sections = [
        f"{CARD_TITLE}{model.name} {model.version}\n",
        f"`{Path(model.path).name}`, {model.bytes:,} bytes, {model.parameters:,} parameters. A decision every "
        f"{model.interval_ms} ms from the last {model.history} intervals of {len(model.features)} features and the "
        "objective <throughput, latency, loss>.\n",
        "## Intended use\n",
        _INTENDED_USE,
        "## Inputs and output\n",
        f"- Features, newest interval first; of features of the path only the newest value: "
        f"{', '.join(f'`{name}`' for name in model.features)}. SI units; the graph scales them.\n"
        f"- Action: `{model.action_kind}`, {model.min_bps / 1e3:,.0f} kbps to {model.max_bps / 1e6:,.0f} Mbps.\n"
        f"- {model.golden_vectors} golden vectors, checked when the model is loaded.\n",
        "## Training\n",
        "".join(f"- {key.replace('_', ' ')}: {_text(value)}\n" for key, value in provenance.items()),
        "## Limits\n",
        _LIMITS,
        *([notes] if notes else []),
        *([] if "\n## Results\n" in notes else ["## Results\n", results]),
    ]
    return "\n".join(sections)


def write_card(model: Path, results: str = NO_RESULTS) -> Path:
    """Writes the card of a model file next to it."""
    card = card_of(model)
    write_text(card, model_card(read_model(model), results))
    return card


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value)


def replay_results(summary: Summary) -> str:
    """Means by controller and paired differences of a replay, as Markdown."""
    means = [
        [name, *(f"{values[measure].mean:.4g}" if measure in values else "" for measure in SHOWN)]
        for name, values in summary.controllers.items()
    ]
    command = f" (`{summary.run.command}`)" if summary.run.command else ""
    table = markdown_table(["controller", *SHOWN], means)
    parts = [f"Means over {len(summary.scenarios)} scenarios{command}:\n", table]
    for pair in paired_sentences(summary):
        parts.append(f"{pair.pair}, {pair.sample}; differences paired by scenario and seed, with 95 % intervals:\n")
        parts.append("".join(f"- {difference}\n" for difference in pair.differences))
    return "\n".join(parts)
