"""Learning from answers whose derivations are hidden: losses over k-best lists, and their training."""
