"""Names of the table of measures until every caller uses `weir.qoe_eval.measures.table`."""

from weir.qoe_eval.measures.table import MEASURES

CALL_METRICS = MEASURES.of("call")
