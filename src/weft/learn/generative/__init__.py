"""Generative models: hidden Markov models, the dependency model with valence, EM and its relatives."""
