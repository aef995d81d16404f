"""Annotating much text: inputs cut into shards, worked off by processes or a cluster, finished ones never redone."""
