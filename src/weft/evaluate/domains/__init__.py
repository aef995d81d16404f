"""How far apart domains are, and why a model loses accuracy in another domain."""
