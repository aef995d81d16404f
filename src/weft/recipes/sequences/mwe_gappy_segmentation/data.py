"""Data for the mwe-gappy-segmentation recipe: reviews with tags, lexicons, word clusters."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from weft.features.templates import Templates
from weft.formats import read
from weft.formats.streams import read_text
from weft.learn.chains.labels import LabelSpace
from weft.lexical.clusters.monolingual import cluster_words
from weft.lexical.mwe_lexicon import MweLexicon
from weft.lexical.wordnet import WordNet, find_wordnet
from weft.recipes.framework import RecipeOptions
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.tasks.labelling.labeller import LabellerSettings, learn
from weft.text.conventions.expressions import Expressions, expressions_of, set_expressions
from weft.text.doc import Doc

REVIEWS = "mwe/streusle-2.1/streusle.upos.tags.gz"
DEV, TEST = "mwe/streusle/dev.conllulex.gz", "mwe/streusle/test.conllulex.gz"
EWT = "treebanks/ud/English-EWT"
SEMCOR = "wsd/semcor3.0-brown1/brown1.tsv.gz"
PROPBANK = "srl/propbank-frames/frames.tsv.gz"
VERBNET = "lexicons/verbnet3/verbnet3.zip"
GAZETTEERS = tuple(f"lexicons/gazetteers/{kind}.txt" for kind in ("countries", "uscities", "usstates"))
BLITZER = tuple(f"sentiment/blitzer-raw/{kind}.tsv.gz" for kind in ("books", "dvd", "electronics", "kitchen"))
FOLDS = 8

#: Features of the part-of-speech tagger: words, affixes, shapes.
TAGGER = (
    "true y[-1] w[-2..2].lower w[0] w[-1].lower|w[0].lower w[0].lower|w[1].lower w[-1..1].shape w[0].brief "
    "w[0].prefix1..4 w[0].suffix1..5 w[-1].suffix2..3 w[1].suffix2..3"
)
_WORDS = re.compile(r"\w+(?:'\w+)?|[^\w\s]")


@dataclass
class Reviews:
    """Review sentences as one document, with gold (`gold_xpos`) and predicted (`xpos`) tags, and their names."""

    doc: Doc
    names: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def expressions(self) -> list[Expressions]:
        return expressions_of(self.doc)

    def lemmas(self) -> list[list[str]]:
        flat = self.doc.column("lemma")
        return [flat[first:end] for first, end in pairwise(self.doc.sentence_offsets.tolist())]

    def forms(self) -> list[list[str]]:
        flat = [form.lower() for form in self.doc.column("form")]
        return [flat[first:end] for first, end in pairwise(self.doc.sentence_offsets.tolist())]

    def take(self, numbers: Sequence[int]) -> Reviews:
        """Some sentences, by ascending indices."""
        return Reviews(self.doc.subset(list(numbers)), [self.names[k] for k in numbers])

    def fold(self, number: int, folds: int = FOLDS) -> tuple[Reviews, Reviews]:
        """The sentences outside and inside a fold; the sentences of a review are in one fold."""
        reviews = {name: k for k, name in enumerate(dict.fromkeys(map(_review, self.names)))}
        inside = [k for k, name in enumerate(self.names) if reviews[_review(name)] % folds == number]
        chosen = set(inside)
        return self.take([k for k in range(len(self)) if k not in chosen]), self.take(inside)


@dataclass
class Material:
    """The corpus in its three parts, and the additional resources."""

    train: Reviews
    dev: Reviews
    test: Reviews
    lexicons: list[MweLexicon]
    wordnet: WordNet | None
    tag_accuracy: float
    clusters: dict[str, str] = field(default_factory=dict)


def load(options: RecipeOptions, tagged: bool = True) -> Material:
    """The corpus, its parts of speech, and the available lexicons. Without `tagged`, predicted tags are gold tags."""
    parts = _parts(options)
    gold = _penn_tags(options, {name for _, names in parts.values() for name in names})
    reviews = {}
    for part, (doc, names) in parts.items():
        tags: list[str] = []
        universal = doc.column("upos")
        for name, (first, end) in zip(names, pairwise(doc.sentence_offsets.tolist()), strict=True):
            found = gold.get(name, [])
            tags += found if len(found) == end - first else universal[first:end]
        doc.set_column("gold_xpos", tags)
        doc.set_column("xpos", tags)
        reviews[part] = Reviews(doc, names)
    accuracy = _predict_tags(options, list(reviews.values())) if tagged else 1.0
    lexicons, wordnet = find_lexicons(options)
    return Material(reviews["train"], reviews["dev"], reviews["test"], lexicons, wordnet, accuracy)


def find_lexicons(options: RecipeOptions) -> tuple[list[MweLexicon], WordNet | None]:
    """The available expression lists, WordNet first if it is installed."""
    lexicons = []
    folder = find_wordnet()
    wordnet = WordNet.read(folder) if folder is not None else None
    if wordnet is not None:
        lexicons.append(MweLexicon.of("wordnet", wordnet.multiwords()))
    chunks = []
    for line in _lines(options.find(SEMCOR)):
        row = line.split("\t")
        if len(row) > 2:
            chunks += [(text, row[2]) for text in row[:2] if "_" in text.strip("_")]
    lexicons.append(MweLexicon.of("semcor", chunks))
    aliases = (
        alias.rsplit("/", 1)
        for line in _lines(options.find(PROPBANK))
        for alias in (line.split("\t")[3].split(",") if line.count("\t") >= 3 else [])
    )
    lexicons.append(MweLexicon.of("propbank", [(pair[0], pair[1]) for pair in aliases if len(pair) == 2]))
    with zipfile.ZipFile(options.find(VERBNET)) as archive:
        texts = [archive.read(name).decode("utf-8") for name in archive.namelist() if name.endswith(".xml")]
    members = (name for text in texts for name in re.findall(r'<MEMBER[^>]* name="([^"]+)"', text))
    lexicons.append(MweLexicon.of("verbnet", [(name, "v") for name in members if "_" in name]))
    places = [line for name in GAZETTEERS for line in _lines(options.find(name), "latin-1")]
    lexicons.append(MweLexicon.of("places", places))
    return lexicons, wordnet


def learn_clusters(options: RecipeOptions, n_classes: int = 500, min_count: int = 10) -> dict[str, str]:
    """Word clusters from product reviews and the treebank's training text."""
    sentences = []
    for name in BLITZER:
        for row in _lines(options.find(name))[1:]:
            text = row.split("\t")[-1]
            sentences += [_WORDS.findall(part.lower()) for part in re.split(r"(?<=[.!?]) ", text)]
    for doc in read(options.find(f"{EWT}/train.conllu.gz")):
        forms = [form.lower() for form in doc.column("form")]
        sentences += [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]
    return cluster_words(sentences, n_classes, min_count, rounds=10).paths()


