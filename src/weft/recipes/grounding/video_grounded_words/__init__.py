"""The recipe of video-grounded-words: words learned from clips of a generated `world`, beside ablated `systems`."""

from weft.recipes.grounding.video_grounded_words.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
