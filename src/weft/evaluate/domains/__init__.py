"""How far apart domains are, and why a model does worse in another domain."""
