"""Rare things that people do in conversations, found by the few lines that show them."""

from weft.tasks.phenomena.detector import PhenomenaDetector, PhenomenaSettings

__all__ = ["PhenomenaDetector", "PhenomenaSettings"]
