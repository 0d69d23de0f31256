"""The components of this distribution, for `weir doctor`: the shipped model."""

from __future__ import annotations

from collections.abc import Iterator

from weir_cli.components import Component
from weir_cli.errors import InputError, MissingComponent
from weir_eval.model_file import read_model
from weir_sim.installed import shipped_model


def components() -> Iterator[Component]:
    """The model, as far as it can be read."""
    try:
        path = shipped_model()
        model = read_model(path)
        found = f"{model.name} {model.version}, {path.name}, SHA-256 {model.sha256[:12]}"
        yield Component("model", "run", found.strip())
    except (MissingComponent, InputError) as error:
        yield Component("model", "run", None, str(error))
