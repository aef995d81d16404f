"""The sentences of the tables, labelled by Weft's models: the arguments that tools find for a verb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.lexical.wordnet_lemmas import RULES
from weft.progress import track
from weft.recipes.semantics.david_preference_violations.data import Example
from weft.tasks.preferences.detector import core_heads, particles_of
from weft.tasks.preferences.fillers import Filler, names_of
from weft.text.doc import Doc
from weft.text.frames import frame_rows
from weft.text.views import Word


class Roles(NamedTuple):
    """The core arguments that were predicted for a verb, or why there are none."""

    fillers: dict[str, Filler]
    why: str = ""


def label_sentences(examples: Sequence[Example]) -> list[Roles]:
    """The predicted arguments of every example; sentences that are split into words keep them."""
    from weft import load

    nlp = load("en", "en-roles")
    docs = (Doc.from_words([each.sentence.split()]) if each.form else Doc(each.sentence) for each in examples)
    annotated = track(nlp.pipe(docs), "role labelling", len(examples), "sentences")
    return [roles_of(doc, each) for doc, each in zip(annotated, examples, strict=True)]


def roles_of(doc: Doc, example: Example) -> Roles:
    """The arguments of the verb of an example, which is found by its place, its form or its lemma."""
    particles, names = particles_of(doc), names_of(doc)
    for frame in frame_rows(doc):
        word = Word(doc, frame.predicate)
        if word.upos == "VERB" and _is_verb(word, example):
            if word.index in particles:
                return Roles({}, "excluded: phrasal verb")
            heads = core_heads(doc, frame)
            return Roles({label: Filler.of_head(Word(doc, head), names) for label, head in heads.items()})
    return Roles({}, "no frame")


def _is_verb(word: Word, example: Example) -> bool:
    if example.place >= 0:
        return word.index == example.place
    form = word.form.lower()
    if example.form:
        return form == example.form.lower()
    stems = (form[: len(form) - len(ending)] + instead for ending, instead in RULES["v"] if form.endswith(ending))
    return example.verb in (word.lemma, form, *stems)
