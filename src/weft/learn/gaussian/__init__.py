"""Gaussian processes: regression that says how sure it is, with kernels whose hyper-parameters are learned."""
