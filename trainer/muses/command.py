"""The command `weir muses`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from weir.errors import InputError
from weir.files.output import write_text
from weir.installation import require_trees
from weir.trainer.configuration.scenarios import ScenarioSettings
from weir.trainer.gym.environment import make_specification
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.learning.progress_bar import progress_bar
from weir.trainer.model.card import model_card
from weir.trainer.model.file import ModelFile, check_target, read_model
from weir.trainer.muses.show import MOST_KINDS

AUTO: Final = "auto"
# With 14 and the tree of all, 500 leaves each are 60 kB.
MOST_AUTO_KINDS: Final = 14
HIGHEST_MEAN_BPS: Final = 20e6


def muses(
    teachers: Annotated[
        list[Path], typer.Argument(metavar="TEACHER", help="Model file (.onnx) around the rule; of several, the mean.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The trees' model file; its card is written beside it.")],
    flows: Annotated[int, typer.Option(min=2, help="Flows under all teachers, each of --duration.")] = 5000,
    duration: Annotated[float, typer.Option(min=1.0, max=600.0, metavar="S", help="Of a flow.")] = 40.0,
    specialists: Annotated[
        list[str] | None,
        typer.Option("--specialist", metavar="MODEL=DIR", help="Who teaches on the scenario files in DIR; repeatable."),
    ] = None,
    kinds: Annotated[
        str, typer.Option(metavar="K|auto", help=f"Kinds of path; auto: the best silhouette of 2 to {MOST_AUTO_KINDS}.")
    ] = AUTO,
    trees: Annotated[int, typer.Option(min=1, max=100, help="Of a kind, whose answers are summed.")] = 1,
    leaves: Annotated[int, typer.Option(min=2, max=20_000, help="Of a tree, at most.")] = 500,
    interval: Annotated[float, typer.Option(min=0.2, metavar="S", help="Between two choices of a tree.")] = 10.0,
    lines: Annotated[int, typer.Option(min=0, max=100, help="Sums of the whole history that trees may ask for.")] = 24,
    rounds: Annotated[int, typer.Option(min=0, max=20, help="How often trees fly, corrected by the teacher.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of paths, objectives and clusters.")] = 1,
    environments: Annotated[int, typer.Option(min=2, help="Flows at once, a simulator process each; even.")] = 256,
) -> None:
    """Extract small trees from a teacher, one for each kind of path, chosen while a call runs (Muses)."""
    tried = _kinds(kinds)
    lessons = [_lesson(text) for text in specialists or []]
    check_target(out, *teachers, *(model for model, _ in lessons))
    if environments % 2:
        raise InputError(f"--environments {environments}: flows come in pairs")
    described = [read_model(teacher) for teacher in (*teachers, *(model for model, _ in lessons))]
    specification = teachers_specification(described[0])
    require_trees()
    from weir.trainer.imitation.teachers import make_teacher
    from weir.trainer.model.training_ranges import read_ranges
    from weir.trainer.muses.export import export
    from weir.trainer.muses.extraction import Lesson, Plan, extract
    from weir.trainer.muses.kinds import describe_kinds

    plan = Plan(
        lessons=[
            Lesson(make_teacher(teachers, specification), ScenarioSettings(maximum_mean_bps=HIGHEST_MEAN_BPS)),
            *(Lesson(make_teacher([model], specification), scenarios) for model, scenarios in lessons),
        ],
        flows=flows,
        duration_s=duration,
        kinds=tried,
        trees=trees,
        leaves=leaves,
        interval_s=interval,
        lines=lines,
        rounds=rounds,
        seed=seed,
        environments=environments,
    )
    steps = round(duration * 1000 / specification.interval_ms)
    try:
        with progress_bar(plan.all_flows * steps) as show:
            found = extract(specification, plan, on_progress=lambda what, flown: show(what, flown * steps, ""))
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; nothing is written", err=True)
        raise typer.Exit(1) from None
    words = ["weir", "muses", *map(str, teachers), "--out", str(out)]
    words += [word for text in specialists or [] for word in ("--specialist", text)]
    words += ["--flows", str(flows), "--duration", f"{duration:g}"]
    words += ["--kinds", kinds, "--trees", str(trees), "--leaves", str(leaves), "--interval", f"{interval:g}"]
    words += ["--lines", str(lines), "--rounds", str(rounds), "--seed", str(seed), "--environments", str(environments)]
    provenance = {
        "algorithm": f"Muses: students {len(found.mixture.students)}, regression trees of each {trees}, leaves at most "
        f"{leaves}, rounds of dataset aggregation {rounds}",
        "teachers": [{"name": one.name, "version": one.version, "sha256": one.sha256} for one in described],
        "data": "random domain (weir.traces.random_domain), split train, mean capacity at most "
        f"{HIGHEST_MEAN_BPS / 1e6:g} Mbps{', and files of each specialist' if lessons else ''}, "
        f"{flows:,} flows of {duration:g} s under the teachers",
        "objectives": "balanced, and random on the same paths",
        "action": asdict(specification.action),
        "muses": {
            "duration_s": duration,
            "interval_s": interval,
            "silhouettes": {} if found.decomposition is None else _rounded(found.decomposition.silhouettes),
            "tree_bytes": 8 * found.mixture.splits,
            "fewest_samples": found.fewest_samples,
            "held_out": _rounded(found.measures),
            "kinds": describe_kinds(found),
        },
        "command": shlex.join(words),
    }
    ranges = read_ranges(described[0].ranges) if described[0].ranges else None
    export(found.mixture, out, provenance=provenance, ranges=ranges)
    card = out.with_suffix(".md")
    write_text(card, model_card(read_model(out)))
    typer.echo(
        f"{out}: {len(found.mixture.students) * trees} trees, {8 * found.mixture.splits:,} bytes of splits\n{card}"
    )


def _kinds(text: str) -> tuple[int, ...]:
    if text == AUTO:
        return tuple(range(2, MOST_AUTO_KINDS + 1))
    if not text.isdecimal() or not 1 <= int(text) <= MOST_KINDS:
        raise InputError(f"--kinds {text}: auto, or 1 (one tree for all) to {MOST_KINDS}")
    return (int(text),)


def _lesson(text: str) -> tuple[Path, ScenarioSettings]:
    """Of `--specialist`."""
    model, _, folder = text.partition("=")
    files = sorted(Path(folder).glob("*.json")) if folder else []
    if not files:
        raise InputError(f"--specialist {text}: give MODEL=DIR, a folder with scenario files (*.json)")
    return Path(model), ScenarioSettings(source="files", files=tuple(files))


def teachers_specification(model: ModelFile) -> EnvironmentSpecification:
    """What the teacher was trained in, by its own account; the guard stands behind the trees, as in a call."""
    action = model.provenance.get("action") if isinstance(model.provenance, dict) else None
    if not isinstance(action, dict) or action.get("kind") != "around_rule":
        raise InputError(f"{model.path}: its provenance tells no action around the rule; such a teacher is needed")
    return make_specification(model.interval_ms, model.features, model.history, action, guard=True)


def _rounded(values: dict[Any, float]) -> dict[str, float]:
    return {str(key): round(float(value), 4) for key, value in values.items()}
