"""The recipe of rare-social-phenomena: `experiment` runs it on the conversations of `chats` and on a `planted` cue."""

from weft.recipes.grounding.rare_social_phenomena.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
