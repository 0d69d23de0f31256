"""`weir report` of the folder of a training."""

from __future__ import annotations

import json

from weir_cli.reports import Report, ReportRequest
from weir_train.report import training_report


def rewrite(request: ReportRequest) -> Report | None:
    """Writes summary and page of a training again; None if the path is no training's folder.

    Raises:
        InputError: something in the folder is damaged, or an option is of runs alone.
    """
    found = training_report.rewrite(request.path)
    if found is None:
        return None
    request.refuse_options_of_runs("; the curves of a training are in progress.json")
    return Report(json.dumps(found[0], indent=1), found[1])
