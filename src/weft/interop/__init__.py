"""Convert documents to and from other libraries: spaCy, Stanza, NLTK, pandas and Polars, none of them required."""
