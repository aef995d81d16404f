"""The ACL Anthology to 2014 with the citations of AAN: papers, people, venues and links from 1965 to 2012.

Names of papers differ: `D10-1.1` is AAN's `D10-1001`, and `W04-03.11` is `W04-0311`. Explicit ids of people are kept as
gold and cut from the names. There are no institutions. The venue of a paper is the series of its volume, for workshops
the volume itself; joint meetings have two.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

from weft.tasks.bibliographies.papers import Paper

PAPERS = "scholarly/acl-anthology-to-2014/papers.tsv.gz"
LINKS = "scholarly/aan-citations/acl.txt.gz"
SERIES = {
    "A": "ANLP", "C": "COLING", "D": "EMNLP", "E": "EACL", "F": "TALN", "H": "HLT", "I": "IJCNLP", "J": "CL",
    "K": "CoNLL", "L": "LREC", "M": "MUC", "N": "NAACL", "O": "ROCLING", "P": "ACL", "Q": "TACL", "R": "RANLP",
    "S": "SemEval", "T": "TINLAP", "U": "ALTA", "X": "TIPSTER", "Y": "PACLIC",
}  # fmt: skip
#: Volumes of joint meetings, with the second series.
JOINT = {
    "P06": "COLING", "P08": "HLT", "P09": "IJCNLP", "P98": "COLING", "C98": "ACL", "H05": "EMNLP", "D07": "CoNLL",
    "D12": "CoNLL", "N03": "HLT", "N04": "HLT", "N06": "HLT", "N07": "HLT", "N09": "HLT", "N10": "HLT", "N12": "HLT",
}  # fmt: skip
_OLD = re.compile(r"([A-Z])(\d\d)-(\d+)\.(\d+)$")


@dataclass(frozen=True)
class Anthology:
    """Papers with citations, and the explicit ids of their authors ("" without one), in the order of authors."""

    papers: list[Paper]
    people: dict[str, tuple[str, ...]]


def read_anthology(papers: Path, links: Path, cited_only: bool = True) -> Anthology:
    """The papers that have a link, or all; self-citations and links to later years are dropped."""
    rows: dict[str, tuple[str, int, str, list[str], list[str]]] = {}
    with gzip.open(papers, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            given, when, title, authors = line.rstrip("\n").split("\t")
            names, ids = [], []
            for author in filter(None, (part.strip() for part in authors.split(";"))):
                name, _, own = author.partition("#")
                names.append(name.strip())
                ids.append(own)
            rows[_joined(given)] = (given, int(when), title, names, ids)
    cites: dict[str, list[str]] = {}
    with gzip.open(links, "rt", encoding="utf-8") as file:
        for line in file:
            citing, _, cited = (part.strip() for part in line.partition(","))
            if citing in rows and cited in rows and citing != cited and rows[cited][1] <= rows[citing][1]:
                cites.setdefault(citing, []).append(cited)
    linked = set(cites) | {cited for own in cites.values() for cited in own}
    found, people = [], {}
    for name, (given, year, title, names, ids) in rows.items():
        if name in linked or not cited_only:
            cited_ones = tuple(dict.fromkeys(cites.get(name, ())))
            found.append(Paper(name, title, year, venues_of(given), tuple(names), (), cited_ones))
            people[name] = tuple(ids)
    return Anthology(found, people)


def _joined(given: str) -> str:
    """AAN's name of a paper.

    >>> _joined("D10-1.1"), _joined("W04-03.11"), _joined("2004.tmi-1.3")
    ('D10-1001', 'W04-0311', '2004.tmi-1.3')
    """
    old = _OLD.match(given)
    if old is None:
        return given
    letter, year, volume, number = old.groups()
    return f"{letter}{year}-{volume:0>2}{number:0>2}" if letter == "W" else f"{letter}{year}-{volume}{number:0>3}"


def venues_of(given: str) -> tuple[str, ...]:
    """The venues of a paper, by its name in the Anthology.

    >>> venues_of("P06-1.1"), venues_of("W04-03.11"), venues_of("2004.tmi-1.3")
    (('ACL', 'COLING'), ('W04-03',), ('tmi',))
    """
    old = _OLD.match(given)
    if old is None:
        return (given.split("-")[0].split(".", 1)[-1],)
    letter, year, volume, _ = old.groups()
    if letter == "W":
        return (f"W{year}-{volume}",)
    second = JOINT.get(letter + year)
    return (SERIES[letter], second) if second else (SERIES[letter],)
