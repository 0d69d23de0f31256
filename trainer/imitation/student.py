"""A student from its beginning, or from its model file, to its model file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch

from weir.errors import InputError
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.imitation.dagger import ImitationProgress, has_settled, imitate
from weir.trainer.imitation.teachers import ORACLE, make_teacher
from weir.trainer.learning.provenance import data_text
from weir.trainer.learning.train import make_environment
from weir.trainer.model.export import export
from weir.trainer.model.file import read_model
from weir.trainer.policies.recurrent import RecurrentPolicy


@dataclass(frozen=True)
class Plan:
    """What is asked for: the teachers' names (see `make_teacher`), layers of the student, whether it `classifies`
    (see `RecurrentPolicy`), how many iterations at most, and the decisions of each.
    """

    teachers: tuple[str, ...]
    hidden: int = 64
    layers: int = 1
    classifies: bool = True
    iterations: int = 40
    decisions: int = 25_600

    @property
    def network(self) -> dict[str, Any]:
        """As the provenance has it."""
        learns = "seven levels of the action" if self.classifies else "the action"
        return {"hidden": self.hidden, "layers": self.layers, "learns": learns}


@dataclass(frozen=True)
class Taught:
    """How teaching ended: iterations that are done in all, the loss of the last (not a number when none is)."""

    iterations: int
    loss: float
    interrupted: bool
    settled: bool


def teach(
    settings: TrainingConfiguration,
    plan: Plan,
    out: Path,
    *,
    resume: bool = False,
    simulator: str | os.PathLike[str] | None = None,
    on_iteration: Callable[[ImitationProgress], None] | None = None,
) -> Taught:
    """Teaches a student and writes its model after every iteration; an interruption (Ctrl-C) keeps the last.

    Args:
        settings: environment, scenarios, name, version and seed of the student.
        plan: what is asked for.
        out: the model file.
        resume: go on from it; what the student was told is collected anew, in other scenarios.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_iteration: called after each.

    Raises:
        InputError: a teacher is unfit, or the model to go on from is not of this plan.
        SimulatorError: a simulator failed.
    """
    # The critic's inputs: there is none here.
    environment = settings.environment.model_copy(update={"privileged_critic": False})
    specification = environment.specification()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    policy = RecurrentPolicy(
        specification,
        preference_size=settings.policy.preference_size,
        hidden=plan.hidden,
        layers=plan.layers,
        classifies=plan.classifies,
    )
    losses = _read(out, policy, plan) if resume else []
    teacher = make_teacher(plan.teachers, specification)
    seed = settings.seed + len(losses)
    surroundings = make_environment(settings.model_copy(update={"environment": environment, "seed": seed}), simulator)

    def keep(state: ImitationProgress) -> None:
        losses.append(round(state.loss, 5))
        provenance = _provenance(settings, plan, losses)
        export(policy, specification, out, name=settings.name, version=settings.version, provenance=provenance)
        if on_iteration is not None:
            on_iteration(state)

    interrupted = False
    try:
        imitate(
            policy,
            teacher,
            surroundings,
            iterations=plan.iterations,
            decisions=plan.decisions,
            seed=seed,
            losses=losses,
            on_iteration=keep,
        )
    except KeyboardInterrupt:
        interrupted = True
    finally:
        surroundings.close()
    return Taught(len(losses), losses[-1] if losses else math.nan, interrupted, has_settled(losses))


def _provenance(settings: TrainingConfiguration, plan: Plan, losses: list[float]) -> dict[str, Any]:
    """How the model came to be; `losses` has one entry an iteration."""
    teachers = [name if name == ORACLE else read_model(name).sha256 for name in plan.teachers]
    return {
        "algorithm": f"DAgger (weir imitate), {len(losses)} iterations of {plan.decisions:,} decisions, "
        f"seed {settings.seed}",
        "teachers": teachers,
        "data": data_text(settings.scenarios),
        "objectives": settings.environment.objective,
        "action": settings.environment.action.model_dump(),
        "network": plan.network | {"preference": settings.policy.preference_size},
        "losses": losses,
        "versions": {"torch": torch.__version__},
    }


def _read(path: Path, policy: RecurrentPolicy, plan: Plan) -> list[float]:
    """Sets the parameters to those in a model file of the same plan; gives its losses."""
    provenance = read_model(path).provenance
    found = provenance.get("network") if isinstance(provenance, dict) else None
    if not isinstance(found, dict) or any(found.get(key) != value for key, value in plan.network.items()):
        raise InputError(f"{path}: has not the network that is asked for ({plan.network}): {found}")
    tensors = {tensor.name: tensor for tensor in onnx.load(str(path)).graph.initializer}
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            values = torch.from_numpy(onnx.numpy_helper.to_array(tensors[name]).copy())
            if values.shape != parameter.shape:
                raise InputError(f"{path}: its {name} is of shape {tuple(values.shape)}")
            parameter.copy_(values)
    return [float(loss) for loss in provenance["losses"]]
