"""The contract `weir.scenario/1` as JSON Schema (draft 2020-12), for programs that write or read scenarios.

`python -m weir_traces.schema.json_schema` writes the committed file again. It states types, ranges and defaults of
whole documents, such as `Scenario.to_dict` returns: files may omit `reverse` and its `capacity`. What depends on
several keys, such as the order of times, only `Scenario` checks.
"""

from __future__ import annotations

import json
from pathlib import Path

from weir_cli.files.output import write_text
from weir_traces.schema.scenario import Scenario

FILE = Path(__file__).with_name("scenario.schema.json")


def scenario_schema() -> str:
    """The text of the file."""
    return json.dumps(Scenario.model_json_schema(), indent=1) + "\n"


if __name__ == "__main__":
    write_text(FILE, scenario_schema())
