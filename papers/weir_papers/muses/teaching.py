"""Muses' teacher: an LSTM of two layers of 256 (section II-C), which imitates the oracle on networks of Table II."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from weir_papers.common import save_scenarios
from weir_papers.muses.networks import muses_scenario
from weir_train.configuration.training import load_configuration
from weir_train.learning.stages import export_run
from weir_train.learning.train import train
from weir_train.model.file import CHECKPOINT

CONFIGURATION: Final = Path(__file__).parent / "teacher.toml"
NETWORKS: Final = 400
_DURATION_S: Final = 40.0


def teach(steps: int, seed: int, out: Path, on_progress: Callable[[int], None]) -> Path:
    """Trains the teacher for `steps` decisions in a folder of `out`, from its checkpoint if there is one; its file.

    Raises:
        ComponentFailed: a simulator failed.
        KeyboardInterrupt: Ctrl-C; the checkpoint is kept.
    """
    file, folder, networks = out / "teacher.onnx", out / "teacher", out / "networks"
    if file.exists():
        return file
    files = save_scenarios((muses_scenario(number, duration_s=_DURATION_S) for number in range(NETWORKS)), networks)
    settings = load_configuration(CONFIGURATION)
    scenarios = settings.scenarios.model_copy(update={"source": "files", "files": tuple(files)})
    result = train(
        settings.model_copy(update={"steps": steps, "seed": seed, "scenarios": scenarios}),
        folder,
        resume=(folder / CHECKPOINT).is_file(),
        on_progress=lambda state: on_progress(min(state.steps, steps)),
    )
    if result.interrupted:
        raise KeyboardInterrupt
    export_run(folder, file)
    return file
