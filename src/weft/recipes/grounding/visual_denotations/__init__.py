"""The recipe of visual-denotations: `experiment` runs it, `corpora` reads captions, items of people and pairs."""
