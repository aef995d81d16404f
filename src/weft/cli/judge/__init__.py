"""Commands that judge annotation, and those about corpora, models and papers."""
