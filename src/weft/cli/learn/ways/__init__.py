"""How tasks that read other data than annotated files are trained, one way per file."""
