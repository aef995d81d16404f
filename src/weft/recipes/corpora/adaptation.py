"""Data for adapting taggers to another domain: newspaper text for training, web genres as targets.

    source            WSJ sample (Penn tags), 3,500 training sentences, the others for testing in domain
    source, raw       words of the CoNLL-2000 files, without the sentences in the sample
    target            genres of English-EWT (and English-GUM), Penn tags in XPOS
    target, raw       words of the training file of the genre; for reviews also Blitzer's product reviews
    fiction           the Brown corpus on twelve tags, tags of both sides through the `*.map` files
    biomedical        raw words only (BC2GM)
    agency news       raw words only (CoNLL-2003)

Newspaper quotation marks, which distinguish opening from closing ones, become the plain ones of the web: the tagger has
to tell them apart.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from weft.formats import read
from weft.lexical.universal_tags import read_map
from weft.recipes.framework import RecipeOptions
from weft.text.doc import Doc
from weft.text.split import split_by_rule

Sentences = list[list[str]]
SAMPLE = "treebanks/constituency/ptb-sample/wsj-sample.mrg.gz"
NEWSPAPER = "chunking/conll2000/{}.txt.gz"
EWT = "treebanks/ud/English-EWT/{}.conllu.gz"
GUM = "treebanks/ud/English-GUM/{}.conllu.gz"
REVIEWS = "sentiment/blitzer-raw/{}.tsv.gz"
PRODUCTS = ("books", "dvd", "electronics", "kitchen")
BROWN = "tagging/brown/brown.tagged.txt.gz"
TAG_MAP = "lexicons/universal_tagset/{}.map"
GENES = "ner/bc2gm-genes/train.tsv.gz"
AGENCY = "ner/conll2003-en/train.txt.gz"
#: Genres of English-EWT, in the order of the tables.
GENRES = ("newsgroup", "reviews", "weblog", "answers", "email")
#: Training sentences in the sample; the others are for testing.
LEARN = 3_500
_CONTRACTION = re.compile(r"(?i)^(.+?)(n['’]t|['’](?:s|m|d|ll|re|ve))$")
_QUOTES = {"``": '"', "''": '"', "`": "'"}


@dataclass
class Domains:
    """Data for training and testing a tagger: labelled and raw source, raw target, labelled target."""

    source: Doc
    source_raw: Sentences
    target_raw: Sentences
    dev: Doc
    test: Doc
    in_domain: Doc = field(default_factory=Doc)


def domains(options: RecipeOptions, genre: str, sentences: int = LEARN, raw_words: int | None = None) -> Domains:
    """Newspaper as the source, a genre of English-EWT as the target; `raw_words` bounds Blitzer's reviews."""
    more = review_words(options, raw_words) if genre == "reviews" else []
    return Domains(
        newspaper(options, 0, sentences),
        newspaper_words(options),
        sentences_of(web(options, genre, "train")) + more,
        web(options, genre, "dev"),
        web(options, genre, "test"),
        newspaper(options, LEARN),
    )


def newspaper(options: RecipeOptions, first: int = 0, end: int | None = None) -> Doc:
    """Sentences `first:end` of the WSJ sample with Penn tags in `xpos`."""
    words, tags = _sample(options.find(SAMPLE))
    return Doc.from_words(words[first:end], xpos=tags[first:end])


def newspaper_words(options: RecipeOptions) -> Sentences:
    """The words of the CoNLL-2000 files without the sentences of the sample."""
    known = {tuple(words) for words in _sample(options.find(SAMPLE))[0]}
    found: Sentences = []
    for part in ("train", "test"):
        with gzip.open(options.find(NEWSPAPER.format(part)), "rt", encoding="utf-8") as file:
            found += [plain_quotes(words) for words in _column(file)]
    return [words for words in found if tuple(words) not in known]


def web(options: RecipeOptions, genre: str, part: str, most: int | None = None, treebank: str = EWT) -> Doc:
    """The first sentences of a genre in English-EWT (or another treebank with `# genre` lines), with XPOS and UPOS."""
    words, xpos, upos = _genres(options.find(treebank.format(part))).get(genre, ([], [], []))
    return Doc.from_words(words[:most], xpos=xpos[:most], upos=upos[:most])


def web_trees(options: RecipeOptions, genres: Sequence[str], part: str, most: int) -> Doc:
    """The first sentences of English-EWT genres with Penn tags and dependency trees."""
    columns: dict[str, list[list[str]]] = {"form": [], "xpos": [], "upos": [], "deprel": []}
    heads: list[list[int]] = []
    genre = ""
    for doc in read(options.find(EWT.format(part))):
        assert doc.head is not None
        rows = {name: sentences_of(doc, name) for name in columns}
        for k, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
            named = [line.partition("=")[2].strip() for line in doc.comments[k] if line.startswith("# genre")]
            genre = named[0] if named else genre
            if genre in genres and len(heads) < most:
                heads.append(doc.head[first:end].tolist())
                for name, column in columns.items():
                    column.append(rows[name][k])
    form, xpos, upos, deprel = columns.values()
    return Doc.from_words(form, head=heads, xpos=xpos, upos=upos, deprel=deprel)


