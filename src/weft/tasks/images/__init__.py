"""Finding and describing images by sentences, over precomputed image vectors."""
