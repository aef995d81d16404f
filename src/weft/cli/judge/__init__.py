"""Commands that evaluate annotation and treebanks."""
