"""The pool by trust, and pools that lack a part of it, or have another fusion."""

from __future__ import annotations

from typing import Final

_SIGNALS: Final = ("disagreement", "starvation", "unfamiliarity")
_WHOLE: Final = "copilots=nada,rule policy=by_trust"
# What follows the pilot in a pool's line.
VARIANTS: Final[dict[str, str]] = {
    "by trust": _WHOLE,
    "without nada": "copilots=rule policy=by_trust",
    "without rule": "copilots=nada policy=by_trust",
    **{
        f"without {out}": f"{_WHOLE} trust={','.join(signal for signal in _SIGNALS if signal != out)}"
        for out in _SIGNALS
    },
    "members keep their own rates": f"{_WHOLE} feedback=own",
    "the model alone": "",
    "by objective": "copilots=nada,rule policy=by_objective",
    **{f"always {fusion}": f"copilots=nada,rule fusion={fusion}" for fusion in ("mean", "median", "min", "max")},
}
