"""The meaning of sentences: graphs of concepts, semantic roles, quantifier scope."""