def review_words(options: RecipeOptions, n_words: int | None = None) -> Sentences:
    """Sentences of Blitzer's product reviews, about `n_words` words, in equal parts from the four kinds of products."""
    found: Sentences = []
    for product in PRODUCTS:
        found += _reviews(options.find(REVIEWS.format(product)), None if n_words is None else n_words // len(PRODUCTS))
    return found


def brown(options: RecipeOptions, genres: Sequence[str], most: int | None = None) -> Doc:
    """Sentences of the Brown corpus whose documents begin with these letters (`ck`): its tags, and twelve in `upos`."""
    to_universal = read_map(options.find(TAG_MAP.format("en-brown")))
    lower = {tag.lower(): universal for tag, universal in to_universal.items()}
    words: Sentences = []
    tags: Sentences = []
    wanted = False
    with gzip.open(options.find(BROWN), "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("# doc"):
                wanted = line.split()[-1][:2] in genres
            elif wanted and line.strip() and (most is None or len(words) < most):
                pairs = [token.rpartition("/") for token in line.split()]
                words.append(plain_quotes([word for word, _, _ in pairs]))
                tags.append([tag for _, _, tag in pairs])
    return Doc.from_words(words, xpos=tags, upos=[[lower.get(tag.lower(), "X") for tag in row] for row in tags])


def penn_universal(options: RecipeOptions, doc: Doc) -> Doc:
    """The document with twelve tags in `upos`, by the map of Penn tags; unknown tags become X."""
    to_universal = read_map(options.find(TAG_MAP.format("en-ptb")))
    doc.set_column("upos", [to_universal.get(tag, "X") for tag in doc.column("xpos")])
    return doc


def gene_words(options: RecipeOptions, n_words: int | None = None) -> Sentences:
    """Sentences from biomedical abstracts, about `n_words` words."""
    with gzip.open(options.find(GENES), "rt", encoding="utf-8") as file:
        return list(_first(_column(file), n_words))


def agency_words(options: RecipeOptions) -> Sentences:
    """Sentences from agency news."""
    with gzip.open(options.find(AGENCY), "rt", encoding="utf-8") as file:
        return [words for words in _column(file) if words[0] != "-DOCSTART-"]


def sentences_of(doc: Doc, column: str = "form") -> Sentences:
    """A column of a document by sentence.

    >>> sentences_of(Doc.from_words([["Dogs", "bark"], ["Stop"]]))
    [['Dogs', 'bark'], ['Stop']]
    """
    values = doc.column(column)
    return [values[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def plain_quotes(words: Sequence[str]) -> list[str]:
    """Words with plain web-style quotation marks.

    >>> plain_quotes(["``", "Yes", "''"])
    ['"', 'Yes', '"']
    """
    return [_QUOTES.get(word, word) for word in words]


def split_contractions(words: Sequence[str]) -> list[str]:
    """Words with contractions split as in the Penn Treebank.

    >>> split_contractions(["I", "don't", "like", "Ann's", "can't"])
    ['I', 'do', "n't", 'like', 'Ann', "'s", 'ca', "n't"]
    """
    found: list[str] = []
    for word in words:
        match = _CONTRACTION.match(word) if len(word) > 2 else None
        found += [word] if match is None else list(match.groups())
    return found


@cache
def _sample(path: Path) -> tuple[Sentences, Sentences]:
    words: Sentences = []
    tags: Sentences = []
    for doc in read(path):
        words += map(plain_quotes, sentences_of(doc))
        tags += sentences_of(doc, "xpos")
    return words, tags


@cache
def _genres(path: Path) -> dict[str, tuple[Sentences, Sentences, Sentences]]:
    """Words and tags of the sentences in every genre."""
    found: dict[str, tuple[Sentences, Sentences, Sentences]] = {}
    genre = ""
    for doc in read(path):
        columns = [sentences_of(doc, name) for name in ("form", "xpos", "upos")]
        for comments, rows in zip(doc.comments, zip(*columns, strict=True), strict=True):
            named = [line.partition("=")[2].strip() for line in comments if line.startswith("# genre")]
            genre = named[0] if named else genre
            for into, row in zip(found.setdefault(genre, ([], [], [])), rows, strict=True):
                into.append(row)
    return found


@cache
def _reviews(path: Path, n_words: int | None) -> Sentences:
    found: Sentences = []
    total = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            doc = Doc(line.rstrip("\n").split("\t")[-1])
            split_by_rule(doc)
            found += map(split_contractions, sentences_of(doc))
            total += doc.n_words
            if n_words is not None and total >= n_words:
                break
    return found


def _column(lines: Iterator[str]) -> Iterator[list[str]]:
    """The first column of a file with one word per line and blank lines between sentences."""
    words: list[str] = []
    for line in (*lines, ""):
        fields = line.split()
        if fields:
            words.append(fields[0])
        elif words:
            yield words
            words = []


def _first(sentences: Iterator[list[str]], n_words: int | None) -> Iterator[list[str]]:
    total = 0
    for words in sentences:
        if n_words is not None and total >= n_words:
            return
        total += len(words)
        yield words
