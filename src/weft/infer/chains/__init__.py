"""Chains: first and second order, semi-Markov, candidates, labels with history, documents over sentences."""
