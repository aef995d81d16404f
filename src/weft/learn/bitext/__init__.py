"""Word alignment models, and annotation projected through them."""
