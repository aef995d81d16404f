"""Train and score the model en-coref: `python -m weft.recipes.semantics.entity_level_coreference.english OUT.weft`.

It learns from data that may be passed on under CC BY: 80 novels of LitBank, and the training documents of OntoGUM whose
texts come from Wikinews, OpenStax, PLOS and MDPI. Tags, trees and names are those of the model `en`. Scores are for raw
text: the model `en` finds words and sentences too, and mentions are compared by their characters.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import weft
from weft.evaluate.semantics.coreference import CorefReport, score_entities
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.recipes.semantics.entity_level_coreference.data import NAMES, is_open, litbank, ontogum, parsed
from weft.tasks.coreference.resolver import CorefResolver, CorefSettings
from weft.text.conventions.coreference import coreference_of
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

WHAT = (
    "Coreference: which pronouns, names and noun phrases refer to the same person or thing. Works after the English "
    "model, whose trees and names it reads: `weft annotate story.txt --model en --model en-coref`."
)
WEAKNESSES = [
    "Mentions of verbs and clauses (*he left, which surprised me*) are not found.",
    "LitBank marks people, places, organizations, vehicles and buildings, so other things of novels are linked less "
    "often.",
    "Most of the training text is fiction of before 1923; news, interviews, textbooks and articles are few.",
    "Generic *you* and *they*, and nouns that need knowledge (*Paris ... the capital*) are often wrong.",
]
CREDITS = "First names: lists of Mark Kantrowitz and Bill Ross."
SETTINGS: dict[str, Any] = {"system": "lefttoright", "features": "words", "epochs": 3, "bits": 18}
SCORES = ("CoNLL", "MUC", "B3", "CEAFe", "LEA", "mentions")


def split(docs: Sequence[Doc]) -> tuple[list[Doc], list[Doc], list[Doc]]:
    """Training, dev and test novels: 80, 10 and 10 by name."""
    cut, end = int(0.8 * len(docs)), int(0.9 * len(docs))
    return list(docs[:cut]), list(docs[cut:end]), list(docs[end:])


def characters(doc: Doc) -> list[list[Hashable]]:
    """The entities with several mentions, each mention by its characters."""
    found = coreference_of(doc)
    if found is None:
        return []
    spans = chars_of_words(doc, found[0])
    return [[spans[number].pieces for number in group] for group in found[1].groups() if len(group) > 1]


def from_text(docs: Sequence[Doc], nlp: Pipeline) -> CorefReport:
    """The scores of documents that are annotated from their raw text."""
    found = [nlp(doc.text) for doc in docs]
    return score_entities([characters(doc) for doc in docs], [characters(doc) for doc in found])


def training_docs(options: RecipeOptions) -> list[Doc]:
    """The documents to train on, as they come from their corpora."""
    return [*split(litbank(options))[0], *(doc for doc in ontogum(options, "train") if is_open(doc))]


def build(out: Path, train: Sequence[Doc] | None = None) -> dict[str, Any]:
    """Train the model, score it, write it with its card, and return the card; `train` may be parsed already."""
    options = RecipeOptions()
    nlp = weft.load("en")
    train = parsed(training_docs(options), nlp) if train is None else train
    test, held_out = split(litbank(options))[2], ontogum(options, "test")
    names = {gender: str(options.find(path)) for gender, path in NAMES.items()}
    resolver = CorefResolver(CorefSettings(names=names, **SETTINGS))
    report = resolver.fit(train)
    card = {
        "name": "en-coref", "language": "English", "what": WHAT, "licence": "CC BY 4.0",
        "corpora": ["LitBank (CC BY 4.0)", "OntoGUM, documents of Wikinews, OpenStax, PLOS and MDPI (CC BY 4.0)"],
        "trained": [
            f"coref: {len(train)} documents, {sum(doc.n_words for doc in train):,} words, "
            f"{report['training']['mentions']:,} mentions"
        ],
        "scores": {}, "weaknesses": [*WEAKNESSES, CREDITS], "settings": {"1 coref": SETTINGS}, "seed": 0,
        "weft": weft.__version__,
    }  # fmt: skip
    whole = Pipeline([*nlp.components, resolver], {"name": "en+en-coref", "language": "English"})
    tests = {
        "LitBank test, entities of several mentions, raw text": test,
        "OntoGUM test, raw text": held_out,
        "OntoGUM test, CC BY documents, raw text": [doc for doc in held_out if is_open(doc)],
    }
    for name, docs in tests.items():
        scores = from_text(docs, whole).as_dict()
        card["scores"][name] = {measure: round(100 * scores[measure], 2) for measure in SCORES}  # type: ignore[index]
    Pipeline([resolver], card).save(out)
    return card


if __name__ == "__main__":
    for test_set, values in build(Path(sys.argv[1]))["scores"].items():
        print(test_set, values)
