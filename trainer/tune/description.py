"""The description of a search in its folder, `tune.json`: what `--resume` goes on with."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from weir.errors import InputError
from weir.files.output import write_text
from weir.qoe_eval.records import read_document
from weir.trainer.configuration.training import TrainingConfiguration, checked_configuration

DESCRIPTION = "tune.json"


class Description(BaseModel):
    """`configuration`: the values of the file, with the table `tune`; `commands`: one for each part of the search."""

    model_config = ConfigDict(extra="forbid")

    configuration: dict[str, JsonValue]
    commands: list[str] = []

    @property
    def base(self) -> TrainingConfiguration:
        """The configuration, checked.

        Raises:
            InputError: it is wrong.
        """
        base = checked_configuration(self.configuration, DESCRIPTION)
        if base.tune is None:
            raise InputError(f"{DESCRIPTION}: its configuration has no table tune")
        return base


def begin(search: Path, base: TrainingConfiguration, command: str, *, resume: bool) -> None:
    """Writes the description of a search that begins or goes on.

    Raises:
        InputError: there is a search already, none to resume, or one of another configuration.
    """
    path = search / DESCRIPTION
    found = base.model_dump(mode="json", exclude_unset=True)
    description = Description(configuration=found)
    if resume:
        if not path.is_file():
            raise InputError(f"{search}: has no {DESCRIPTION} to resume from")
        description = read_description(search)
        if _compared(description.configuration) != _compared(found):
            raise InputError(
                f"{search}: its search has another configuration; only tune.trials may change. Choose another folder"
            )
    elif path.exists():
        raise InputError(f"{search}: already holds a search; resume it, or give another folder")
    description = Description(configuration=found, commands=[*description.commands, command])
    write_text(path, description.model_dump_json(indent=1) + "\n")


def read_description(search: Path) -> Description:
    """The description of a search.

    Raises:
        InputError: it is missing or broken.
    """
    return read_document(search / DESCRIPTION, Description, "description of a search")


def _compared(configuration: dict[str, JsonValue]) -> dict[str, JsonValue]:
    tune = configuration.get("tune")
    settings = {key: value for key, value in tune.items() if key != "trials"} if isinstance(tune, dict) else None
    return {**configuration, "tune": settings}
