"""`weir report` of the folder of a replay."""

from __future__ import annotations

from weir_cli.console import output_console
from weir_cli.reports import Report, ReportRequest
from weir_eval.report import replay_page
from weir_eval.report.sections.delay import modeled_lip_sync
from weir_eval.report.text import print_against
from weir_eval.runs.store import RunStore


def rewrite(request: ReportRequest) -> Report | None:
    """Writes summary and page of a replay again, also of an interrupted one; None for a file.

    Raises:
        InputError: the folder has no complete record, a damaged one, none of the reference, or none that pairs with one
            of the folder to compare with.
    """
    if not request.path.is_dir():
        return None
    summary, page, records = replay_page.rewrite(request.path, request.reference, request.against)
    if not request.quiet:
        print_against(summary)
        if lip_sync := modeled_lip_sync(records):
            output_console().print(lip_sync, soft_wrap=True)
    if request.csv:
        replay_page.write_csv(RunStore(request.path), records, quiet=request.quiet)
    return Report(summary.text(), page)
