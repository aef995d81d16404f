"""Rankings of nodes: PageRank over types and weights, year by year, and what citations alone say."""
