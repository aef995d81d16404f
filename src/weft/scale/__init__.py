"""Annotate large amounts of text: split inputs into shards, process them in parallel, never redo finished ones."""
