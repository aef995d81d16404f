"""Semi-automatic annotation: recall-oriented taggers propose, annotators accept or reject, and what that saves."""
