"""Synonyms and the verbs behind nouns, from a small network."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_wordnet import LICENCE

from weft.lexical.relatives import Relatives
from weft.lexical.resources.synsets import Database, open_wordnet

#: Verbs and nouns: words, then pointers as symbol, synset, and the words that are joined.
ROWS = {
    "verb": [("raze", "demolish"), ("wed",), ("wedge",)],
    "noun": [("demolition", "razing"), ("razor",), ("wedding",), ("sea",), ("wedge",)],
}
#: Noun synset, word of it, verb synset, word of it.
DERIVED = [(0, 1, 0, 2), (0, 2, 0, 1), (2, 1, 1, 1), (4, 1, 2, 1)]


@pytest.fixture
def net(tmp_path: Path) -> Database:
    places: dict[str, list[int]] = {}
    for part, rows in ROWS.items():
        own = {k: [each for each in DERIVED if each[0] == k] if part == "noun" else [] for k in range(len(rows))}
        lines, at = [], len(LICENCE)
        places[part] = []
        for k, words in enumerate(rows):
            cells = " ".join(f"{word} 0" for word in words)
            pointers = " ".join(f"+ {places['verb'][v]:08d} v {a:02x}{b:02x}" for _, a, v, b in own[k])
            line = f"{at:08d} 03 {part[0]} {len(words):02x} {cells} {len(own[k]):03d} {pointers} | gloss\n"
            places[part].append(at)
            lines.append(line)
            at += len(line)
        (tmp_path / f"data.{part}").write_text(LICENCE + "".join(lines))
        entries = sorted((word, place) for words, place in zip(rows, places[part], strict=True) for word in words)
        index = [f"{word} {part[0]} 1 0 1 0 {place:08d}  \n" for word, place in entries]
        (tmp_path / f"index.{part}").write_text(LICENCE + "".join(index))
    for part in ("adj", "adv"):
        for kind in ("data", "index"):
            (tmp_path / f"{kind}.{part}").write_text(LICENCE)
    return open_wordnet(tmp_path)


def test_nouns_have_the_verbs_that_they_are_derived_from_and_their_synonyms(net: Database) -> None:
    relatives = Relatives.of(net, ["Demolition", "wedding", "sea", "nowhere"])
    assert dict(relatives.verb) == {"demolition": "demolish", "demolish": "demolish", "wedding": "wed", "wed": "wed"}
    synonyms = {word for word, synset in relatives.synset.items() if synset == relatives.synset["demolition"]}
    assert synonyms == {"raze", "demolish", "demolition", "razing"}
    assert set(relatives.synset) - synonyms == {
        "wedding",
        "wed",
        "sea",
    }  # razor and wedge are of no lemma that was asked for


def test_lines_give_the_same_again(net: Database) -> None:
    relatives = Relatives.of(net, ["demolition", "wedding", "sea"])
    again = Relatives.from_lines(list(relatives.lines()))
    assert dict(again.synset) == dict(relatives.synset)
    assert dict(again.verb) == dict(relatives.verb)
