"""Judges the verbs of annotated documents: frames give the arguments, trees their heads, names their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from weft.deadline import check
from weft.errors import DataError
from weft.lexical.resources.source import Patch
from weft.lexical.wordnet_lemmas import RULES
from weft.tasks.preferences.corrections import corrected, sentence_names
from weft.tasks.preferences.fillers import Filler, names_of
from weft.tasks.preferences.judge import Change, Judgement, core, explained
from weft.tasks.preferences.resources import Resources
from weft.text.conventions.preferences import LAYER, UNKNOWN, PreferenceRow, set_preferences
from weft.text.doc import Doc
from weft.text.frames import FrameRow, frame_rows, head_of_span
from weft.text.views import Word


class Judged(NamedTuple):
    """A verb of a document: its word, the judgement, and the heads of its core arguments."""

    word: int
    judgement: Judgement
    heads: dict[str, int]


@dataclass(frozen=True)
class PreferenceDetector:
    """Flags verbs whose arguments break the preferences of every reading.

    With `predicted_senses` only the readings of the roleset that the frame names count, else those of all rolesets of
    the verb. `corrections` are patches of what the models predicted, sentence by sentence (see
    `weft.tasks.preferences.corrections`).
    """

    resources: Resources
    predicted_senses: bool = False
    layer: str = LAYER
    corrections: tuple[Patch, ...] = ()

    def __call__(self, docs: Iterable[Doc]) -> None:
        """Judge the verbs of documents and write the layer, in place."""
        for doc in docs:
            rows = [
                PreferenceRow(each.word, each.judgement.outcome, each.judgement.as_dict(), each.heads)
                for each in self.judged(doc)
            ]
            set_preferences(doc, rows, self.layer)

    def judged(self, doc: Doc) -> list[Judged]:
        """The verbs of a document, in order; the document itself is not changed."""
        for layer, what in (("upos", "tags"), ("head", "trees"), ("spans/frames", "semantic roles")):
            if doc.n_words and not doc.has(layer):
                raise DataError(
                    f"{doc.id or 'the document'} has no {what}; annotate it first, as in --model en --model en-roles"
                )
        found = list(self._judged(doc))
        if not self.corrections:
            return found
        new = corrected(doc, self.corrections)
        if new is doc:
            return found
        before = {each.word: each.judgement for each in found}
        return [self._credited(doc, each, before.get(each.word)) for each in self._judged(new)]

    def _credited(self, doc: Doc, each: Judged, before: Judgement | None) -> Judged:
        """A judgement after corrections, with those of its sentence if they changed it."""
        earlier = before or Judgement(each.judgement.verb, UNKNOWN, why="no frame")
        if earlier.as_dict() == each.judgement.as_dict():
            return each
        names = sentence_names(Word(doc, each.word).sentence)
        changes = tuple(
            Change(patch, earlier.outcome, each.judgement.outcome)
            for patch in self.corrections if patch.place.partition("/")[0] in names
        )  # fmt: skip
        return each._replace(judgement=each.judgement._replace(changes=(*each.judgement.changes, *changes)))

    def _judged(self, doc: Doc) -> Iterator[Judged]:
        names = names_of(doc)
        particles = particles_of(doc)
        for frame in frame_rows(doc):
            check()
            word = Word(doc, frame.predicate)
            if word.upos not in ("VERB", "AUX"):
                continue
            verb = self._lemma(word)
            heads = core_heads(doc, frame)
            if word.upos == "AUX":
                yield Judged(frame.predicate, Judgement(verb, UNKNOWN, why="excluded: auxiliary verb"), heads)
                continue
            if frame.predicate in particles:
                phrase = f"{verb} {particles[frame.predicate]}"
                yield Judged(frame.predicate, Judgement(verb, UNKNOWN, why=f"excluded: phrasal verb {phrase!r}"), heads)
                continue
            fillers = {label: Filler.of_head(Word(doc, head), names) for label, head in heads.items()}
            sense = frame.sense if self.predicted_senses else ""
            yield Judged(frame.predicate, explained(verb, fillers, self.resources, sense), heads)

    def _lemma(self, word: Word) -> str:
        """The lemma of a verb; one that the resources do not have is looked for by endings."""
        form, lemma = word.form.lower(), word.lemma.lower() or word.form.lower()
        if lemma in self._known:
            return lemma
        stems = (
            form[: len(form) - len(ending)] + instead for ending, instead in RULES["v"]
            if form.endswith(ending) and len(form) > len(ending)
        )  # fmt: skip
        return next((stem for stem in (form, *stems) if stem in self._known), lemma)

    @cached_property
    def _known(self) -> set[str]:
        linked = {roleset.rpartition(".")[0] for roleset in self.resources.links.links}
        return {*linked, *self.resources.verbs.verbs, *self.resources.excluded}


def core_heads(doc: Doc, frame: FrameRow) -> dict[str, int]:
    """The head words of the core arguments of a frame; of two with one label the first.

    >>> from weft.text.frames import Role
    >>> doc = Doc.from_words([["They", "cut", "all", "taxes"]], head=[[2, 0, 4, 2]])
    >>> core_heads(doc, FrameRow(1, "cut.01", (Role("A0", 0, 1), Role("A1", 2, 4), Role("AM-TMP", 0, 1))))
    {'A0': 0, 'A1': 3}
    """
    found: dict[str, int] = {}
    for label, start, end in frame.roles:
        if core(label):
            found.setdefault(core(label), head_of_span(doc, start, end)[0])
    return found


def particles_of(doc: Doc) -> dict[int, str]:
    """The particle of every phrasal verb, by the verb's word."""
    found = {}
    if doc.head is not None and "deprel" in doc.columns:
        for number, label in enumerate(doc.column("deprel")):
            if label == "compound:prt":
                head = Word(doc, number).head
                if head is not None:
                    found[head.index] = Word(doc, number).form.lower()
    return found
