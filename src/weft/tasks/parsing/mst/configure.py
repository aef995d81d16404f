"""Choose the configuration of a graph-based parser on held-out trees (McDonald, Lerman & Pereira 2006).

    configuration = argmax over (projective, nonprojective) x (form, lemma) of  UAS on every tenth sentence,
                    trained on the other nine tenths

Languages differ in how often arcs cross and in how many forms a word has, so the treebank decides. The first
configuration, projective trees over forms, wins ties.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from weft.errors import DataError
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import AUTO, MSTSettings
from weft.text.doc import Doc

#: Maximum number of sentences and epochs of a trial: enough to rank configurations in a fraction of training time.
MOST, EPOCHS = 2000, 4
#: Every n-th sentence is held out.
TENTH = 10


@dataclass(frozen=True)
class Trial:
    """A configuration, its UAS on the held-out sentences, and its processor time."""

    settings: MSTSettings
    uas: float
    cpu_seconds: float

    @property
    def name(self) -> str:
        """Shape and words, such as `nonprojective, form`."""
        return f"{self.settings.shape}, {self.settings.words}"


def configure(
    train: Iterable[Doc], settings: MSTSettings, most: int = MOST, epochs: int = EPOCHS
) -> tuple[MSTSettings, list[Trial]]:
    """Choose `shape` and `words` where they are `auto`; returns the settings and all trials in order.

    Trials train on heads only, with at most `most` sentences and `epochs` epochs. Lemmas are tried if words have
    them.

    >>> rows = [["dogs", "bark"], ["cats", "sleep"]] * 10
    >>> doc = Doc.from_words(rows, upos=[["NOUN", "VERB"]] * 20, head=[[2, 0]] * 20, deprel=[["nsubj", "root"]] * 20)
    >>> chosen, trials = configure([doc], MSTSettings(shape="auto", words="auto", bits=16))
    >>> chosen.shape, chosen.words, [trial.name for trial in trials]
    ('projective', 'form', ['projective, form', 'nonprojective, form'])
    """
    learned, held_out = split(train, most)
    shapes = ("projective", "nonprojective") if settings.shape == AUTO else (settings.shape,)
    words: tuple[str, ...] = (settings.words,)
    if settings.words == AUTO:
        words = ("form", "lemma") if any(doc.has("lemma") for doc in learned) else ("form",)
    trials = []
    for form, shape in product(words, shapes):
        candidate = replace(settings, shape=shape, words=form)
        started = time.process_time()
        parser = MSTParser(replace(candidate, relations="none", epochs=min(epochs, settings.epochs)))
        parser.fit(learned)
        uas = parser.scores(held_out)["UAS"]
        trials.append(Trial(candidate, uas, round(time.process_time() - started, 2)))
    return max(trials, key=lambda trial: trial.uas).settings, trials


def split(train: Iterable[Doc], most: int = MOST) -> tuple[list[Doc], list[Doc]]:
    """Split the first sentences of documents: every tenth is held out, the rest is for training.

    >>> learned, held_out = split([Doc.from_words([[str(i)] for i in range(25)], head=[[0]] * 25)], most=20)
    >>> sum(doc.n_sentences for doc in learned), held_out[0].column("form")
    (18, ['9', '19'])
    """
    learned: list[Doc] = []
    held_out: list[Doc] = []
    done = 0
    for doc in train:
        numbers = range(min(doc.n_sentences, most - done))
        held = [i for i in numbers if (done + i) % TENTH == TENTH - 1]
        for docs, kept in ((learned, sorted(set(numbers) - set(held))), (held_out, held)):
            if kept and doc.head is not None:
                docs.append(doc.subset(kept))
        done += len(numbers)
    if not held_out:
        raise DataError(f"{done} training sentences are too few to choose a configuration: set shape and words")
    return learned, held_out
