"""The published systems: one module a system, the frame they run in, and the catalogue of all of them."""
