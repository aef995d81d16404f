"""Tuning of linear models of translations by lists of their k best."""
