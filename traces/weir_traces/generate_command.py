"""``weir traces generate``: writes a synthetic trace or scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from weir_cli.errors import InputError, unknown
from weir_cli.files.input import printable
from weir_cli.files.output import refuse_to_overwrite
from weir_cli.options import ForceOption
from weir_traces.bounds import MAX_DURATION_S
from weir_traces.convert_command import DELAY, LOSS, QUEUE, warn, write
from weir_traces.formats.convert import format_of, parse_queue, parse_rate, render
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.generators import GENERATORS
from weir_traces.generate.random_domain import random_scenario

_DEFAULT_RATE = "2.5M"


def generate(
    kind: Annotated[str, typer.Argument(help=f"{', '.join(GENERATORS)} or random.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write; - for stdout (a scenario).")],
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same file.")] = 1,
    duration: Annotated[float, typer.Option(help="Seconds.")] = 60.0,
    rate: Annotated[str | None, typer.Option(help="Nominal rate such as 300k; not for random. Default: 2.5M.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Generator parameter, NAME=NUMBER; repeatable.")
    ] = None,
    one_way_delay: Annotated[float | None, DELAY] = None,
    queue: Annotated[str | None, QUEUE] = None,
    loss: Annotated[float | None, LOSS] = None,
    force: ForceOption = False,
) -> None:
    """Generate a synthetic trace; the extension of --out selects the format (.json: scenario)."""
    if kind != "random" and kind not in GENERATORS:
        raise InputError(f"{kind}: no such generator; {unknown(kind, [*GENERATORS, 'random'])}")
    refuse_to_overwrite(out, force)
    if duration > MAX_DURATION_S:
        raise InputError(f"--duration '{duration:g}': must be at most {MAX_DURATION_S:g} s, a day")
    limit = None if queue is None else parse_queue(queue)
    if kind == "random":
        if any(option is not None for option in (rate, parameter or None, one_way_delay, limit, loss)):
            raise InputError("random draws everything itself; omit --rate, --set, --one-way-delay, --queue and --loss")
        scenario = random_scenario(seed, duration_s=duration)
    else:
        rate = rate or _DEFAULT_RATE
        parameters = dict(_parameter(item) for item in parameter or [])
        try:
            trace = GENERATORS[kind](np.random.default_rng(seed), duration, parse_rate(rate), **parameters)
        except TypeError:
            known = list(GENERATORS[kind].__kwdefaults__ or {})
            raise InputError(f"--set: {kind} takes {', '.join(known) or 'no parameters'}") from None
        shown = "".join(f", {key}={value:g}" for key, value in parameters.items())
        scenario = scenario_from_capacity(
            trace,
            f"{kind}-{seed}" if str(out) == "-" else printable(out.stem),
            one_way_delay_ms=one_way_delay,
            queue=limit,
            loss_ratio=loss,
            provenance={"source": f"weir traces generate {kind}, seed {seed}, {duration:g} s, {rate}{shown}"},
        )
    text, lost = render(scenario, "scenario" if str(out) == "-" else format_of(out))
    if lost:
        warn(f"{printable(out)}: this format cannot hold: {', '.join(lost)}")
    write(out, text)


def _parameter(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        return key.strip(), float(value)
    except ValueError:
        raise InputError(f"--set '{text}': write NAME=NUMBER") from None
