"""Named-entity corpora in five languages with the same types and tags, and clusters that languages share.

    types   PER, LOC, ORG (in the second form also MISC); others, and GermEval's `deriv` and `part`, are ignored
    tags    the twelve universal ones: by map files (en, es, nl), from the treebank (pt), by a tagger (de)
    text    a target's training and development files without labels (de: with the words of WikiANN)

Training sentences of six or more words that also occur in the corpus's test file are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from weft.formats import read
from weft.lexical.clusters.cross_lingual import Bitext
from weft.lexical.clusters.monolingual import cluster_words
from weft.lexical.clusters.pivot import SharedClusters, pivot_clusters
from weft.lexical.universal_tags import read_map, universal_tag
from weft.recipes.corpora.clusters import linked
from weft.recipes.framework import RecipeOptions
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

TYPES = ("LOC", "ORG", "PER")


@dataclass(frozen=True)
class Files:
    """A language's named-entity data: files by part, the content of their columns, and the source of tags."""

    parts: Mapping[str, str]
    fields: str
    tags: str  # a map file, a treebank, or empty for a tagger


FILES = {
    "en": Files(
        {part: f"ner/conll2003-en/{part}.txt.gz" for part in ("train", "dev")},
        "form xpos _ entities",
        "lexicons/universal_tagset/en-ptb.map",
    ),
    "es": Files(
        {part: f"ner/conll2002-es/{part}.txt.gz" for part in ("train", "dev", "test")},
        "form xpos entities",
        "lexicons/universal_tagset/es-eagles.map",
    ),
    "nl": Files(
        {part: f"ner/conll2002-nl/{part}.txt.gz" for part in ("train", "dev", "test")},
        "form xpos entities",
        "lexicons/universal_tagset/nl-alpino.map",
    ),
    "de": Files(
        {"train": "ner/germeval2014-de/dev.tsv.gz", "test": "ner/germeval2014-de/test.tsv.gz"},
        "id form entities _",
        "",
    ),
    "pt": Files(
        {part: f"ner/uner-Portuguese-Bosque/{part}.iob2.gz" for part in ("train", "dev", "test")},
        "id form entities _ _",
        "treebanks/ud/Portuguese-Bosque",
    ),
}
GERMAN_TREES = ("treebanks/ud/German-GSD/dev.conllu.gz", "treebanks/pud/German-PUD/test.conllu.gz")
GERMAN_TEXT = "ner/wikiann-de/train.txt.gz"
#: Languages with a bitext (`weft.recipes.corpora.clusters`): PUD (es, pt), New Testament and captions (de).
BITEXTS = ("de", "es", "pt")


def names(options: RecipeOptions, code: str, part: str, types: Sequence[str] = TYPES, limit: int | None = None) -> Doc:
    """A part of a language's corpus as one document with universal tags and spans of the given types."""
    files = FILES[code]
    corpus = read(options.find(files.parts[part]), "columns", fields=files.fields, strict=False)
    docs = list(corpus if limit is None else corpus.take_sentences(limit))
    sentences: list[list[str]] = []
    tags: list[str] = []
    spans: list[tuple[int, int, str]] = []
    at = 0
    for doc in docs:
        forms = doc.column("form")
        sentences += [forms[a:b] for a, b in pairwise(doc.sentence_offsets.tolist())]
        tags += doc.column("xpos") if doc.has("xpos") else [""] * doc.n_words
        for pieces, label in doc.spans["entities"]:
            if label in types:
                spans.append((pieces[0][0] + at, pieces[0][1] + at, label))
        at += doc.n_words
    found = Doc.from_words(sentences)
    found.spans["entities"] = SpanLayer.of(found.strings, spans)
    found.set_column("upos", _universal(options, code, part, tags, found))
    return found


def _universal(options: RecipeOptions, code: str, part: str, tags: list[str], doc: Doc) -> list[str]:
    files = FILES[code]
    if files.tags.endswith(".map"):
        known = dict(read_map(options.find(files.tags)))
        known |= {'"': ".", "Y": "X"}  # tags that the map files lack
        return [known.get(tag) or _by_prefix(known, tag) for tag in tags]
    if files.tags:
        trees = read(options.find(f"{files.tags}/{part}.conllu.gz")).take_sentences(doc.n_sentences)
        return [universal_tag(tag) for tree in trees for tag in tree.column("upos")]
    tagger = german_tagger(options)
    tagger([doc])
    return [universal_tag(tag) for tag in doc.column("upos")]


