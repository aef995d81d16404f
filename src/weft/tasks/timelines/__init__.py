"""Timelines: events, times, narrative containers, and what follows from them."""
