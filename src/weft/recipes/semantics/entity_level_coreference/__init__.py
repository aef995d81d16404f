"""The recipe of entity-level-coreference: `experiment` runs it on OntoGUM and LitBank; `english` builds en-coref."""

from weft.recipes.semantics.entity_level_coreference.experiment import run

__all__ = ["run"]
