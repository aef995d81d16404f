"""IsA pairs of a small WordNet database: near hypernyms of early senses count most."""

from __future__ import annotations

import pytest

import weft
from weft.errors import DataError
from weft.lexical.harvest.wordnet_isa import is_hypernym, wordnet_isa
from weft.lexical.resources.synsets import open_wordnet
from weft.tasks.metaphor.detector import MetaphorDetector, MetaphorSettings

LICENCE = "  1 WordNet 3.0 Copyright 2006 by somebody\n"
#: Synsets by number: words, and the number of the hypernym.
NOUNS = [
    (["entity"], None),
    (["animal"], 0),
    (["horse"], 1),
    (["pony"], 2),
    (["frame"], 0),
    (["horse"], 4),  # the second sense: a gymnast's
    (["car"], 7),
    (["vehicle"], 0),
]


@pytest.fixture
def folder(tmp_path):
    numbers, at = [], len(LICENCE)
    lines = []
    for words, above in NOUNS:
        pointer = "000" if above is None else f"001 @ {numbers[above] if above < len(numbers) else '{later}'} n 0000"
        listed = " ".join(f"{word} 0" for word in words)
        lines.append(f"05 n {len(words):02d} {listed} {pointer} | gloss  \n")
        numbers.append(f"{at:08d}")
        at += 9 + len(lines[-1].replace("{later}", "00000000"))
    text = "".join(f"{number} {line.format(later=numbers[7])}" for number, line in zip(numbers, lines, strict=True))
    (tmp_path / "data.noun").write_text(LICENCE + text)
    index: dict[str, list[str]] = {}
    for number, (words, _) in zip(numbers, NOUNS, strict=True):
        for word in words:
            index.setdefault(word, []).append(number)
    entries = [f"{w} n {len(p)} 1 @ {len(p)} 0 {' '.join(p)}  \n" for w, p in sorted(index.items())]
    (tmp_path / "index.noun").write_text(LICENCE + "".join(entries))
    for name in ("verb", "adj", "adv"):
        for kind in ("data", "index"):
            (tmp_path / f"{kind}.{name}").write_text(LICENCE)
    return tmp_path


def test_first_senses_and_near_hypernyms_count_most(folder):
    database = open_wordnet(folder)
    found = list(wordnet_isa(database, ["pony", "horse", "unheard"], senses=2, levels=3))
    assert found == [
        ("pony", "horse", 2 * 3),
        ("pony", "animal", 2 * 2),
        ("horse", "animal", 2 * 3),
        ("horse", "frame", 1 * 3),
    ]
    assert list(wordnet_isa(database, ["pony"], levels=1)) == [("pony", "horse", 3)]


def test_hypernyms_are_told_from_other_words_and_unknown_ones(folder):
    database = open_wordnet(folder)
    assert is_hypernym(database, "pony", "animal") is True
    assert is_hypernym(database, "pony", "pony") is True
    assert is_hypernym(database, "pony", "car") is False
    assert is_hypernym(database, "pony", "unheard") is None
    assert is_hypernym(database, "unheard", "animal") is None


def test_a_detector_takes_hypernyms_where_text_has_none(folder):
    nlp = weft.load("en")
    docs = list(nlp.pipe(["The pony is like a prince."]))
    detector = MetaphorDetector(MetaphorSettings(wordnet=str(folder)))
    detector.fit(docs)
    assert detector.reader is not None
    assert detector.reader.knowledge.shared_concept("pony", "prince") == "horse"
    with pytest.raises(DataError, match="name the folder of a WordNet database"):
        MetaphorDetector(MetaphorSettings(wordnet=str(folder / "nowhere"))).fit(docs)
