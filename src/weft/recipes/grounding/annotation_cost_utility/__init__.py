"""The recipe of annotation-cost-utility: plans on `bursts` of errors, on a tagger's real errors, and people's times."""

from weft.recipes.grounding.annotation_cost_utility.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
