"""The recipe of entity-level-coreference: `experiment` runs it on OntoGUM and LitBank; `english` builds en-coref."""

from weft.recipes.semantics.entity_level_coreference.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
