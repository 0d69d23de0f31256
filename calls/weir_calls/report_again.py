"""`weir report` of the folder of calls."""

from __future__ import annotations

from weir_cli.options import loading
from weir_cli.reports import Report, ReportRequest


def rewrite(request: ReportRequest) -> Report | None:
    """Writes summary and page of `weir call` or `weir serve` again; None if the path is no folder of calls.

    Raises:
        InputError: a record or log is damaged, no call is of the reference, or none pairs with one of the folder to
            compare with.
    """
    if not request.path.is_dir():
        return None
    # Imported here, so that reports of single files start faster.
    with loading():
        from weir_calls.call import call_report
        from weir_eval.measures.summary import sorted_records
        from weir_eval.report.csv_tables import write_results_csv
        from weir_eval.report.text import print_against

    written = call_report.rewrite(request.path, request.reference, request.against)
    if written is None:
        return None
    summary, page = written
    if not request.quiet:
        print_against(summary)
    if request.csv:
        write_results_csv(request.path, sorted_records(call_report.read_folder(request.path), ()), "call")
    return Report(summary.text(), page)
