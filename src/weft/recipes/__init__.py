"""The published systems: one module per system, the framework that runs them, and the catalogue of all of them."""
