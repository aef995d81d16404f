"""Hedge detection: uncertain sentences, their cues, and the scopes of the cues."""
