"""Phrase-based translation from a small bitext with or without a dictionary, untuned: both have the same weights."""

from __future__ import annotations

from collections.abc import Sequence

from weft.learn.bitext.word_alignment import AlignmentSettings
from weft.recipes.grounding.mturk_language_demographics.gloss import Line, tokens
from weft.tasks.bitext.align import Aligner
from weft.tasks.language_models import lm
from weft.tasks.translation.phrases import extract
from weft.tasks.translation.table import PhraseTable
from weft.tasks.translation.translator import Translator

#: Words of phrases, and the order of the language model, which reads the references alone, never the dictionary.
LONGEST, ORDER = 5, 3


def phrase_system(lines: Sequence[Line], dictionary: Sequence[tuple[str, str]] = ()) -> Translator:
    """A translator of sentences, each with its references, and of dictionary entries appended as sentence pairs.

    >>> lines = [Line("a", ("das", "haus"), ("the house",)), Line("a", ("das", "boot"), ("the boat",))] * 3
    >>> phrase_system(lines, [("Meer", "sea")] * 3).translate("das meer").text
    'the sea'
    >>> phrase_system(lines).translate("das meer").text
    'the meer'
    """
    source = [line.source for line in lines for _ in line.references]
    target = [tuple(reference.split()) for line in lines for reference in line.references]
    references = list(target)
    entries = [(tokens(word), tokens(english)) for word, english in dictionary]
    source += [word for word, english in entries if word and english]
    target += [english for word, english in entries if word and english]
    aligner = Aligner(AlignmentSettings(agreement=False))
    aligner.fit(source, target)
    extraction = extract(source, target, aligner.align(source, target), LONGEST)
    model = lm.train(references, order=ORDER, method="witten-bell")
    return Translator.of(extraction, PhraseTable.of(extraction), model)
