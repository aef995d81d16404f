"""Search under linear constraints: integer programs, Lagrangian relaxation, connected spanning graphs."""
