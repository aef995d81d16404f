"""Adaptor grammars, sampled by Metropolis-Hastings over Pitman-Yor restaurants."""
