"""Commands for labelling by hand, published experiments, corpora and models."""
