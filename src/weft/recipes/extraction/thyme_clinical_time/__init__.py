"""The recipe of thyme-clinical-time: `experiment` runs it on `corpora` and on generated `notes`."""

from weft.recipes.extraction.thyme_clinical_time.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