def joined(one: Reviews, other: Reviews) -> Reviews:
    """Two parts as one."""
    docs = (one.doc, other.doc)
    columns = {
        name: [
            flat[a:b] for doc in docs for flat in [doc.column(name)] for a, b in pairwise(doc.sentence_offsets.tolist())
        ]
        for name in ("form", "lemma", "upos", "xpos", "gold_xpos")
    }
    doc = Doc.from_words(columns["form"])
    for name in ("lemma", "upos", "xpos", "gold_xpos"):
        doc.set_column(name, [value for sentence in columns[name] for value in sentence])
    set_expressions(doc, [*one.expressions(), *other.expressions()])
    return Reviews(doc, [*one.names, *other.names])


def _parts(options: RecipeOptions) -> dict[str, tuple[Doc, list[str]]]:
    """The corpus with the split of its current release."""
    held = {
        part: {_name(comments) for doc in read(options.find(path)) for comments in doc.comments}
        for part, path in (("dev", DEV), ("test", TEST))
    }
    rows: dict[str, list[tuple[str, Doc, int, Expressions]]] = {"train": [], "dev": [], "test": []}
    for doc in read(options.find(REVIEWS)):
        found = expressions_of(doc)
        for number, comments in enumerate(doc.comments):
            name = _ewt_name(_name(comments))
            part = next((part for part in held if name in held[part]), "train")
            rows[part].append((name, doc, number, found[number]))
    result = {}
    for part, sentences in rows.items():
        columns: dict[str, list[list[str]]] = {"form": [], "lemma": [], "upos": []}
        for _, doc, number, _ in sentences:
            first, end = doc.sentence_offsets[number : number + 2].tolist()
            for column, values in columns.items():
                values.append(doc.column(column)[first:end])
        whole = Doc.from_words(columns["form"], lemma=columns["lemma"], upos=columns["upos"])
        set_expressions(whole, [found for *_, found in sentences])
        result[part] = (whole, [name for name, *_ in sentences])
    return result


def _penn_tags(options: RecipeOptions, wanted: set[str]) -> dict[str, list[str]]:
    """The treebank's gold tags for sentences by name."""
    found: dict[str, list[str]] = {}
    for part in ("train", "dev", "test"):
        for doc in read(options.find(f"{EWT}/{part}.conllu.gz")):
            tags = doc.column("xpos")
            for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
                name = _name(doc.comments[number])
                if name in wanted:
                    found[name] = tags[first:end]
    return found


def _predict_tags(options: RecipeOptions, reviews: Sequence[Reviews]) -> float:
    """Tag reviews with a tagger that saw none of them (as in the paper, it is trained on the treebank's other genres);
    returns its accuracy."""
    docs = []
    for doc in read(options.find(f"{EWT}/train.conllu.gz")):
        others = [k for k, comments in enumerate(doc.comments) if not _name(comments).startswith("reviews-")]
        if others:
            docs.append(doc.subset(others))
    if options.quick:
        docs = docs[: len(docs) // 4]
    tags = [tag for doc in docs for tag in doc.column("xpos")]
    space = LabelSpace(sorted(set(tags)))
    data = ChainData.build(ChainReader(Templates(TAGGER), {"w": "form"}), docs, space.ids(tags), space)
    weights = learn(data, LabellerSettings(learner="perceptron", epochs=3 if options.quick else 5)).weights
    right = total = 0
    for each in reviews:
        chain = data.model.score(data.encode([each.doc]), weights)
        found = [space.labels[tag] for tag in space.tags(chain.best())]
        gold = each.doc.column("gold_xpos")
        right += sum(a == b for a, b in zip(gold, found, strict=True))
        total += len(gold)
        each.doc.set_column("xpos", found)
    return right / total


def _ewt_name(name: str) -> str:
    """The treebank's name for `ewtb.r.007403.2`."""
    _, _, review, number = name.split(".")
    return f"reviews-{review}-{int(number):04d}"


def _review(name: str) -> str:
    return name.rpartition("-")[0]


def _name(comments: Iterable[str]) -> str:
    return next((text.partition("=")[2].strip() for text in comments if text.startswith("# sent_id")), "")


def _lines(path: Path, encoding: str = "utf-8") -> list[str]:
    return read_text(str(path), encoding).split("\n")
