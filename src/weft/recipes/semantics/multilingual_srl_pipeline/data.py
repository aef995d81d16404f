"""Corpora with semantic roles: PropBank's English Web Treebank joined to its UD trees, Universal Propositions."""

from __future__ import annotations

from collections.abc import Sequence

from weft.formats import read
from weft.recipes.framework import RecipeOptions
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc
from weft.treebanks.join_roles import Joined, join_roles

#: The folders of Universal Propositions: training and test file.
PROPOSITIONS = {
    "de": ("dev", "test"), "en": ("dev", "test"), "es": ("dev", "test"), "es-ancora": ("dev", "test"),
    "fi": ("dev", "test"), "fr": ("dev", "test"), "it": ("dev", "test"), "pt": ("train", "test"), "zh": ("dev", "test"),
}  # fmt: skip


def propbank_ewt(options: RecipeOptions, part: str) -> Joined:
    """A part of PropBank's English Web Treebank with UD trees: train, dev or test."""
    trees = read(options.find(f"treebanks/ud/English-EWT/{part}.conllu.gz"))
    return join_roles(trees, read(options.find(f"srl/propbank-ewt/{part}.tsv.gz"), "roles"))


def propositions(options: RecipeOptions, language: str) -> tuple[list[Doc], list[Doc]]:
    """Training and test documents of a folder of Universal Propositions; test sentences are taken out of training."""
    parts = [
        list(read(options.find(f"srl/universal-propositions-{language}/{part}.conllu.gz")))
        for part in PROPOSITIONS[language]
    ]
    seen = {tuple(_forms(doc, number)) for doc in parts[1] for number in range(doc.n_sentences)}
    train = []
    for doc in parts[0]:
        kept = [number for number in range(doc.n_sentences) if tuple(_forms(doc, number)) not in seen]
        if kept:
            train.append(doc.subset(kept))
    return train, parts[1]


def _forms(doc: Doc, sentence: int) -> Sequence[str]:
    first, end = (int(doc.sentence_offsets[sentence + k]) for k in (0, 1))
    return doc.strings.strings(doc.columns["form"][first:end])


def genre_of(doc: Doc) -> str:
    """The genre of a document of the English Web Treebank, which its name begins with.

    >>> doc = Doc("", meta={"id": "weblog-blogspot.com_x"})
    >>> genre_of(doc)
    'weblog'
    """
    return doc.id.partition("-")[0]


def with_predicted_trees(train: Sequence[Doc], tests: Sequence[Sequence[Doc]], epochs: int) -> list[list[Doc]]:
    """Documents with trees of a parser that was not trained on them: two folds for training data; tags are gold."""
    halves = [train[::2], train[1::2]]
    found = [doc for fold in (0, 1) for doc in _parsed(_parser(halves[1 - fold], epochs), halves[fold])]
    whole = _parser(train, epochs)
    return [found, *(_parsed(whole, docs) for docs in tests)]


def _parser(docs: Sequence[Doc], epochs: int) -> Parser:
    parser = Parser(ParserSettings(epochs=epochs))
    parser.fit(docs)
    return parser


def _parsed(parser: Parser, docs: Sequence[Doc]) -> list[Doc]:
    found = [doc.subset(range(doc.n_sentences)) for doc in docs]
    parser(found)
    return found


def share(docs: Sequence[Doc], fraction: float) -> list[Doc]:
    """An evenly spread share of the sentences of documents.

    >>> sum(doc.n_sentences for doc in share([Doc.from_words([["a"]] * 10)], 0.3))
    3
    """
    taken: list[Doc] = []
    number = 0
    for doc in docs:
        kept = []
        for sentence in range(doc.n_sentences):
            if int((number + 1) * fraction) > int(number * fraction):
                kept.append(sentence)
            number += 1
        if kept:
            taken.append(doc.subset(kept))
    return taken
