"""Relations of any number of mentions: pairs are judged, and tuples are cliques of related pairs."""
