"""The table of claims in `papers/README.md`, for `docs/pages.py`."""

from __future__ import annotations

from pathlib import Path

from weir_eval.measurement import origin_of, read_measurement
from weir_eval.report.text import markdown_table
from weir_papers.repeat import REPETITIONS

_NAMES = {"mocc": "MOCC", "recoco": "ReCoCo", "muses": "Muses", "polycc": "PolyCC", "mvfst": "MVFST-RL"}


def claims_table(record: Path) -> str:
    """Every claim with the value of a record, as Markdown; without the record nothing is measured. Verdicts on values
    of earlier code say so.
    """
    found = read_measurement(record) if record.exists() else None
    values = {} if found is None else found.values
    rows = []
    for repetition in sorted(REPETITIONS, key=lambda repetition: list(_NAMES).index(repetition.name)):
        for index, claim in enumerate(repetition.claims):
            value = values.get(claim.key)
            measured = "" if value is None else claim.show_value(value)
            verdict = claim.verdict(value)
            if found is not None and value is not None and origin_of(found, claim.key).date < claim.since:
                verdict += "; earlier code"
            paper = _NAMES[repetition.name] if index == 0 else ""
            rows.append([paper, claim.description, claim.paper, measured, verdict, claim.reason])
    return markdown_table(["", "claim", "paper", "here", "verdict", "difference"], rows)
