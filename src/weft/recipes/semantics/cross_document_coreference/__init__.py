"""The recipe of cross-document-coreference: `experiment` runs it on links, ECB+ and generated mentions."""

from weft.recipes.semantics.cross_document_coreference.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]
