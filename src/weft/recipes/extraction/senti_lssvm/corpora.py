"""The corpora of the experiment: comparisons of cameras, reviews of products and of restaurants, and rated reviews."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import weft
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.tasks.opinions.bag import BagOfOpinions
from weft.tasks.opinions.reading import from_words
from weft.tasks.opinions.sentences import (
    ASPECT,
    BETTER,
    ENTITY,
    NEGATIVE,
    POSITIVE,
    WORSE,
    Edge,
    Mention,
    OpinionSentence,
)
from weft.text.doc import Doc

FOLDER = "sentiment/{}"
COQE = [FOLDER.format(f"camera-coqe/{part}.txt.gz") for part in ("train", "dev", "test")]
CAMERAS = ("Canon_G3", "Nikon_coolpix_4300", "Canon_PowerShot_SD500", "Canon_S100")
PRODUCTS = [
    *(f"product_reviews_1/{name}.txt" for name in (
        "Apex_AD2600_Progressive_scan_DVD player", "Canon_G3", "Creative_Labs_Nomad_Jukebox_Zen_Xtra_40GB",
        "Nikon_coolpix_4300", "Nokia_6610")),
    *(f"product_reviews_2/{name}.txt" for name in (
        "Canon_PowerShot_SD500", "Canon_S100", "Diaper_Champ", "Hitachi_router", "Linksys_Router", "MicroMP3",
        "Nokia_6600", "ipod", "norton")),
]  # fmt: skip
RESTAURANTS = FOLDER.format("semeval2014-restaurants/Restaurants_Train.xml.gz")
POSITIVE_WORDS, NEGATIVE_WORDS = (
    FOLDER.format(f"opinion_lexicon/{sign}-words.txt") for sign in ("positive", "negative")
)
RATED = [FOLDER.format(f"blitzer-raw/{domain}.tsv.gz") for domain in ("electronics", "dvd", "kitchen")]
_LABEL = re.compile(r"(?<![^,\[\]])([^,\[\]]+)((?:\[[^\]]{0,20}\])+)")
_ITEM = re.compile(r"(?<!\d)(\d+)&&")
_WORD = re.compile(r"[\w']+|[^\w\s]")


@dataclass(frozen=True)
class Item:
    """A sentence, its text as people write it, the group that is held out as a whole, and its corpus."""

    sentence: OpinionSentence
    text: str
    group: str
    corpus: str
    predicates: dict[Edge, tuple[int, int]]  # gold evidence of comparisons; no model sees it

    @property
    def judged(self) -> dict[Edge, int]:
        """The gold polarities of aspects."""
        return {edge: label for edge, label in self.sentence.gold.items() if not edge.compares}


@dataclass(frozen=True)
class _Raw:
    words: list[str]
    text: str
    mentions: list[Mention]
    names: list[str]
    gold: dict[Edge, int]
    group: str
    corpus: str
    predicates: dict[Edge, tuple[int, int]]


def lexicon(options: RecipeOptions) -> PolarityLexicon:
    """The opinion lexicon of Hu and Liu."""
    files = options.find(POSITIVE_WORDS), options.find(NEGATIVE_WORDS)
    return PolarityLexicon.read([files[0]], [files[1]], encoding="latin-1")


def bag(options: RecipeOptions) -> BagOfOpinions:
    """Opinions of rated reviews of electronics, films on disc, and kitchen wares."""
    reviews = []
    for name in RATED:
        with gzip.open(options.find(name), "rt", encoding="utf-8") as file:
            next(file)
            for line in file:
                stars, _, title, text = [*line.rstrip("\n").split("\t"), "", "", ""][:4]
                reviews.append((_WORD.findall(f"{title} . {text}".lower())[:400], float(stars)))
    return BagOfOpinions.fit(reviews)


def camera_comparisons(options: RecipeOptions) -> list[_Raw]:
    """Comparisons with both entities; sentences with a direction and only one of them are left out."""
    found: list[_Raw] = []
    for part in COQE:
        with gzip.open(options.find(part), "rt", encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.strip()]
        starts = [number for number, line in enumerate(lines) if "\t" in line] + [len(lines)]
        for start, end in pairwise(starts):
            raw = _comparison(lines[start], lines[start + 1 : end], f"coqe {len(found) // 40}")
            if raw is not None:
                found.append(raw)
    return found


def _comparison(line: str, rows: Sequence[str], group: str) -> _Raw | None:
    words = line.partition("\t")[0].split()
    places: dict[tuple[int, int, str], int] = {}
    gold: dict[Edge, int] = {}
    predicates: dict[Edge, tuple[int, int]] = {}
    for row in rows:
        parts = row.strip()[1:-1].split(";")
        spans = [[int(number) - 1 for number in _ITEM.findall(part)] for part in parts[:4]]
        turn = int(re.sub(r"[^-\d]", "", parts[4]) or 0)
        numbers = [
            places.setdefault((own[0], own[-1] + 1, kind), len(places)) if own and own[-1] < len(words) else -1
            for own, kind in zip(spans[:3], (ENTITY, ENTITY, ASPECT), strict=True)
        ]
        subject, other, aspect = numbers
        if turn not in (1, -1):
            continue
        if subject < 0 or other < 0 or subject == other:
            return None
        ordered = list(places)
        first, second = sorted((subject, other), key=lambda n: ordered[n][0])
        edge = Edge(first, second, aspect)
        gold[edge] = BETTER if (turn > 0) == (first == subject) else WORSE
        if spans[3]:
            predicates[edge] = spans[3][0], spans[3][-1] + 1
    mentions = [Mention(*place) for place in places]
    if not any(mention.kind == ENTITY for mention in mentions):
        return None
    names = [" ".join(words[m.start : m.end]).lower() for m in mentions]
    return _Raw(words, " ".join(words), mentions, names, gold, group, "camera", predicates)


def products(options: RecipeOptions, names: Iterable[str] = PRODUCTS) -> list[_Raw]:
    """Sentences that name an aspect of a product; what is not labelled is `other`. The product is the context."""
    found = []
    for name in names:
        path = options.find(FOLDER.format(name))
        rows = [line.partition("##") for line in path.read_text(encoding="latin-1").splitlines() if "##" in line]
        labelled = [(_labels(left), text.split()) for left, _, text in rows]
        known = {aspect for labels, _ in labelled for aspect in labels}
        for number, (labels, words) in enumerate(labelled):
            if words:
                found += _product(words, labels, known, Path(name).stem, number)
    return found


def _labels(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for aspect, marks in _LABEL.findall(text):
        signs = re.findall(r"\[([+-])", marks)
        if signs:
            found[aspect.strip().lower()] = POSITIVE if signs[0] == "+" else NEGATIVE
    return found


def _product(words: list[str], labels: dict[str, int], known: set[str], product: str, number: int) -> list[_Raw]:
    lower = [word.lower() for word in words]
    mentions, names, gold = [], [], {}
    taken: set[int] = set()
    present = set(lower)
    others = (aspect for aspect in known - set(labels) if present.issuperset(aspect.split()))
    wanted = [*labels, *sorted(others, key=lambda aspect: (-len(aspect), aspect))]
    for aspect in wanted:
        place = _find(lower, aspect.split(), taken, aspect in labels)
        if place is None and aspect not in labels:
            continue
        if place is not None:
            taken |= set(range(*place))
        mentions.append(Mention(*(place or (-1, -1)), ASPECT))
        names.append(aspect)
    entity = len(mentions)
    for k, name in enumerate(names):
        if name in labels:
            gold[Edge(entity, aspect=k)] = labels[name]
    if not mentions:
        return []
    return [_Raw(words, " ".join(words), mentions, names, gold, f"{product} {number // 40}", product, {})]


def _find(words: Sequence[str], aspect: Sequence[str], taken: set[int], loose: bool) -> tuple[int, int] | None:
    """Where an aspect stands: all its words, or (loose) its last one."""
    n = len(aspect)
    for start in range(len(words) - n + 1):
        if list(words[start : start + n]) == list(aspect) and not taken & set(range(start, start + n)):
            return start, start + n
    stem = aspect[-1].rstrip("s") if loose and aspect else ""
    for place, word in enumerate(words):
        if len(stem) > 2 and word.startswith(stem) and len(word) < len(stem) + 3 and place not in taken:
            return place, place + 1
    return None


def restaurants(options: RecipeOptions) -> list[_Raw]:
    """Sentences with aspect terms; neutral and mixed ones are `other`."""
    with gzip.open(options.find(RESTAURANTS)) as file:
        root = ElementTree.parse(file).getroot()
    found = []
    for number, node in enumerate(root.iter("sentence")):
        text = node.findtext("text") or ""
        tokens = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        mentions, names, gold = [], [], {}
        for term in node.iter("aspectTerm"):
            low, high = int(term.get("from", 0)), int(term.get("to", 0))
            inside = [k for k, (start, end) in enumerate(tokens) if start < high and end > low]
            if not inside:
                continue
            mentions.append(Mention(inside[0], inside[-1] + 1, ASPECT))
            names.append(f"{term.get('term', '').lower()} {low}")
        entity = len(mentions)
        for k, term in enumerate(node.iter("aspectTerm")):
            if k < entity and term.get("polarity") in ("positive", "negative"):
                gold[Edge(entity, aspect=k)] = POSITIVE if term.get("polarity") == "positive" else NEGATIVE
        if mentions:
            words = [text[start:end] for start, end in tokens]
            found.append(_Raw(words, text, mentions, names, gold, f"r{number // 20}", "restaurants", {}))
    return found


def parsed(raws: Sequence[_Raw], nlp: Pipeline | None = None) -> list[Item]:
    """Sentences with lemmas, tags and trees of the English model, and constituents that the trees imply."""
    nlp = nlp or weft.load("en")
    docs = [Doc.from_words([raw.words]) for raw in raws]
    for component in nlp.components:
        if {"upos", "lemma", "head"} & set(component.provides):
            for start in range(0, len(docs), 500):
                component(docs[start : start + 500])
    return [
        Item(from_words(doc, raw.mentions, raw.gold, raw.names), raw.text, raw.group, raw.corpus, raw.predicates)
        for doc, raw in zip(docs, raws, strict=True)
    ]
