"""Taggers of the token-type-constraints recipe, their scoring, and the treebanks they are scored on."""

from __future__ import annotations

from weft.evaluate.labels.tagging import TagReport, evaluate_labels
from weft.lexical.dictionary import TagDictionary
from weft.recipes.corpora import weak_tags as material
from weft.recipes.corpora.weak_tags import Sentences
from weft.tasks.tagging.weak import WeakTagger, WeakTaggerSettings
from weft.text.doc import Doc

#: Test texts of the dictionaries.
TREEBANKS = {
    "da": "treebanks/ud/Danish-DDT/test.conllu.gz",
    "de": material.GERMAN_TEST,
    "el": "treebanks/ud/Greek-GDT/dev.conllu.gz",
    "es": "treebanks/ud/Spanish-GSD/test.conllu.gz",
    "nl": "treebanks/ud/Dutch-Alpino/test.conllu.gz",
    "pt": "treebanks/ud/Portuguese-Bosque/test.conllu.gz",
    "sv": "treebanks/ud/Swedish-LinES/test.conllu.gz",
}
TALBANKEN = "treebanks/ud/Swedish-Talbanken/test.conllu.gz"
STARTS = 4  # of hidden Markov models; the most probable result is kept


def train(
    text: Sentences, dictionary: TagDictionary | None, model: str = "crf", seed: int = 0, **settings: object
) -> WeakTagger:
    """A tagger trained on text with projected tags (or without any) and a dictionary."""
    chosen = {"learner": model, "seed": seed, "starts": STARTS, **settings}
    tagger = WeakTagger(WeakTaggerSettings.from_options(chosen), dictionary)
    tagger.fit([text.doc()])
    return tagger


def evaluate(tagger: WeakTagger, test: Sentences, known: set[str] | None = None) -> TagReport:
    """Score a tagger on gold tags; `known` are the words of its training text."""
    doc = Doc.from_words(test.words)
    tagger([doc])
    tags = iter(doc.column("upos"))
    system = [[next(tags) for _ in sentence] for sentence in test.words]
    return evaluate_labels(test.tags, system, test.words, known)
