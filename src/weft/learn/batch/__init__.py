"""Batch learning: objectives and the optimizers that minimize them."""
