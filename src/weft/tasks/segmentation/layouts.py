"""Training text once more with line ends, as files of plain text have them.

    with_line_ends(docs, s) = docs + copies of a share s of their stretches, each in a layout drawn at random

Treebanks restore sentences with spaces between them and empty lines between paragraphs. In files, lines end where they
are full, after each paragraph, after each sentence, or after each line of verse. Only white space changes (and capitals
in verse), so offsets and labels of the copies are those of the original.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.text.doc import Doc

#: Sentences per stretch with one layout.
STRETCH = 12
#: Layouts, and how often each is drawn.
_WRAPPED, _PARAGRAPHS, _PARAGRAPHS_WRAPPED, _SENTENCES, _VERSE = range(5)
_SHARES = (0.35, 0.3, 0.1, 0.2, 0.05)
#: Widths of full lines and of verse, in characters.
_WIDTHS, _VERSE_WIDTHS = (40, 100), (24, 45)


def with_line_ends(docs: Sequence[Doc], share: float, seed: int = 0) -> list[Doc]:
    """The documents, followed by copies of a share of their text with line ends.

    >>> doc = Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]])
    >>> [copy.text for copy in with_line_ends([doc], 1.0, seed=1)]
    ['Dogs bark Cats purr', 'Dogs bark\\nCats purr']
    """
    random = np.random.default_rng([seed, 22])
    copies = []
    for doc in docs if share else ():
        for first in range(0, doc.n_sentences, STRETCH):
            if random.random() < share:
                copy = doc.subset(range(first, min(first + STRETCH, doc.n_sentences)))
                copy.text = _laid_out(copy, random)
                copies.append(copy)
    return [*docs, *copies]


def _laid_out(doc: Doc, random: np.random.Generator) -> str:
    """The text of a document in a layout drawn at random."""
    layout = int(random.choice(len(_SHARES), p=_SHARES))
    text = list(doc.text)
    if layout in (_PARAGRAPHS, _PARAGRAPHS_WRAPPED, _SENTENCES):
        text = list(_without_empty_lines(doc.text))
    if layout == _SENTENCES:
        lasts = doc.sentence_offsets[1:][np.diff(doc.sentence_offsets) > 0] - 1
        for end in doc.token_end[doc.word_token[lasts]].tolist():
            if end < len(text) and text[end] == " ":
                text[end] = "\n"
    if layout in (_WRAPPED, _PARAGRAPHS_WRAPPED):
        _wrap(text, int(random.integers(*_WIDTHS)))
    if layout == _VERSE:
        for start in _wrap(text, int(random.integers(*_VERSE_WIDTHS))):
            text[start] = text[start].upper() if len(text[start].upper()) == 1 else text[start]
    return "".join(text)


def _without_empty_lines(text: str) -> str:
    r"""The text with one line end between paragraphs.

    >>> _without_empty_lines("a b\n\nc")
    'a b\n c'
    """
    return text.replace("\n\n", "\n ")


def _wrap(text: list[str], width: int) -> list[int]:
    """Replace spaces by line ends so that lines fit into `width`, where they can, and return where new lines start."""
    starts = []
    begin, space = 0, -1
    for i, character in enumerate([*text, "\n"]):
        if character not in " \n":
            continue
        if i - begin > width and space >= begin:
            text[space] = "\n"
            begin = space + 1
            starts.append(begin)
        space = i
        if character == "\n":
            begin = i + 1
    return starts
