"""The pool by trust, and pools that lack a part of it, or have another fusion."""

from __future__ import annotations

from typing import Final

_WHOLE: Final = "copilots=nada,rule policy=by_trust"
# What follows the pilot in a pool's line.
VARIANTS: Final[dict[str, str]] = {
    "by trust": _WHOLE,
    "without nada": "copilots=rule policy=by_trust",
    "without rule": "copilots=nada policy=by_trust",
    "the model alone": "",
    "by objective": "copilots=nada,rule policy=by_objective",
    **{f"always {fusion}": f"copilots=nada,rule fusion={fusion}" for fusion in ("mean", "median", "min", "max")},
}
