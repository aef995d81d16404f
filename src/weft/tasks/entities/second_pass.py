"""What a first recognizer found in a document, as features of a second one.

A name that is hard to recognize in one sentence is often easy in another sentence of the same document. For every word
the second recognizer therefore reads

    the label that the first one gave it
    for a word with a capital letter, the type that the first one gave most of its other occurrences in the document

as in Krishnan and Manning (2006). The training data of the second recognizer has to contain errors of the first one
as they occur on new text, so every document is labelled by a recognizer that was trained on other documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from weft.errors import DataError
from weft.text.doc import Doc

#: Parts that the training documents are split into; each is labelled by a recognizer trained on the others.
FOLDS = 3
#: Higher numbers of other occurrences count as this one.
_MANY = 3


def hints(forms: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The features of the words of a document, given the labels of the first pass: members of a set, joined by `|`.

    >>> hints(["Hill", "left", "Mrs", "Hill", "and", "Hill"], ["S-LOC", "O", "O", "S-PER", "O", "S-PER"])
    ['=S-LOC|PER|PER2|PER only', '', '', '=S-PER|LOC|LOC1', '', '=S-PER|LOC|LOC1']
    """
    types: dict[str, Counter[str]] = defaultdict(Counter)
    capital = [form[:1].isupper() for form in forms]
    for form, label, counts in zip(forms, labels, capital, strict=True):
        if counts:
            types[form.lower()][_type(label)] += 1
    members = []
    for form, label, counts in zip(forms, labels, capital, strict=True):
        own = [f"={label}"] if label != "O" else []
        if counts:
            others = types[form.lower()].copy()
            others[_type(label)] -= 1
            own += _of_others(+others)
        members.append("|".join(own))
    return members


def _of_others(others: Counter[str]) -> list[str]:
    """The most frequent type of the other occurrences, how frequent it is, and whether it is the only one."""
    if not others:
        return []
    best, count = min(others.items(), key=lambda item: (-item[1], item[0]))
    return [best, f"{best}{min(count, _MANY)}", *([f"{best} only"] if len(others) == 1 and count > 1 else [])]


def _type(label: str) -> str:
    return label.partition("-")[2] or label


def labelled_apart(docs: Sequence[Doc], label: Callable[[Sequence[Doc], Sequence[Doc]], list[Doc]]) -> list[Doc]:
    """Documents in their order, each part labelled by `label(others, part)`, which trains on the others.

    >>> docs = [Doc.from_words([[word]]) for word in "abcd"]
    >>> [doc.text for doc in labelled_apart(docs, lambda others, part: list(part))]
    ['a', 'b', 'c', 'd']
    """
    folds = min(FOLDS, len(docs))
    if folds < 2:
        raise DataError(
            "a second pass needs at least two documents to train on; split the data, or leave out second_pass"
        )
    labelled: dict[int, Doc] = {}
    for fold in range(folds):
        others = [doc for i, doc in enumerate(docs) if i % folds != fold]
        places = range(fold, len(docs), folds)
        labelled.update(zip(places, label(others, [docs[i] for i in places]), strict=True))
    return [labelled[i] for i in range(len(docs))]
