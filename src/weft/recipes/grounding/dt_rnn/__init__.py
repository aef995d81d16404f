"""The recipe of dt-rnn: ranking on Pascal1K, losses, role swaps, beside chains, bags and correlation analyses."""

from weft.recipes.grounding.dt_rnn.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
