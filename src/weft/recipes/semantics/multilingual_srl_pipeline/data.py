"""Corpora with semantic roles: PropBank's English Web Treebank joined to its UD trees, Universal Propositions.

PropBank's files have the sentences of UD English-EWT in another order. They are joined by their words; of sentences
with the same words the next unused one is taken. Arguments are spans there; their head is the word that attaches
outside the span, the first of several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.formats import read
from weft.recipes.framework import RecipeOptions
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc
from weft.text.frames import FrameRow, frame_rows, frames_by_sentence, roles_at_heads, set_frames

#: The folders of Universal Propositions: training and test file.
PROPOSITIONS = {
    "de": ("dev", "test"), "en": ("dev", "test"), "es": ("dev", "test"), "es-ancora": ("dev", "test"),
    "fi": ("dev", "test"), "fr": ("dev", "test"), "it": ("dev", "test"), "pt": ("train", "test"), "zh": ("dev", "test"),
}  # fmt: skip


class Joined(NamedTuple):
    """Documents with trees and frames, and what joining them met."""

    docs: list[Doc]
    sentences: int  # that were joined
    unmatched: int  # sentences with roles that no tree has
    several_heads: int  # spans with more than one word that attaches outside


def join_roles(trees: Iterable[Doc], roles: Iterable[Doc]) -> Joined:
    """Give trees the frames of documents with the same sentences in any order; other sentences are left out.

    >>> trees = Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]], head=[[2, 0], [2, 0]])
    >>> roles = Doc.from_words([["Cats", "purr"]])
    >>> set_frames(roles, [FrameRow(1, "purr.01")])
    >>> joined = join_roles([trees], [roles])
    >>> joined.docs[0].text, joined.docs[0].frames
    ('Cats purr', [Frame('purr', 'purr.01')])
    """
    waiting: dict[tuple[str, ...], deque[list[FrameRow]]] = {}
    for doc in roles:
        forms = doc.column("form")
        for sentence, frames in zip(doc.sentences, frames_by_sentence(doc, frame_rows(doc)), strict=True):
            key = tuple(forms[sentence.first : sentence.end])
            waiting.setdefault(key, deque()).append([_moved(frame, -sentence.first) for frame in frames])
    docs: list[Doc] = []
    count = several = 0
    for doc in trees:
        forms = doc.column("form")
        found: list[tuple[int, list[FrameRow]]] = []
        for sentence in doc.sentences:
            key = tuple(forms[sentence.first : sentence.end])
            if waiting.get(key):
                found.append((sentence.index, waiting[key].popleft()))
        if not found:
            continue
        kept = doc.subset([number for number, _ in found])
        firsts = kept.sentence_offsets.tolist()
        set_frames(kept, [_moved(frame, first) for first, (_, frames) in zip(firsts, found, strict=False)
                          for frame in frames])  # fmt: skip
        several += roles_at_heads(kept)
        count += len(found)
        docs.append(kept)
    return Joined(docs, count, sum(map(len, waiting.values())), several)


def _moved(frame: FrameRow, shift: int) -> FrameRow:
    roles = tuple(role._replace(start=role.start + shift, end=role.end + shift) for role in frame.roles)
    return FrameRow(frame.predicate + shift, frame.sense, roles)


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
