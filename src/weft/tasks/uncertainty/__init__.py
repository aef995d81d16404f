"""Uncertain sentences, the cues that make them so, and the scopes of the cues."""
