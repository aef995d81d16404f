"""Four sentences with trees, for tests of parsers."""

from __future__ import annotations

from weft.text import Doc

SENTENCES = [
    (["the", "dog", "sees", "a", "cat"], ["DET", "NOUN", "VERB", "DET", "NOUN"], [2, 3, 0, 5, 3]),
    (["she", "sleeps"], ["PRON", "VERB"], [2, 0]),
    (["a", "big", "bird", "sings", "loudly"], ["DET", "ADJ", "NOUN", "VERB", "ADV"], [3, 3, 4, 0, 4]),
    (["dogs", "chase", "the", "small", "cat", "quickly"], ["NOUN", "VERB", "DET", "ADJ", "NOUN", "ADV"],
     [2, 0, 5, 5, 2, 2]),
]  # fmt: skip
RELATION = {"DET": "det", "ADJ": "amod", "ADV": "advmod", "VERB": "root"}


def treebank() -> Doc:
    """The sentences with their trees."""
    relations = []
    for _, tags, heads in SENTENCES:
        relations.append([
            RELATION.get(tag) or ("nsubj" if head > i + 1 else "obj")
            for i, (tag, head) in enumerate(zip(tags, heads, strict=True))
        ])  # fmt: skip
    columns = [list(part) for part in zip(*SENTENCES, strict=True)]
    return Doc.from_words(columns[0], upos=columns[1], head=columns[2], deprel=relations)


def bare(doc: Doc) -> Doc:
    """The words and tags of a document alone."""
    rows = [[word.form for word in sentence] for sentence in doc.sentences]
    tags = [[word.upos for word in sentence] for sentence in doc.sentences]
    return Doc.from_words(rows, upos=tags)
