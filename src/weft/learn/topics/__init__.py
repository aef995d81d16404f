"""Topics as soft clusters of a graph of words."""
