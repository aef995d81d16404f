"""Verbs whose arguments break selectional preferences, and which resource or patch says so."""
