"""What flows from node to node: PropFlow, truncated commute times, hops, and walks towards a type."""
