"""The recipe of hard-domain-adaptation: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.parsing.hard_domain_adaptation.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
