"""Knowledge harvested from text: pairs counted in any amount of it, and the probabilities that follow."""
