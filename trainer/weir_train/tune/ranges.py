"""Refuses, before a search begins, ranges with values that their settings cannot have."""

from __future__ import annotations

import json

from weir_cli.errors import InputError
from weir_train.configuration.training import TrainingConfiguration, configuration_faults
from weir_train.configuration.tuning import setting_of, with_parameters


def check_ranges(base: TrainingConfiguration) -> None:
    """Sets each parameter alone to the values at the limits of its range.

    Faults of several settings together, such as a `ppo.batch_size` that does not divide, are those of a trial: other
    parameters of the trial may remove them.

    Raises:
        InputError: a parameter is no setting, or a value is none of its setting.
    """
    assert base.tune is not None
    whole = base.model_dump(mode="json")
    values = base.model_dump(mode="json", exclude_unset=True, exclude={"tune"})
    for path, parameter in base.tune.parameters.items():
        setting_of(whole, path)
        for value in parameter.limits():
            for key, text in configuration_faults(with_parameters(values, {path: value})):
                if key == path or key.startswith(f"{path}."):
                    raise InputError(
                        f'tune.parameters."{path}": {json.dumps(value)} is no value of this setting: {text}; change '
                        f"{'choices' if parameter.choices else 'low or high'}"
                    )
