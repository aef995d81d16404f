"""Writes small databases of nouns in the layout of WordNet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

LICENCE = "  1 WordNet 3.0 Copyright 2006 by nobody: a small database of the same layout\n"
#: Nouns: name of the synset, names of those above it, number of its file, words. Enough for Weft's own fillers.
NOUNS = (
    ("entity", (), 3, ("entity",)),
    ("object", ("entity",), 3, ("object", "physical_object")),
    ("matter", ("entity",), 3, ("matter",)),
    ("abstraction", ("entity",), 3, ("abstraction",)),
    ("person", ("object",), 3, ("person", "somebody")),
    ("animal", ("object",), 3, ("animal",)),
    ("people", ("abstraction",), 14, ("people",)),
    ("group", ("abstraction",), 14, ("social_group",)),
    ("organization", ("group",), 14, ("organization",)),
    ("district", ("object",), 15, ("district",)),
    ("communication", ("abstraction",), 3, ("communication",)),
    ("food", ("matter",), 13, ("food",)),
    ("gardener", ("person",), 18, ("gardener",)),
    ("minister", ("person",), 18, ("minister",)),
    ("politician", ("person",), 18, ("politician",)),
    ("judge", ("person",), 18, ("judge",)),
    ("hedge", ("object",), 20, ("hedge",)),
    ("hedge2", ("communication",), 10, ("hedge",)),
    ("law", ("communication",), 10, ("law",)),
    ("law2", ("organization",), 14, ("law",)),
    ("fee", ("abstraction",), 21, ("fee",)),
    ("bag", ("object",), 6, ("bag",)),
    ("farm", ("object",), 6, ("farm",)),
    ("dairy farm", ("farm",), 6, ("dairy_farm",)),
    ("tea", ("food",), 13, ("tea",)),
    ("rumour", ("communication",), 10, ("rumour", "rumor")),
    ("company", ("organization",), 14, ("company",)),
    ("town", ("district",), 15, ("town",)),
    ("advice", ("communication",), 10, ("advice",)),
)
#: The types of those nouns, as a table.
TYPES = """# The types of the small database.
abstract\tabstraction%1:03:00:: !concrete
animate\tanimal%1:03:00:: people%1:14:00:: person%1:03:00::
comestible\tfood%1:13:00::
communication\tcommunication%1:03:00::
concrete\tobject%1:03:00:: matter%1:03:00::
int_control\t=animate =organization
organization\tsocial_group%1:14:00:: district%1:15:00::
plural\t*
"""


def write_wordnet(folder: Path, nouns: Sequence[tuple[str, tuple[str, ...], int, tuple[str, ...]]] = NOUNS) -> Path:
    """Write a database of nouns; the other parts of speech are empty. Glosses are the names of the synsets."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[tuple[str, int], int] = {}
    templates = []
    for name, above, file, words in nouns:
        cells = []
        for word in words:
            number = numbers[word, file] = numbers.get((word, file), -1) + 1
            cells.append(f"{word} {number:x}")
        pointers = " ".join(f"@ {{{parent}}} n 0000" for parent in above)
        templates.append(
            (name, f"{file:02d} n {len(words):02x} {' '.join(cells)} {len(above):03d} {pointers}".rstrip())
        )
    places, at = {}, len(LICENCE)
    for name, template in templates:
        places[name] = f"{at:08d}"
        at += 9 + len(_filled(template, dict.fromkeys((each[0] for each in nouns), "0" * 8))) + len(f" | {name}  \n")
    lines = [f"{places[name]} {_filled(template, places)} | {name}  \n" for name, template in templates]
    (folder / "data.noun").write_text(LICENCE + "".join(lines))
    index: dict[str, list[str]] = {}
    for name, _, _, words in nouns:
        for word in words:
            index.setdefault(word.lower(), []).append(places[name])
    entries = [f"{word} n {len(own)} 1 @ {len(own)} 0 {' '.join(own)}  \n" for word, own in sorted(index.items())]
    (folder / "index.noun").write_text(LICENCE + "".join(entries))
    for part in ("verb", "adj", "adv"):
        for kind in ("data", "index"):
            (folder / f"{kind}.{part}").write_text(LICENCE)
    return folder


def _filled(template: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        template = template.replace(f"{{{name}}}", place)
    return template
