"""Evaluation: metrics that agree with the official scorers, significance tests, learning curves."""

from weft.evaluate.calibration import (
    Calibration,
    ReliabilityBin,
    calibration,
    calibration_of_column,
    calibration_of_spans,
)
from weft.evaluate.counts import Counts, Score, f1, macro_f1, precision, recall
from weft.evaluate.curves import CurvePoint, CurveRow, curve_points, draw_curve, learning_curve, size_to_reach
from weft.evaluate.domains.diagnosis import Diagnosis, Parsed, diagnose
from weft.evaluate.domains.loss_tables import LossRow, LossTable, loss_table
from weft.evaluate.hierarchical import hierarchical_bootstrap, hierarchical_interval
from weft.evaluate.labels.sentiment import PolarityReport, evaluate_polarities, precision_recall
from weft.evaluate.labels.spans import SpanReport, conlleval, evaluate_span_sets, evaluate_spans
from weft.evaluate.labels.tagging import TagReport, evaluate_labels, evaluate_tags, tag_dictionary, vocabulary_of
from weft.evaluate.runs import compare_over_runs, interval_over_runs, mean_over_runs
from weft.evaluate.significance import (
    Comparison,
    Interval,
    McNemar,
    approximate_randomization,
    benjamini_hochberg,
    confidence_interval,
    holm,
    mcnemar,
    mcnemar_of_counts,
    paired_bootstrap,
    rank_sum,
    signed_rank,
)
from weft.evaluate.trees.conllx import ConllxReport, evaluate_conllx
from weft.evaluate.trees.parseval import Conventions, ParsevalReport, evaluate_constituents
from weft.evaluate.trees.ud import UDReport, evaluate_ud

__all__ = [
    "Calibration", "Comparison", "ConllxReport", "Conventions", "Counts", "CurvePoint", "CurveRow", "Diagnosis",
    "Interval", "LossRow", "LossTable", "McNemar", "Parsed", "ParsevalReport", "PolarityReport", "ReliabilityBin",
    "Score", "SpanReport", "TagReport", "UDReport", "approximate_randomization", "benjamini_hochberg", "calibration",
    "calibration_of_column", "calibration_of_spans", "compare_over_runs", "confidence_interval", "conlleval",
    "curve_points", "diagnose", "draw_curve", "evaluate_conllx", "evaluate_constituents", "evaluate_labels",
    "evaluate_polarities", "evaluate_span_sets", "evaluate_spans", "evaluate_tags", "evaluate_ud", "f1",
    "hierarchical_bootstrap", "hierarchical_interval", "holm", "interval_over_runs", "learning_curve", "loss_table",
    "macro_f1", "mcnemar", "mcnemar_of_counts", "mean_over_runs", "paired_bootstrap", "precision", "precision_recall",
    "rank_sum", "recall", "signed_rank", "size_to_reach", "tag_dictionary", "vocabulary_of",
]  # fmt: skip