def _by_prefix(known: Mapping[str, str], tag: str) -> str:
    """The universal tag for a truncated tag, as in the Spanish corpus."""
    return next((universal for full, universal in known.items() if full.startswith(tag)), "X")


def german_tagger(options: RecipeOptions) -> Tagger:
    """A German tagger, trained on a development file and PUD: 1,799 sentences."""
    return _german_tagger(tuple(str(options.find(path)) for path in GERMAN_TREES))


@cache
def _german_tagger(paths: tuple[str, ...]) -> Tagger:
    tagger = Tagger(TaggerSettings(column="upos", learner="perceptron", epochs=3))
    tagger.fit([doc for path in paths for doc in read(path)])
    return tagger


def words_of(doc: Doc) -> Iterator[list[str]]:
    """The words of every sentence."""
    forms = doc.column("form")
    yield from (forms[a:b] for a, b in pairwise(doc.sentence_offsets.tolist()))


def sample(doc: Doc, n: int, seed: int, without: Sequence[Doc] = ()) -> Doc:
    """At most n random sentences, in a new order, without sentences of six or more words in the other documents."""
    known = {tuple(words) for other in without for words in words_of(other) if len(words) >= 6}
    sentences = [i for i, words in enumerate(words_of(doc)) if tuple(words) not in known]
    chosen = np.random.default_rng(seed).permutation(sentences)[:n]
    return reordered(doc, chosen.tolist())


def reordered(doc: Doc, sentences: Sequence[int]) -> Doc:
    """The sentences with these indices, in this order."""
    forms, tags = doc.column("form"), doc.column("upos")
    bounds = doc.sentence_offsets.tolist()
    spans_in: dict[int, list[tuple[int, int, str]]] = {}
    of_word = np.repeat(np.arange(doc.n_sentences), np.diff(bounds))
    for pieces, label in doc.spans["entities"]:
        spans_in.setdefault(int(of_word[pieces[0][0]]), []).append((*pieces[0], label))
    spans, at = [], 0
    for s in sentences:
        spans += [(a - bounds[s] + at, b - bounds[s] + at, label) for a, b, label in spans_in.get(s, [])]
        at += bounds[s + 1] - bounds[s]
    found = Doc.from_words(
        [forms[bounds[s] : bounds[s + 1]] for s in sentences], upos=[tags[bounds[s] : bounds[s + 1]] for s in sentences]
    )
    found.spans["entities"] = SpanLayer.of(found.strings, spans)
    return found


def native_clusters(text: Sequence[Sequence[str]], classes: int = 128, min_count: int = 3) -> dict[str, str]:
    """Clusters of a language's own text."""
    return cluster_words(text, classes, min_count, 10, lower=True).paths()


def raw_text(options: RecipeOptions, code: str, limit: int | None = None) -> list[list[str]]:
    """All words in a language's training and development files, for German also those of WikiANN."""
    files = FILES[code]
    parts = [path for part, path in files.parts.items() if part != "test"]
    found: list[list[str]] = []
    for path in parts:
        for doc in read(options.find(path), "columns", fields=files.fields, strict=False):
            found += words_of(doc)
    if code == "de":
        for doc in read(options.find(GERMAN_TEXT), "columns", fields="form entities", strict=False):
            found += ([word.removeprefix("de:") for word in words] for words in words_of(doc))
    return found[:limit]


def shared_clusters(
    options: RecipeOptions, texts: Mapping[str, Sequence[Sequence[str]]], pairs: int, classes: int = 128
) -> SharedClusters:
    """Clusters of all languages around English: through the available bitexts, and words spelled alike."""
    bitexts: dict[str, Bitext] = {}
    for code in texts:
        if pairs and code in BITEXTS:
            bitexts[code] = linked(options, code, pairs, 0.7)
    own = dict(texts)
    own["en"] = [*own["en"], *(words for bitext in bitexts.values() for words in bitext.source)]
    return pivot_clusters("en", own, bitexts, classes, sweeps=8)
