"""Training sentences once more in capitals and in small letters, for text without the usual capitals.

recased(docs, s) = upper(a share s of their sentences) + lower(another share s) + docs

The copies come first because the last part of a training set is where learners fit their probabilities, and text with
the usual capitals should decide these.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np

from weft.text.doc import Doc


def recased(docs: Sequence[Doc], share: float, seed: int = 0) -> list[Doc]:
    """Copies of some sentences of documents in capitals and of others in small letters, followed by the documents.

    >>> doc = Doc.from_words([["Ada", "left", "Oslo"]] * 4, upos=[["PROPN", "VERB", "PROPN"]] * 4)
    >>> [each.column("form")[:3] for each in recased([doc], 0.5)]
    [['ADA', 'LEFT', 'OSLO'], ['ada', 'left', 'oslo'], ['Ada', 'left', 'Oslo']]
    """
    random = np.random.default_rng([seed, 20])
    more: list[Doc] = []
    for doc in docs if share else ():
        drawn = random.random(doc.n_sentences)
        for change, chosen in ((str.upper, drawn < share), (str.lower, drawn >= 1 - share)):
            if chosen.any():
                more.append(_changed(doc.subset(np.flatnonzero(chosen).tolist()), change))
    return [*more, *docs]


def _changed(doc: Doc, change: Callable[[str], str]) -> Doc:
    new = copy.copy(doc)
    new.columns = dict(doc.columns)
    new.set_column("form", [change(form) for form in doc.column("form")])
    return new
