"""The recipe of hols-smt-tuning: held-out line search for weights of phrase pairs, against other tuners."""

from weft.recipes.translation.hols_smt_tuning.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
