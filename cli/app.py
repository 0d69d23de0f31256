"""All subcommands of `weir`, each from the file next to its subject."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.report import report
from weir.installation import installed_version
from weir.papers.paper import app as papers_app
from weir.qoe_eval.bench.bench import bench
from weir.qoe_eval.call.call import call
from weir.qoe_eval.doctor import doctor
from weir.qoe_eval.evaluate.evaluate import evaluate
from weir.qoe_eval.link.link import link
from weir.qoe_eval.model import model
from weir.qoe_eval.replay import replay
from weir.qoe_eval.serve.serve import serve
from weir.traces.cli import app as traces_app
from weir.trainer.adapt import adapt
from weir.trainer.export import export
from weir.trainer.train import train
from weir.webrtc_patch.check import app as webrtc_app


def build_app() -> typer.Typer:
    """The command with its subcommands, also those whose optional packages are not installed."""
    app = typer.Typer(
        name="weir",
        help="Estimates the bandwidth of a call, and compares rate controllers.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for command in (
        replay, call, link, serve, doctor, bench, report, evaluate, train, adapt, export, model,
    ):  # fmt: skip
        app.command()(command)
    app.add_typer(traces_app, name="traces")
    app.add_typer(papers_app, name="paper")
    app.add_typer(webrtc_app, name="webrtc")
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"weir {installed_version() or '(not installed)'}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
