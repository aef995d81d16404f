"""The recipe of annotator-gaussian-processes: effort of translators and their times, beside SVMs and means."""

from weft.recipes.translation.annotator_gaussian_processes.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
