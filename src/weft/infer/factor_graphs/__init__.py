"""Factor graphs: marginals and partition functions by belief propagation, with factors in closed form."""
