"""WordNet as a part of a semantic network: synsets, relations, glosses, sense keys, and names in other languages.

Every synset is a vertex; nouns have names. All pointers become edges, those of single words too, and so do words of
glosses whose readings are clear (`weft.lexical.network.glosses`).

    data.*, index.*         the Princeton database, releases 3.0 and 3.1 (`weft.lexical.resources.synsets`)
    *.xml                   WN-LMF, the format of the Open English WordNet
    wn-data-fra.tab         Open Multilingual WordNet: lemmas in other languages by the offsets of WordNet 3.0
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from weft.errors import ConfigError, DataError, FormatError
from weft.graph.triples import opened
from weft.lexical.network.glosses import GLOSSES, add_glosses
from weft.lexical.network.network import NetworkBuilder
from weft.lexical.resources.synsets import INSTANCE, Database, Synset, open_wordnet

_PARTS = ("noun", "verb", "adj", "adv")
_OFFSET = re.compile(r"(\d{8})-([nvars])")
#: How WN-LMF of the Open English WordNet writes sense keys as ids.
_ESCAPES = {
    "-ap-": "'", "-sl-": "/", "-ex-": "!", "-cm-": ",", "-cn-": ":", "-pl-": "+", "-lb-": "(", "-rb-": ")",
    "-sp-": "_",
}  # fmt: skip


class Added(NamedTuple):
    """What was added to a network: the vertices by part of speech and offset, and the instances (named entities)."""

    vertices: dict[tuple[str, int], str]
    instances: set[str]


def add_wordnet(
    builder: NetworkBuilder, folder: str | os.PathLike[str] | None = None, glosses: str = "linked", workers: int = 1
) -> Added:
    """Add the WordNet of a folder, or of this machine; a file in WN-LMF is read too."""
    if glosses not in GLOSSES:
        raise ConfigError(f"words of glosses are {', '.join(GLOSSES)}, not {glosses!r}")
    if folder is not None and Path(folder).is_file():
        return _add_lmf(builder, os.fspath(folder), glosses, workers)
    database = open_wordnet(folder)
    synsets = list(every_synset(database))
    ids = {_place(synset): _id(database, synset) for synset in synsets}
    instances = {ids[_place(synset)] for synset in synsets if _is_instance(synset)}
    ranks = _ranks(database)
    for synset in synsets:
        id = ids[_place(synset)]
        builder.vertex(id, synset.lemmas[0], synset.gloss, entity=id in instances)
    for _, lemma, offset in ranks:
        synset = database.synset("n", offset)
        for number, (word, _) in enumerate(synset.words):
            if word.lower() == lemma:
                builder.name(ids["n", offset], word.replace("_", " "), "en", database.key(synset, number))
    for synset in synsets:
        for pointer in synset.pointers:
            target = ids.get(("a" if pointer.pos == "s" else pointer.pos, pointer.offset))
            if target is not None:
                builder.edge(ids[_place(synset)], target, pointer.symbol, both=True)
    if glosses != "none":
        add_glosses(builder, [(ids[_place(synset)], synset.gloss) for synset in synsets], glosses, workers)
    return Added(ids, instances)


def every_synset(database: Database) -> Iterator[Synset]:
    """All synsets of a database, by part of speech and offset."""
    for name, pos in zip(_PARTS, "nvar", strict=True):
        with (database.folder / f"data.{name}").open("rb") as lines:
            offset = 0
            for line in lines:
                if not line.startswith(b" "):  # the licence
                    yield database.synset(pos, offset)
                offset += len(line)


def add_names(builder: NetworkBuilder, path: str | os.PathLike[str], added: Added, language: str = "") -> int:
    """Add the names of a file of the Open Multilingual WordNet, and say how many; its offsets are those of 3.0."""
    count, known = 0, language
    with opened(os.fspath(path)) as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\n").split("\t")
            if line.startswith("#") and len(cells) >= 2:
                known = language or cells[1].strip()
                continue
            if not line.strip():
                continue
            match = _OFFSET.fullmatch(cells[0])
            if match is None or len(cells) < 3:
                raise FormatError(os.fspath(path), number, "offset-pos, type and lemma, separated by tabs", line[:80])
            kind = cells[1].rpartition(":")[2]
            if kind == "lemma" and match[2] == "n":
                vertex = added.vertices.get(("n", int(match[1])))
                if vertex is not None:
                    builder.name(vertex, cells[-1].replace("_", " "), known or "und")
                    count += 1
    if not count:
        raise DataError(f"{path} has no nouns of the synsets of this WordNet; its offsets must be those of WordNet 3.0")
    return count


def _ranks(database: Database) -> list[tuple[int, str, int]]:
    """Nouns and their synsets, most frequent synset of a noun first."""
    found = []
    with (database.folder / "index.noun").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            cells = line.split()
            if not line.startswith(" ") and len(cells) > 5:
                offsets = cells[len(cells) - int(cells[2]) :]
                found += [(rank, cells[0], int(offset)) for rank, offset in enumerate(offsets)]
    return sorted(found, key=lambda row: (row[1], row[0]))


def _place(synset: Synset) -> tuple[str, int]:
    return ("a" if synset.pos == "s" else synset.pos, synset.offset)


def _id(database: Database, synset: Synset) -> str:
    return database.key(synset)


def _is_instance(synset: Synset) -> bool:
    return any(pointer.symbol == INSTANCE for pointer in synset.pointers)


def _add_lmf(builder: NetworkBuilder, path: str, glosses: str, workers: int) -> Added:
    """Add the lexicons of a file in WN-LMF."""
    lmf = _Lmf(path)
    keyed: dict[str, str] = {}
    for _, _, _, synset, key in lmf.senses:
        keyed.setdefault(synset, key)
    instances = {keyed[s] for s, kind, _ in lmf.relations if kind == "instance_hypernym" and s in keyed}
    first = {synset: lemma for lemma, _, _, synset, _ in reversed(lmf.senses)}
    for synset, gloss in lmf.glosses.items():
        if synset in keyed:
            builder.vertex(keyed[synset], first[synset], gloss, entity=keyed[synset] in instances)
    for lemma, pos, language, synset, key in lmf.senses:
        if pos == "n" and synset in lmf.glosses:
            builder.name(keyed[synset], lemma, language, key)
    for source, kind, target in lmf.relations:
        if source in keyed and target in keyed:
            builder.edge(keyed[source], keyed[target], kind)
    if glosses != "none":
        own = [(keyed[synset], gloss) for synset, gloss in lmf.glosses.items() if synset in keyed]
        add_glosses(builder, own, glosses, workers)
    return Added({}, instances)


class _Lmf:
    """Senses, definitions and relations of a WN-LMF file."""

    def __init__(self, path: str) -> None:
        self.senses: list[tuple[str, str, str, str, str]] = []  # lemma, part of speech, language, synset, key
        self.glosses: dict[str, str] = {}
        self.relations: list[tuple[str, str, str]] = []
        self._of_sense: dict[str, str] = {}
        self._language, self._lemma, self._pos, self._synset, self._sense = "en", "", "", "", ""
        self._text: list[str] | None = None
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = _refuse
        try:
            with opened(path) as file:
                while block := file.read(1 << 16):
                    parser.Parse(block, False)
            parser.Parse("", True)
        except (expat.ExpatError, KeyError) as error:
            line = parser.CurrentLineNumber
            raise FormatError(path, line, "a lexicon in WN-LMF", str(error)) from None
        self.relations = [
            (self._of_sense.get(source, source), kind, self._of_sense.get(target, target))
            for source, kind, target in self.relations
        ]
        if not self.senses:
            raise FormatError(path, None, "a lexicon in WN-LMF with senses", "none")

    def _start(self, tag: str, has: dict[str, str]) -> None:
        if tag == "Lexicon":
            self._language = has.get("language", "en")
        elif tag == "Lemma":
            self._lemma, self._pos = has["writtenForm"], has["partOfSpeech"]
        elif tag == "Sense":
            self._sense = has["id"]
            self._of_sense[self._sense] = has["synset"]
            key = has.get("dc:identifier") or _key_of(self._sense)
            self.senses.append((self._lemma, self._pos, self._language, has["synset"], key))
        elif tag == "Synset":
            self._synset = has["id"]
            self.glosses[self._synset] = ""
        elif tag == "Definition":
            self._text = []
        elif tag == "SynsetRelation":
            self.relations.append((self._synset, has["relType"], has["target"]))
        elif tag == "SenseRelation":
            self.relations.append((self._sense, has["relType"], has["target"]))

    def _end(self, tag: str) -> None:
        if tag == "Definition" and self._text is not None:
            self.glosses[self._synset] = self.glosses[self._synset] or " ".join("".join(self._text).split())
            self._text = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)


def _refuse(*given: object) -> None:
    raise expat.ExpatError("entities are not allowed")


def _key_of(id: str) -> str:
    """The sense key in an id of the Open English WordNet; other ids stay as they are.

    >>> _key_of("oewn-dog__1.05.00.."), _key_of("oewn-o-ap-clock__4.02.00..")
    ('dog%1:05:00::', "o'clock%4:02:00::")
    """
    lemma, sign, rest = id.removeprefix("oewn-").rpartition("__")
    if not sign:
        return id
    for short, letter in _ESCAPES.items():
        lemma = lemma.replace(short, letter)
    return f"{lemma}%{rest.replace('.', ':')}"
