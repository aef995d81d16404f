"""Parsers for languages and domains without treebanks, trained on those that have them."""
