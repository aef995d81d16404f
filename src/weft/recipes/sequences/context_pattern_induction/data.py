"""Data for growing lists in context-pattern-induction: novels, news, annotated text, and a planted corpus.

The planted corpus has names of three classes in sentences generated from templates: some templates belong to one class,
others are shared by all classes and by capitalized words that are not names. So the class of every name is known.
"""

from __future__ import annotations

import gzip
import random
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from weft.lexical.growth.files import read_names
from weft.recipes.framework import RecipeOptions
from weft.text.doc import Doc

NOVELS = "raw/litbank-novels.txt.tar.gz"
NOVEL_ENTITIES = "ner/litbank-nested/entities.tsv.tar.gz"
TIMEML = (
    "time/tempeval3-silver-sample/silver500.tml.tar.gz",
    "time/tempeval3-timebank/TimeBank.tml.tar.gz",
    "time/tempeval3-aquaint/AQUAINT.tml.tar.gz",
)
ONE_STOP = "coherence/onestopenglish/texts.tar.gz"
CROWD = "keywords/500N-KPCrowd-v1.1/500N-KPCrowd-v1.1.zip"
ECB = tuple(f"coref/ecb-plus/{part}.corpus.txt.gz" for part in ("train", "dev", "test"))
PEOPLE = ("lexicons/names/male.txt", "lexicons/names/female.txt")
PLACES = tuple(f"lexicons/gazetteers/{name}.txt" for name in ("countries", "uscities", "usstates"))
LITBANK_CLASSES = {"PER": "PER", "GPE": "LOC", "LOC": "LOC"}


@dataclass(frozen=True)
class Planted:
    """A planted corpus: its documents, and all names of every class in it."""

    docs: list[Doc]
    names: dict[str, list[str]]


def planted(sentences: int, seed: int = 0, templates: int = 40, shared: float = 0.2, names: int = 300) -> Planted:
    """Sentences of three classes from the given number of templates, a fraction of which all classes share.

    >>> corpus = planted(200, seed=1)
    >>> sorted(corpus.names), len(corpus.docs)
    (['animal', 'mineral', 'vegetable'], 10)
    """
    rng = random.Random(seed)
    words = _new_words(rng, 5 * templates + 200 + 6 * names)
    fillers, rights = words[:60], words[60:66]
    words = words[66:]
    classes = ("animal", "mineral", "vegetable")
    frames = [_frame(rng, words[5 * i : 5 * i + 3], fillers, rights) for i in range(templates)]
    common = frames[: round(shared * templates)]
    own = {c: frames[len(common) + i :: len(classes)] for i, c in enumerate(classes)}
    stock = [word.capitalize() for word in words[5 * templates :]]
    all_names = {
        c: [f"{stock[6 * j + 2 * i]} {stock[6 * j + 2 * i + 1]}" for j in range(names)] for i, c in enumerate(classes)
    }
    used: dict[str, set[str]] = {c: set() for c in classes}
    made: list[list[str]] = []
    for _ in range(sentences):
        c = rng.choice(classes)
        noisy = rng.random() < shared
        frame = rng.choice(common if noisy else own[c])
        if noisy and rng.random() < 0.3:
            name = rng.choice(fillers).capitalize()
        else:
            name = rng.choice(all_names[c])
            used[c].add(name)
        made.append(frame.replace("@", name).split())
    docs = [Doc.from_words(made[i : i + 20]) for i in range(0, len(made), 20)]
    return Planted(docs, {c: sorted(found) for c, found in used.items()})


def _new_words(rng: random.Random, n: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < n:
        found["".join(rng.choice("bdfgklmnprstv") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))] = None
    return list(found)


def _frame(rng: random.Random, own: list[str], fillers: list[str], rights: list[str]) -> str:
    """Common words, words specific to the template, the slot, a boundary, common words."""
    before = " ".join(rng.sample(fillers, rng.randint(1, 4)))
    behind = " ".join(rng.sample(fillers, rng.randint(0, 3)))
    return f"{before} {' '.join(own[: rng.randint(1, 3)])} @ {rng.choice(rights)} {behind} ."


def novels(options: RecipeOptions, limit: int | None = None) -> Iterator[Doc]:
    """The novels, one document each."""
    for number, (name, text) in enumerate(_members(options.find(NOVELS), ".txt")):
        if limit is not None and number >= limit:
            return
        yield Doc(text, meta={"id": name})


def news(options: RecipeOptions) -> Iterator[Doc]:
    """About 0.7 million words of news from corpora made for other purposes, without their annotation."""
    for path in TIMEML:
        for _, text in _members(options.find(path), ".tml"):
            start, end = text.find("<TEXT>") + len("<TEXT>"), text.rfind("</TEXT>")
            yield Doc(re.sub(r"<[^<>]+>", "", text[start:end] if len("<TEXT>") <= start <= end else text))
    for name, text in _members(options.find(ONE_STOP), ".txt"):
        if name.startswith("Adv-Txt/"):  # the other levels repeat the articles
            yield Doc(text)
    with zipfile.ZipFile(options.find(CROWD)) as archive:
        for name in sorted(archive.namelist()):
            if "/docsutf8/" in name and name.endswith(".txt"):
                yield Doc(archive.read(name).decode("utf-8", "replace"))
    for path in ECB:
        with gzip.open(options.find(path), "rt", encoding="utf-8") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
            for _, document in groupby((row for row in rows if len(row) >= 4), key=lambda row: row[0]):
                sentences = [[row[3] for row in sentence] for _, sentence in groupby(document, key=lambda row: row[1])]
                yield Doc.from_words(sentences)


def name_lists(options: RecipeOptions) -> dict[str, list[str]]:
    """First names and places from word lists; names that are both are excluded."""
    lists = {
        "PER": {name for path in PEOPLE for name in _names(options.find(path))},
        "LOC": {name for path in PLACES for name in _names(options.find(path))},
    }
    both = lists["PER"] & lists["LOC"]
    return {label: sorted(names - both) for label, names in lists.items()}


def novel_names(options: RecipeOptions) -> dict[str, set[str]]:
    """Names annotated in the openings of the novels, by class: those that begin and end with a capitalized word."""
    found: dict[str, set[str]] = {"PER": set(), "LOC": set()}
    for _, text in _members(options.find(NOVEL_ENTITIES), ".tsv"):
        for sentence in text.split("\n\n"):
            rows = [line.split("\t") for line in sentence.splitlines() if line]
            for level in range(1, min((len(row) for row in rows), default=0)):
                for label, words in _spans([(row[0], row[level]) for row in rows]):
                    if label in LITBANK_CLASSES and words[0][:1].isupper() and words[-1][:1].isupper():
                        found[LITBANK_CLASSES[label]].add(" ".join(words))
    return found


def _spans(rows: list[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    words: list[str] = []
    label = ""
    for word, tag in [*rows, ("", "O")]:
        if words and not tag.startswith("I-"):
            yield label, words
            words = []
        if tag.startswith("B-"):
            label, words = tag[2:], [word]
        elif tag.startswith("I-") and words:
            words.append(word)


def _names(path: Path) -> list[str]:
    return [name.strip() for name in read_names(path)]


def _members(path: Path, suffix: str) -> Iterator[tuple[str, str]]:
    """The text files in a tar file, in order."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(suffix) else None
            if file is not None:
                yield member.name, file.read().decode("utf-8", "replace")
