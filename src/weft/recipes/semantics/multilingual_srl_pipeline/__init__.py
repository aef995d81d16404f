"""The recipe of multilingual-srl-pipeline: `experiment` runs it on the corpora of `data`."""

from weft.recipes.semantics.multilingual_srl_pipeline.experiment import run

__all__ = ["run"]
