"""`weft graph`: knowledge graphs, built from edges and used."""
