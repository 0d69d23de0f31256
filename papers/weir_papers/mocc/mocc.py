"""The command `weir paper mocc`."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from weir_cli.files.output import make_folder, write_text
from weir_cli.installation import require
from weir_papers.claims import print_claims
from weir_papers.common import OutOption
from weir_papers.kept import kept
from weir_papers.mocc.claims import CLAIMS, measured
from weir_sim.executables import find_simulator
from weir_train.configuration.scenarios import ScenarioSettings
from weir_train.configuration.training import load_configuration
from weir_train.learning.progress_bar import progress_bar

RESULT: Final = "mocc.json"
CONFIGURATION: Final = Path(__file__).parent / "mocc.toml"
TRAINING_NETWORKS: Final = 256
TRAINING_S: Final = 30.0
TEST_S: Final = 20.0
# Networks of the training ranges beyond those that are trained on judge the adaptation and the landmarks.
JUDGED_FROM: Final = 10_000


def mocc(
    out: OutOption,
    seeds: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Repeat with the seeds 1 to N.")] = 3,
    base_steps: Annotated[int, typer.Option(min=1, help="Steps of each policy of landmarks.")] = 600_000,
    scratch_steps: Annotated[
        int, typer.Option(min=0, help="Steps of each policy of one objective; 0: none, and no adaptation.")
    ] = 200_000,
    adaptation_steps: Annotated[int, typer.Option(min=1, help="Steps of each adaptation.")] = 60_000,
    networks: Annotated[
        int, typer.Option(min=0, max=1000, help="Networks of the tests of all objectives; 0: only adaptation.")
    ] = 10,
    judged: Annotated[
        int, typer.Option(min=1, max=1000, help="Networks like those trained on, to judge policies.")
    ] = 24,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="Learning settings, a TOML file.", show_default=False)
    ] = CONFIGURATION,
) -> None:
    """MOCC: offline training on landmarks, adaptation to an unseen objective, and one policy for 100 objectives.

    Ctrl-C keeps trained policies in OUT/models, where 'weir export' finds them: the same command continues.
    """
    settings = load_configuration(configuration)
    make_folder(out)
    require("weir-train[learning]")
    from weir_papers.mocc.adaptation import Plan, measure_adaptation, summary
    from weir_papers.mocc.networks import write_networks
    from weir_papers.mocc.objectives import Trainer, measure_objectives

    plan = Plan(seeds, base_steps, scratch_steps, adaptation_steps, networks=judged, duration_s=TEST_S)
    folder = out / "networks"
    trained = write_networks(folder, "training", range(TRAINING_NETWORKS), TRAINING_S)
    tested = write_networks(folder, "testing", range(networks), plan.duration_s)
    judging = write_networks(folder, "training", range(JUDGED_FROM, JUDGED_FROM + judged), plan.duration_s)
    of_files = {name: ScenarioSettings(source="files", files=files) for name, files in (("a", trained), ("b", judging))}
    settings, evaluated = (settings.model_copy(update={"scenarios": of_files[name]}) for name in ("a", "b"))
    sizes = {**asdict(plan), "tested": networks, "configuration": settings.model_dump(mode="json")}
    of_seed = {name: value for name, value in sizes.items() if name != "seeds"}
    try:
        with progress_bar(max(base_steps, scratch_steps)) as show:
            trainer = Trainer(settings, out / "models", find_simulator(), lambda title, steps: show(title, steps, ""))
            adapted, objectives = [], []
            for seed in range(1, seeds + 1):
                adapt = partial(measure_adaptation, trainer, evaluated, plan, seed)
                compare = partial(measure_objectives, trainer, tested, judging, seed, base_steps, scratch_steps)
                if scratch_steps:
                    adapted.append(kept(out / f"adaptation-{seed}.json", of_seed, adapt, field="plan"))
                if networks:
                    objectives.append(kept(out / f"objectives-{seed}.json", of_seed, compare, field="plan"))
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; what is trained is kept: the same command continues", err=True)
        raise typer.Exit(1) from None
    adaptation = summary(adapted) if adapted else {"runs": []}
    document = {"schema": "weir.mocc/3", **adaptation, "objectives": objectives, "plan": sizes}
    write_text(out / RESULT, json.dumps(document, indent=1, allow_nan=False) + "\n")
    print_claims(CLAIMS, measured(document))
    typer.echo(f"\nDetails: {out / RESULT}")
