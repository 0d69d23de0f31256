"""The inputs of `weir paper recoco`: OpenNetLab's nine traces, and a folder that one command works in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text
from weir_cli.files.output import make_folder, write_text
from weir_eval.options.shared import shared_traces
from weir_papers.recoco.tables import PAPER_TRACES
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario

EXPERIMENT = "experiment.json"
SCENARIOS = "scenarios"
OPENNETLAB = "opennetlab"


def paper_scenarios(folder: Path | None) -> dict[str, Scenario]:
    """The nine traces by name, whole, with filler: 25 ms one way, a queue of 300 ms of the mean capacity, repaired.

    Raises:
        InputError: one is missing or cannot be used.
    """
    if folder is None:
        shared = shared_traces(OPENNETLAB)
        if shared is None:
            raise InputError("--traces: name the folder with OpenNetLab's nine traces (WEIR_SHARED has none)")
        folder = shared / OPENNETLAB
    paths = {trace.name: folder / f"{trace.name}.json" for trace in PAPER_TRACES}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise InputError(f"--traces {folder}: has no {', '.join(missing)}; ReCoCo needs the nine of OpenNetLab")
    return {
        name: with_media(
            to_scenario(
                read_trace(path, repair=True),
                name=name,
                one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
                queue=DEFAULT_QUEUE,
            ),
            "filler",
        )
        for name, path in paths.items()
    }


def prepare(out: Path, scenarios: Mapping[str, Scenario], settings: Mapping[str, Any]) -> dict[str, Path]:
    """Writes the scenarios and the settings into the folder; refuses a folder with an experiment of other settings.
    Returns the scenario files by name.
    """
    documents = {name: scenario.to_dict() for name, scenario in scenarios.items()}
    digest = hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()[:16]
    wanted = {**settings, "traces": digest}
    path = out / EXPERIMENT
    make_folder(out / SCENARIOS)
    found = parse_json(read_text(path), str(path)) if path.exists() else wanted
    other = [key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]]
    if other:
        raise InputError(
            f"--out {out}: holds an experiment with other {', '.join(other)}; give the same, or another folder"
        )
    files = {name: out / SCENARIOS / f"{name}.json" for name in scenarios}
    for name, scenario in scenarios.items():
        scenario.save(files[name])
    write_text(path, json.dumps(wanted, indent=1) + "\n")
    return {name: file.absolute() for name, file in files.items()}
