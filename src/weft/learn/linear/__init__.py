"""Linear classifiers of single decisions."""
