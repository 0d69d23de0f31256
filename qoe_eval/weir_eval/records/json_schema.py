"""The contract `weir.result/1` as JSON Schema (draft 2020-12), for programs that read results: a line of
`results.jsonl` is a `RunRecord`.

`python -m weir_eval.records.json_schema` writes the committed file again.
"""

from __future__ import annotations

import json
from pathlib import Path

from weir_cli.files.output import write_text
from weir_eval.records.run_record import RunRecord

FILE = Path(__file__).with_name("result.schema.json")


def result_schema() -> str:
    """The text of the file."""
    return json.dumps(RunRecord.model_json_schema(), indent=1) + "\n"


if __name__ == "__main__":
    write_text(FILE, result_schema())
