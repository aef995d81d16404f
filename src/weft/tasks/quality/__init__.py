"""What people say about items: labels of several annotators who differ, predicted for each of them, with intervals."""

from weft.formats.csv.named import read_labels
from weft.tasks.quality.features import TextFeatures
from weft.tasks.quality.predictor import QualityPredictor, QualitySettings

__all__ = ["QualityPredictor", "QualitySettings", "TextFeatures", "read_labels"]
