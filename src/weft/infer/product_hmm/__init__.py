"""Products of hidden Markov models: participants that pick detections in every frame, and words that watch them."""

from weft.infer.product_hmm.lattice import Best, Marginals, ProductHMM, WordChain

__all__ = ["Best", "Marginals", "ProductHMM", "WordChain"]
