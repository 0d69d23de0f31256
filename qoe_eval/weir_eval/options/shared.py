"""Options of commands and their values: objectives, controllers, the model, the path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from weir import DECISION_INTERVALS_MS, parse_pool
from weir_cli.errors import InputError, unknown
from weir_cli.files.input import LARGEST_MODEL_BYTES, check_utf8, printable
from weir_eval.runs.custom_controllers import (
    DEFAULT_TIME_LIMIT_S,
    HOW,
    NAME,
    CustomController,
    check_custom_names,
    is_custom,
    read_custom_controller,
)
from weir_sim.controllers import (
    COMPARED,
    CONTROLLERS,
    POLICY_FILE,
    PRESETS,
    SIMULATED,
    field_trials,
    is_pool,
    pool_members,
    without_field_trials,
)
from weir_sim.installed import shipped_model
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.listing import check_input
from weir_traces.reading_options import ReadingArguments

if TYPE_CHECKING:
    from weir_eval.runs.inputs import PathOptions

Size = Literal["1280x720", "640x360"]
SIZES: Final[dict[str, tuple[int, int]]] = {"1280x720": (1280, 720), "640x360": (640, 360)}
"""Width and height of the video of calls."""
POOL = "a pool such as 'pilot=weir copilots=nada,rule fusion=min policy=by_trust'"
_OTHER_NAMES = {"webrtc": "gcc", "libwebrtc": "gcc", "goog-cc": "gcc", "googcc": "gcc"}
FIELD_TRIALS = "gcc:TRIAL/GROUP/ or scream:TRIAL/GROUP/ with libwebrtc's field trials"

RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE",
        help="A bound for each controller that runs a model or is a custom one; without such, for all but the "
        "reference. 'viewer_quality>=gcc-0.5' bounds the mean difference from a controller, paired by scenario and "
        "seed; 'viewer_quality>=60' the mean over the runs that all controllers have. Also <=, > and <; units are "
        "those of results.jsonl. Status 1 if it is not met. Repeatable.",
    ),
]
ObjectiveOption = Annotated[
    str, typer.Option(metavar="T,L,P", help=f"Weights of throughput, latency and loss; or {', '.join(PRESETS)}.")
]
ModelOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="ONNX model of the controller weir. Default: the one shipped.")
]
DecisionDelayOption = Annotated[
    float,
    typer.Option(min=0, max=DECISION_INTERVALS_MS[1], metavar="MS", help="Time that each decision of a model takes."),
]
JobsOption = Annotated[
    int | None, typer.Option(min=1, max=1024, metavar="N", help="Processes at once. Default: one per core.")
]


@dataclass(frozen=True, kw_only=True)
class _LinkArguments:
    """The options of a path other than its capacity."""

    one_way_delay: Annotated[
        float | None,
        typer.Option(min=0, max=60_000, metavar="MS", help="One-way delay of the path; 25 where the file has none."),
    ] = None
    queue: Annotated[
        str | None,
        typer.Option(metavar="MS|120kB|50pkt", help="Queue before the bottleneck; 300 ms where the file has none."),
    ] = None
    loss: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="RATIO", help="Independent loss of packets, 0 to 1.")
    ] = None
    reverse: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Trace for the reverse link, which carries the feedback: NAME.down beside NAME.up, say. Default: the "
            "file's own, else an unlimited one.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PathArguments(ReadingArguments, _LinkArguments):
    """The options of commands that replay a path; in help texts, those of the link come first."""

    def check_files(self, inputs: Sequence[str]) -> None:
        """Refuses missing inputs before anything else is loaded.

        Raises:
            InputError: an input is neither a file nor a name in the catalogue.
        """
        for name in (*inputs, *([str(self.reverse)] if self.reverse else [])):
            check_input(name)

    def read(
        self, duration_s: float | None = None, *, repair: bool = False, window_ms: int = DEFAULT_WINDOW_MS
    ) -> PathOptions:
        """The path given by these options; `repair` and `window_ms` are for the trace of the reverse link.

        Raises:
            InputError: a value or the trace cannot be used.
        """
        from weir_eval.runs.inputs import PathOptions
        from weir_traces.formats.convert import parse_queue
        from weir_traces.formats.importers import read_trace

        queue = parse_queue(self.queue) if self.queue else None
        reading = self.reading()
        reverse = None
        if self.reverse:
            reverse = read_trace(self.reverse, repair=repair, window_ms=window_ms, reading=reading)
        return PathOptions(self.one_way_delay, queue, self.loss, duration_s, reverse, reading)


def own_names(controllers: Iterable[str]) -> list[str]:
    """The names of custom controllers, pools and controllers with field trials among these."""
    return [name for name in controllers if name not in SIMULATED and is_name(name)]


def is_name(controller: str) -> bool:
    """True for a valid name of a controller in results; other texts have no color on a page."""
    return bool(NAME.fullmatch(controller)) or is_pool(controller) or without_field_trials(controller) != controller


def check_field_trials(text: str) -> bool:
    """True if field trials follow the name of a built-in controller.

    Raises:
        InputError: libwebrtc does not accept them, or the controller has none.
    """
    if is_pool(text) or ":" not in text or text.partition(":")[0] not in CONTROLLERS:
        return False
    try:
        field_trials(text)
    except ValueError as error:
        raise InputError(f"--controller '{printable(text)}': {error}") from None
    return True


def read_pool(text: str) -> str:
    """The shortest form of a pool specification, which is its name in results.

    Raises:
        InputError: it is not a pool specification, or names a model that is not a file.
    """
    try:
        members = pool_members(text)
    except ValueError as error:
        raise InputError(f"--controller '{printable(text)}': {error}") from None
    for member in members:
        if member.startswith(POLICY_FILE):
            check_model(Path(member.removeprefix(POLICY_FILE)), f"--controller, {member}")
    return str(parse_pool(text)["line"])


def check_controllers(
    choices: Sequence[str], time_limit_s: float = DEFAULT_TIME_LIMIT_S, known: Sequence[str] = SIMULATED
) -> tuple[list[str], dict[str, CustomController]]:
    """The distinct names in their order (COMPARED if there are none), and the custom controllers by name. `known`: the
    built-in ones.

    Raises:
        InputError: a name is unknown, or a file cannot be a controller.
    """
    pools = {text: read_pool(text) for text in choices if is_pool(text)}
    custom = {
        text: read_custom_controller(text, time_limit_s)
        for text in choices
        if text not in pools and not check_field_trials(text) and is_custom(text)
    }
    for choice in choices:
        if without_field_trials(choice) not in known and choice not in custom and choice not in pools:
            if choice in _OTHER_NAMES:
                raise InputError(
                    f"--controller '{choice}': not known; libwebrtc's controller is {_OTHER_NAMES[choice]}"
                )
            if "," in choice and all(without_field_trials(part.strip()) in known for part in choice.split(",")):
                repeated = " ".join(f"--controller {part.strip()}" for part in choice.split(","))
                raise InputError(f"--controller '{printable(choice)}': takes one name; repeat it: {repeated}")
            raise InputError(
                f"--controller '{printable(choice)}': not known; {unknown(choice, known)}, {FIELD_TRIALS}, {POOL}, "
                f"or {HOW}"
            )
    check_custom_names(list(custom.values()), known)
    names = [custom[choice].name if choice in custom else pools.get(choice, choice) for choice in choices]
    return list(dict.fromkeys(names)) or list(COMPARED), {controller.name: controller for controller in custom.values()}


def check_model(path: Path | None, subject: str = "--model") -> None:
    """Refuses, before anything runs, a file that cannot be a model; accepts None.

    Raises:
        InputError: it is missing, not a file, empty, or far too large.
    """
    if path is None:
        return
    check_utf8(subject, path.absolute())
    if path.is_file() and 0 < path.stat().st_size <= LARGEST_MODEL_BYTES:
        return
    if not path.exists():
        fault = "no such file"
    elif not path.is_file():
        fault = "is no file"
    else:
        fault = f"has {path.stat().st_size} bytes; a model has some, and at most {LARGEST_MODEL_BYTES >> 20} MiB"
    raise InputError(f"{subject} '{printable(path)}': {fault}; give an ONNX file such as 'weir export' writes")


def model_to_run(model: Path | None) -> Path:
    """The absolute path of the model for the controller weir: the given one, else the bundled one.

    Raises:
        MissingComponent: there is no model.
    """
    return (model or shipped_model()).absolute()


def shared_traces(*sets: str) -> Path | None:
    """The folder `traces` in the folder of the environment variable WEIR_SHARED, if it contains any of these sets
    (folders); else None.
    """
    shared = os.environ.get("WEIR_SHARED")
    folder = Path(shared) / "traces" if shared else None
    return folder if folder and any((folder / name).is_dir() for name in sets) else None
