"""McDonald, Pereira, Kulick, Winters, Jin and White (2005): relations of many slots as cliques of related pairs."""

from weft.recipes.extraction.complex_relations.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
