"""Online learners: perceptron, MIRA, stochastic gradient, max-margin."""
