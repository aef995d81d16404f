"""Documents of other libraries, to and from Weft's: spaCy, Stanza, NLTK, pandas and Polars, none of them required."""
