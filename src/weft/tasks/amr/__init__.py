"""Abstract Meaning Representation: an aligner by rules, concepts of spans, relations between concepts."""

from weft.tasks.amr.aligner import Aligner
from weft.tasks.amr.parser import AmrParser, AmrSettings

__all__ = ["Aligner", "AmrParser", "AmrSettings"]
