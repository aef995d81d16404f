"""Linear models over chains, candidates, lattices, documents and segments."""
