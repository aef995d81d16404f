"""Li, Ji and Huang (2013): joint event extraction via structured prediction with global features."""

from weft.recipes.extraction.joint_event_extraction.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
