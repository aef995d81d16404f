"""The systems compared by the disfluency-parser recipe, all from prepared transcripts to analyses.

    baseline        plain arc-eager, static oracle, beam: reparandum is a relation, and all words below it are disfluent
    + features      the same with rough copies and matches
    + edit          arc-eager with Edit, dynamic oracle (`weft.tasks.speech.parser`)
    + tagger        the same with a tagger that learns beside it (`weft.tasks.speech.tagger`), not jackknifed
    pipeline        a linear-chain CRF removes disfluent words; the plain parser, trained on clean text, parses the rest
    oracle          the plain parser on the words that are fluent in gold

Only the system with Edit has features of deleted neighbours: the plain one deletes nothing before its trees are
complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from weft.evaluate.labels.disfluency import Analysis
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.tasks.speech.features import FIELDS
from weft.tasks.speech.parser import DisfluencyParser, DisfluencySettings
from weft.text.conventions.repairs import LAYER, runs, struck_sentences
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: How far ahead a detector looks for a repetition of a word.
WINDOW = 6
#: Detector templates: words, tags, distance to the same word or tag before and after, rough copies.
DETECTOR = (
    "w[-2..2] t[-2..2] t[-1]|t[0] t[0]|t[1] t[-1]|t[0]|t[1] w[-1]|w[0] w[0]|w[1] n[-1..1] p[-1..1] n[0]|t[0] "
    "n[-1]|n[0] n[0]|n[1] p[0]|t[0] c[-2..1] c[0]|t[0] d[-1..1] d[0]|t[0] c[0]|d[0] c[-1]|c[0]"
)
#: The same without the features that indicate repetition.
PLAIN_DETECTOR = "w[-2..2] t[-2..2] t[-1]|t[0] t[0]|t[1] t[-1]|t[0]|t[1] w[-1]|w[0] w[0]|w[1]"
_BOUND = {"w": "form", "t": "upos", "n": "again", "p": "before", "c": "copy", "d": "tagcopy"}


def train_plain(docs: Sequence[Doc], templates: str, beam: int, epochs: int, seed: int) -> Parser:
    """The plain parser of the pipelines."""
    settings = ParserSettings(
        system="arc-eager", oracle="static", beam=beam, epochs=epochs, seed=seed, templates=templates,
        fields=dict(FIELDS),
    )  # fmt: skip
    parser = Parser(settings)
    parser.fit(docs)
    return parser


def train_joint(
    docs: Sequence[Doc], templates: str, beam: int, epochs: int, seed: int, edit: bool = True, by_mean: bool = True,
    clusters: Mapping[str, str] | None = None, tagger: bool = False,
) -> DisfluencyParser:  # fmt: skip
    """A joint parser, with Edit or without, with word clusters if given, and with a tagger beside it if asked for."""
    settings = DisfluencySettings(
        system="arc-eager-edit" if edit else "arc-eager", templates=templates, beam=beam, epochs=epochs, seed=seed,
        by_mean=by_mean, joint_tagger=tagger,
    )  # fmt: skip
    parser = DisfluencyParser(settings, clusters or {})
    parser.fit(docs)
    return parser


def parse_jointly(parser: DisfluencyParser, docs: Sequence[Doc]) -> list[Analysis]:
    """Analyses by a joint parser."""
    heads, labels = parser.analyse(docs)
    names = np.array([*parser.labels, ""])
    found: list[Analysis] = []
    at = 0
    for doc in docs:
        for size in np.diff(doc.sentence_offsets).tolist():
            found.append((heads[at : at + size].tolist(), names[labels[at : at + size]].tolist()))
            at += size
    return found


def parse_rest(parser: Parser, docs: Sequence[Doc], struck: Sequence[Sequence[bool]]) -> list[Analysis]:
    """Analyses by the plain parser of the fluent words; `struck` has one list per document."""
    found: list[Analysis] = []
    for doc, out in zip(docs, struck, strict=True):
        rest = _kept(doc, [not gone for gone in out], trees=False)
        parser([rest])
        assert rest.head is not None
        heads, names = rest.head.tolist(), rest.column("deprel")
        at = 0
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            words = [word for word in range(1, end - first + 1) if not out[first + word - 1]]
            analysis, relations = list(range(1, end - first + 1)), [""] * (end - first)
            for k, word in enumerate(words):
                analysis[word - 1] = words[heads[at + k] - 1] if heads[at + k] > 0 else 0
                relations[word - 1] = names[at + k]
            at += len(words)
            found.append((analysis, relations))
    return found


def struck_in(docs: Sequence[Doc]) -> list[list[bool]]:
    """For every word in every document, whether its tree marks it as disfluent."""
    return [[out for _, struck in struck_sentences(doc) for out in struck] for doc in docs]


def cleaned(docs: Sequence[Doc]) -> list[Doc]:
    """The documents without the words that their trees mark as disfluent."""
    return [_kept(doc, [not out for out in struck]) for doc, struck in zip(docs, struck_in(docs), strict=True)]


def _kept(doc: Doc, keep: Sequence[bool], trees: bool = True) -> Doc:
    """The document with only the words to keep, with or without their trees; heads are kept words."""
    names = ("form", "upos", *(("deprel",) if trees else ()), *(("cluster",) if doc.has("cluster") else ()))
    columns = {name: doc.column(name) for name in names}
    rows: dict[str, list[list[str]]] = {name: [] for name in columns}
    heads: list[list[int]] = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        words = [word for word in range(first, end) if keep[word]]
        for name, values in columns.items():
            rows[name].append([values[word] for word in words])
        if trees:
            assert doc.head is not None
            place = {word - first + 1: number for number, word in enumerate(words, 1)}
            heads.append([place.get(int(doc.head[word]), 0) for word in words])
    return Doc.from_words(rows.pop("form"), None, doc.strings, **rows, **({"head": heads} if trees else {}))


def train_detector(docs: Sequence[Doc], struck: Sequence[Sequence[bool]], templates: str = DETECTOR) -> Chunker:
    """A linear-chain CRF that predicts reparanda as spans."""
    settings = ChunkerSettings(layer=LAYER, templates=templates, fields=_BOUND, sigma=1.0, iterations=60)
    detector = Chunker(settings)
    observed = []
    for doc, out in zip(docs, struck, strict=True):
        observed.append(observe(doc))
        sentences = pairwise(doc.sentence_offsets.tolist())
        spans = [span for first, end in sentences for span in runs(out[first:end], first)]
        observed[-1].spans[LAYER] = SpanLayer.of(doc.strings, spans)
    detector.fit(observed)
    return detector


def detect(detector: Chunker, docs: Sequence[Doc]) -> list[list[bool]]:
    """For every word, whether the detector marks it as disfluent."""
    observed = [observe(doc) for doc in docs]
    detector(observed)
    found = []
    for doc in observed:
        out = [False] * doc.n_words
        for pieces, _ in doc.spans[LAYER]:
            for word in range(*pieces[0]):
                out[word] = True
        found.append(out)
    return found


def observe(doc: Doc) -> Doc:
    """A copy with columns for the distance to the same word and to the same words and tags.

    >>> doc = observe(Doc.from_words([["the", "red", "the", "blue"]], upos=[["DET", "ADJ", "DET", "ADJ"]]))
    >>> doc.column("again"), doc.column("copy"), doc.column("tagcopy")
    (['2', '', '', ''], ['2:1', '', '', ''], ['2:2', '2:1', '', ''])
    """
    seen = _kept(doc, [True] * doc.n_words, trees=False)
    forms, tags = seen.column("form"), seen.column("upos")
    columns: dict[str, list[str]] = {name: [] for name in ("again", "before", "copy", "tagcopy")}
    for first, end in pairwise(seen.sentence_offsets.tolist()):
        words, marks = forms[first:end], tags[first:end]
        for at in range(end - first):
            ahead = next((d for d in range(1, WINDOW + 1) if words[at + d : at + d + 1] == [words[at]]), 0)
            behind = next((d for d in range(1, WINDOW + 1) if d <= at and words[at - d] == words[at]), 0)
            columns["again"].append(str(ahead or ""))
            columns["before"].append(str(behind or ""))
            columns["copy"].append(_longest_copy(words, at))
            columns["tagcopy"].append(_longest_copy(marks, at))
    for name, values in columns.items():
        seen.set_column(name, values)
    return seen


def _longest_copy(values: Sequence[str], at: int) -> str:
    """Distance and length (at most 3) of the longest copy ahead of what begins at a position, the nearest of them."""
    best = (0, 0)
    for distance in range(1, WINDOW + 1):
        length = 0
        while (
            length < min(3, distance)
            and at + distance + length < len(values)
            and values[at + length] == values[at + distance + length]
        ):
            length += 1
        if length > best[1]:
            best = (distance, length)
    return f"{best[0]}:{best[1]}" if best[1] else ""
