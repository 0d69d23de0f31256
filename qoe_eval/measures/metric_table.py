"""Names of the table of measures until every caller uses `weir.qoe_eval.measures.table`."""

from weir.qoe_eval.measures.table import MEASURES, Measure, MeasureTable

METRICS = MEASURES.of("replay")
Metric, MetricTable = Measure, MeasureTable
__all__ = ["METRICS", "Metric", "MetricTable"]
