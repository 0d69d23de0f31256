"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "adapt": ("weir_train.adapt_command:adapt", "Fine-tune a model for a new objective."),
    "export": ("weir_train.export_command:export", "Export a trained policy to ONNX, and check it."),
    "model": ("weir_train.model_command:model", "Show what a model needs and gives."),
    "train": ("weir_train.train_command:train", "Train a policy."),
    "tune": ("weir_train.tune_command:tune", "Search settings of a training."),
}
