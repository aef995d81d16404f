"""Random small documents: words of many scripts, any spacing, and every layer that a document can hold."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np

from weft.text import ClusterLayer, ConstituentLayer, Doc, EmptyNode, GraphLayer, Multiword, RelationLayer, SpanLayer

from .kinds import SCRIPTS

#: Letters of words, with characters that some programs take for blanks, line ends or syntax.
LETTERS = [chr(low + step * (high - low) // 12) for low, high in SCRIPTS[:-1] for step in range(12)]
LETTERS = [letter for letter in LETTERS if letter.isprintable()]
ODD = "_#=|<>&\"'\\/()[]{}-:;,.\u0301\u200b\u200d\u00ad\ufeff\ufe0f\u202e\u0085\u2028\u2029\x1c\x1f\x7f\U0001f642"
GAPS = ("", " ", " ", " ", "\n", "\r\n", "\n\n", " \t", "\u00a0", "\u3000", "  ")
LABELS = ("NP", "VP", "PER", "ORG", "Ä", "a-b")
COMMENTS = ("# newpar", "# text = a\tb", "# genre = x", "# ünï = 语")


def word(source: random.Random, odd: float = 0.1) -> str:
    """A word of one to six letters; `odd` is the share of words with a strange character."""
    letters = source.choices(LETTERS, k=source.randint(1, 6))
    if source.random() < odd:
        letters[source.randrange(len(letters))] = source.choice(ODD)
    made = "".join(letters)
    return made if made not in ("_", "\ufeff") and made.strip() == made else f"a{made}b"


def value(source: random.Random) -> str:
    """A value of a column, often none."""
    return "" if source.random() < 0.3 else word(source, 0.05)


def tokenized(source: random.Random, odd: float = 0.1, any_gaps: bool = True) -> Doc:
    """A document of words, sentences, some columns and trees."""
    lengths = [source.randint(1, 5) for _ in range(source.randint(1, 3))]
    forms = [word(source, odd) for _ in range(sum(lengths))]
    gaps = source.choices(GAPS, k=len(forms) - 1) if any_gaps else [" "] * (len(forms) - 1)
    pieces = [source.choice(("", "", " ")) if any_gaps else ""]
    for form, gap in zip(forms, [*gaps, ""], strict=True):
        pieces += [form, gap]
    borders = list(accumulate(map(len, pieces)))
    doc = Doc("".join(pieces))
    doc.set_offsets(borders[0:-1:2], borders[1::2])
    doc.set_sentences([0, *accumulate(lengths)])
    for name in ("lemma", "upos", "xpos", "feats", "deprel", "deps"):
        if source.random() < 0.5:
            doc.set_column(name, [value(source) for _ in forms])
    if source.random() < 0.6:
        doc.head = np.array([source.randint(0, i) for length in lengths for i in range(length)], dtype=np.int32)
    return doc


def with_conllu_extras(source: random.Random) -> Doc:
    """A tokenized document with multiword tokens, empty nodes and comments."""
    doc = tokenized(source)
    if source.random() < 0.5:
        _merge_words(doc, source)
    offsets = doc.sentence_offsets.tolist()
    doc.comments = [tuple(source.sample(COMMENTS, k=source.choice((0, 0, 1, 2)))) for _ in offsets[1:]]
    for number, (first, end) in enumerate(pairwise(offsets)):
        for after in sorted(source.sample(range(end - first + 1), k=source.choice((0, 0, 0, 1)))):
            doc.empty_nodes.append(EmptyNode(number, after, 1, tuple(value(source) for _ in range(9))))
    return doc


def _merge_words(doc: Doc, source: random.Random) -> None:
    """Make the first token of some sentences a multiword token of two words."""
    forms, columns, head = doc.column("form"), dict(doc.columns), doc.head
    offsets = doc.sentence_offsets.tolist()
    firsts = [a for a, b in pairwise(offsets) if b - a > 1 and source.random() < 0.7]
    single = np.ones(len(forms), dtype=bool)
    single[[first + 1 for first in firsts]] = False
    ends = doc.token_end.copy()
    ends[firsts] = ends[[first + 1 for first in firsts]]  # the token spans both words and what stood between them
    starts, ends = doc.token_start[single], ends[single]
    doc.set_offsets(starts, ends)
    texts = doc.column("form")
    doc.word_token = (np.cumsum(single) - 1).astype(np.int32)
    doc.columns, doc.head = columns, head
    for first in firsts:
        text = texts[int(doc.word_token[first])]
        if text.split() == [text]:
            doc.multiwords.append(Multiword(first, first + 2, (text, *(value(source) for _ in range(7)), "")))
    if len(doc.multiwords) != len(firsts):  # a token with blanks inside: undone
        raise _Again


class _Again(Exception):
    """The draw is of no use."""


def full(source: random.Random) -> Doc:
    """A document with everything a `Doc` can hold."""
    doc = conllu_like(source)
    for key in source.sample(("id", "genre", "语"), k=source.randint(0, 2)):
        doc.meta[key] = word(source)
    doc.set_column("own", [value(source) for _ in range(doc.n_words)])
    doc.confidence["upos"] = np.array([source.random() for _ in range(doc.n_words)], dtype=np.float32)
    doc.constituents = ConstituentLayer.of(doc.strings, phrases(source, doc))
    for unit, limit in (("words", doc.n_words), ("chars", len(doc.text))):
        _add_spans(source, doc, unit, limit)
    count = len(doc.spans["words"])
    if count:
        relations = doc.relations["rel"] = RelationLayer(doc.strings, "words")
        graph = doc.graphs["graph"] = GraphLayer(doc.strings, "words")
        for _ in range(source.randint(0, 3)):
            relations.add(source.randrange(count), source.randrange(count), source.choice(LABELS))
            graph.node(source.choice(LABELS), source.randint(-1, count - 1), "n")
        if len(graph):
            graph.edge(0, len(graph) - 1, "arg")
        doc.clusters["coref"] = ClusterLayer("words", [source.randint(-1, 2) for _ in range(count)])
    return doc


def conllu_like(source: random.Random) -> Doc:
    """`with_conllu_extras`, drawn until it succeeds."""
    while True:
        try:
            return with_conllu_extras(source)
        except _Again:
            continue


def _add_spans(source: random.Random, doc: Doc, unit: str, limit: int) -> None:
    layer = doc.spans[unit] = SpanLayer(doc.strings, unit)  # type: ignore[arg-type]
    for number in range(source.randint(0, 3)):
        borders = sorted(source.sample(range(limit + 1), k=2 * source.randint(1, min(2, (limit + 1) // 2))))
        pieces = list(zip(borders[::2], borders[1::2], strict=True))
        layer.add(pieces, source.choice(LABELS), source.choice(("", f"T{number}")))
        if source.random() < 0.3:
            layer.attributes[number] = {"sure": True, "notes": [["a", word(source)]]}


def phrases(source: random.Random, doc: Doc) -> list[tuple[str, int, int, int]]:
    """A phrase over every sentence, and one or two within it."""
    rows: list[tuple[str, int, int, int]] = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        top = len(rows)
        rows.append(("S", first, end, -1))
        if end - first > 2:
            middle = source.randint(first + 1, end - 1)
            rows.append((source.choice(LABELS), first, middle, top))
            rows.append((source.choice(LABELS), middle, end, top))
    return rows


def plain_tree(source: random.Random) -> Doc:
    """A document that every word format can hold: single spaces, tags, whole trees, phrases and flat spans."""
    doc = tokenized(source, odd=0.0, any_gaps=False)
    doc.columns = {"form": doc.columns["form"]}
    for name in ("lemma", "upos", "deprel"):
        doc.set_column(name, [word(source, odd=0.0) for _ in range(doc.n_words)])
    doc.set_column("xpos", [source.choice(("NN", "VB", "DT")) for _ in range(doc.n_words)])
    lengths = np.diff(doc.sentence_offsets).tolist()
    doc.head = np.array([source.randint(0, i) for length in lengths for i in range(length)], dtype=np.int32)
    doc.constituents = ConstituentLayer.of(doc.strings, phrases(source, doc))
    starts = doc.sentence_offsets.tolist()[:-1]
    doc.spans["chunks"] = SpanLayer.of(doc.strings, [(start, start + 1, source.choice(LABELS)) for start in starts])
    return doc
