"""Training of Weir's learned policy: the environment, learners, adaptation, and export.

The packages above use the names here, those of `weir.trainer.gym` (the environment) and the commands; modules below may
change. Names are imported when they are first used; only `train_until` and `export_run` need torch.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weir.trainer.configuration.training import TrainingConfiguration, checked_configuration, load_configuration
    from weir.trainer.configuration.tuning import TuneSettings, setting_of, with_parameters
    from weir.trainer.learning.run_record import (
        CONFIGURATION,
        EVALUATIONS,
        PROGRESS_LOG,
        RunRecord,
        load_run_configuration,
        read_run_record,
    )
    from weir.trainer.learning.stages import export_run, train_until
    from weir.trainer.model.file import read_model

__all__ = [
    "CONFIGURATION",
    "EVALUATIONS",
    "PROGRESS_LOG",
    "SHIPPED_MODEL",
    "RunRecord",
    "TrainingConfiguration",
    "TuneSettings",
    "checked_configuration",
    "export_run",
    "load_configuration",
    "load_run_configuration",
    "read_model",
    "read_run_record",
    "setting_of",
    "train_until",
    "with_parameters",
]

# The shipped model; an installed copy of Weir may lack it.
SHIPPED_MODEL: Final = Path(__file__).parent / "models" / "weir.onnx"

_HOMES = {
    "CONFIGURATION": "weir.trainer.learning.run_record",
    "EVALUATIONS": "weir.trainer.learning.run_record",
    "PROGRESS_LOG": "weir.trainer.learning.run_record",
    "RunRecord": "weir.trainer.learning.run_record",
    "TrainingConfiguration": "weir.trainer.configuration.training",
    "TuneSettings": "weir.trainer.configuration.tuning",
    "checked_configuration": "weir.trainer.configuration.training",
    "export_run": "weir.trainer.learning.stages",
    "load_configuration": "weir.trainer.configuration.training",
    "load_run_configuration": "weir.trainer.learning.run_record",
    "read_model": "weir.trainer.model.file",
    "read_run_record": "weir.trainer.learning.run_record",
    "setting_of": "weir.trainer.configuration.tuning",
    "train_until": "weir.trainer.learning.stages",
    "with_parameters": "weir.trainer.configuration.tuning",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
