"""Named entities with word clusters: the templates of Täckström et al. (2012, table 2), trained and transferred.

A first-order CRF over words, prefixes and suffixes, hyphens, capitals, tags and clusters; transitions are conjoined
with surrounding tags, capitals and clusters. A word's cluster is a column of the document, so every language brings its
own word list under common cluster names.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from weft.evaluate.labels.spans import SpanReport, evaluate_spans
from weft.features.lexicon import WordClasses
from weft.formats import read
from weft.recipes.framework import RecipeOptions
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

WORDS = (
    "true y[-1] w[-1..1] w[-1]|w[0] w[0]|w[1] w[-1]|w[0]|w[1] w[-1..1].prefix1..5 w[-1..1].suffix1..5 w[-1..1].hyphen"
)
CAPITALS = (
    "w[-1..1].capital w[-1].capital|w[0].capital w[0].capital|w[1].capital w[-1].capital|w[0].capital|w[1].capital "
    "(w[-1..1].capital)|y[-1]"
)
TAGS = "t[-1..1] t[-1]|t[0] t[0]|t[1] t[-1]|t[0]|t[1] t[-2]|t[-1]|t[0]|t[1] t[-1]|t[0]|t[1]|t[2] (t[-1..1])|y[-1]"
CLUSTERS = TAGS.replace("t[", "c[")
COLUMN = "cluster"
TYPES = ("LOC", "ORG", "PER")

#: Named-entity files by language and part, and the content of their columns.
FILES = {
    "en": ("ner/conll2003-en/{}.txt.gz", "form xpos chunks:IOB1 entities:IOB1"),
    "es": ("ner/conll2002-es/{}.txt.gz", "form xpos entities:IOB2"),
    "nl": ("ner/conll2002-nl/{}.txt.gz", "form xpos entities:IOB2"),
    "de": ("ner/germeval2014-de/{}.tsv.gz", "id form entities:IOB2 _"),
    "wikiann-en": ("ner/wikiann-en/{}.txt.gz", "form entities:IOB2"),
    "wikiann-de": ("ner/wikiann-de/{}.txt.gz", "form entities:IOB2"),
    "wikiann-fr": ("ner/wikiann-fr/{}.txt.gz", "form entities:IOB2"),
}


def names(
    options: RecipeOptions, code: str, part: str, most: int | None = None, types: Sequence[str] | None = None
) -> Doc:
    """The sentences of a named-entity corpus as one document; names of types other than `types` are dropped."""
    path, fields = FILES[code]
    corpus = read(options.find(path.format(part)), "columns", fields=fields, strict=False)
    words: list[list[str]] = []
    tags: list[list[str]] = []
    spans: list[tuple[int, int, str]] = []
    at = 0
    for doc in corpus if most is None else corpus.take_sentences(most):
        forms = (
            [form.partition(":")[2] or form for form in doc.column("form")] if "wikiann" in code else doc.column("form")
        )
        own = doc.column("xpos") if doc.has("xpos") else [""] * doc.n_words
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            words.append(forms[first:end])
            tags.append(own[first:end])
        for pieces, label in doc.spans["entities"]:
            if types is None or label in types:
                spans.append((pieces[0][0] + at, pieces[0][1] + at, label))
        at += doc.n_words
    found = Doc.from_words(words, xpos=tags) if any(map(any, tags)) else Doc.from_words(words)
    found.spans["entities"] = SpanLayer.of(found.strings, spans)
    return found


def sample(doc: Doc, size: int, seed: int, test: Doc) -> Doc:
    """Random sentences, none of six or more words that also occurs in the test document."""
    known = {tuple(words) for words in words_of(test) if len(words) >= 6}
    free = [i for i, words in enumerate(words_of(doc)) if tuple(words) not in known]
    return doc.subset(sorted(np.random.default_rng(seed).permutation(free)[:size].tolist()))


def words_of(doc: Doc) -> list[list[str]]:
    forms = doc.column("form")
    return [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def clustered(doc: Doc, paths: Mapping[str, str] | None) -> Doc:
    """The document with its words' clusters as a column."""
    if paths is None:
        return doc
    found = copy.copy(doc)
    found.columns = dict(doc.columns)
    of = WordClasses(paths).of
    found.set_column(COLUMN, list(map(of, doc.column("form"))))
    return found


def recognizer(
    train: Doc,
    paths: Mapping[str, str] | None,
    tags: str = "",
    capitals: bool = True,
    sigma: float = 1.0,
    iterations: int = 100,
    scheme: str = "IOB2",
) -> EntityRecognizer:
    """A CRF trained with the given clusters (None: without), with tags from a column (empty: without)."""
    templates = " ".join(
        part
        for part, wanted in {WORDS: True, CAPITALS: capitals, TAGS: bool(tags), CLUSTERS: paths is not None}.items()
        if wanted
    )
    fields = {"w": "form", "t": tags, "c": COLUMN}
    settings = EntitySettings(
        templates=templates, fields={name: column for name, column in fields.items() if f"{name}[" in templates},
        learner="crf", sigma=sigma, iterations=iterations, scheme=scheme, window=0,
    )  # fmt: skip
    found = EntityRecognizer(settings)
    found.fit([clustered(train, paths)])
    return found


def score(model: EntityRecognizer, test: Doc, paths: Mapping[str, str] | None) -> SpanReport:
    """Names predicted in a document with its own language's clusters, against gold."""
    return evaluate_spans(test, found_names(model, test, paths), "entities")


def found_names(model: EntityRecognizer, test: Doc, paths: Mapping[str, str] | None) -> Doc:
    """The document with a recognizer's predicted names."""
    found = copy.copy(clustered(test, paths))
    found.spans = {}
    model([found])
    return found


def untyped(doc: Doc) -> Doc:
    """The document with all names as one type, to compare their boundaries."""
    found = copy.copy(doc)
    spans = [(*pieces[0], "NAME") for pieces, _ in doc.spans["entities"]]
    found.spans = {"entities": SpanLayer.of(doc.strings, spans)}
    return found


def tagger(options: RecipeOptions, path: str, most: int = 2000) -> Tagger:
    """A universal tagger trained on the first sentences of a treebank."""
    found = Tagger(TaggerSettings(column="upos", learner="perceptron", epochs=3))
    found.fit(list(read(options.find(path)).take_sentences(most)))
    return found
