"""WordNet's synsets: binary search, sense keys, relations, versions."""

from __future__ import annotations

import pytest

from weft.errors import DataError
from weft.lexical.resources.synsets import open_wordnet
from weft.lexical.wordnet import find_wordnet

LICENCE = "  1 WordNet 3.0 Copyright 2006 by somebody\n  2 more of it\n"


def database(folder, licence: str = LICENCE):
    """A database of three nouns and two adjectives."""
    rows = {
        "noun": [
            ("03 n 01 entity 0 001 ~ {1} n 0000 | all there is", ["entity"]),
            ("05 n 02 dog 0 Canis_familiaris 0 001 @ {0} n 0000 | barks", ["dog", "canis_familiaris"]),
            ("05 n 01 dog 1 002 @ {0} n 0000 ! {1} n 0101 | hot", ["dog"]),
        ],
        "adj": [
            ("00 a 01 many(a) 0 001 & {1} a 0000 | lots", ["many"]),
            ("00 s 01 galore(ip) 0 001 & {0} a 0000 | plenty", ["galore"]),
        ],
        "verb": [],
        "adv": [],
    }
    for name, lines in rows.items():
        places, at = [], len(licence)
        for line, _ in lines:
            places.append(at)
            at += len(f"00000000 {line.format(*['00000000'] * 3)}  \n")
        numbers = [f"{place:08d}" for place in places]
        text = "".join(f"{numbers[k]} {line.format(*numbers, *[''] * 3)}  \n" for k, (line, _) in enumerate(lines))
        (folder / f"data.{name}").write_text(licence + text)
        index: dict[str, list[str]] = {}
        for number, (_, words) in zip(numbers, lines, strict=True):
            for word in words:
                index.setdefault(word, []).append(number)
        entries = [f"{w} {name[0]} {len(p)} 1 @ {len(p)} 0 {' '.join(p)}  \n" for w, p in sorted(index.items())]
        (folder / f"index.{name}").write_text(licence + "".join(entries))
    return folder


def test_words_are_found_with_their_synsets_in_order(tmp_path):
    net = open_wordnet(database(tmp_path), version="3.0")
    assert [synset.gloss for synset in net.synsets("dog")] == ["barks", "hot"]
    assert net.synsets("Canis familiaris")[0].lemmas == ["dog", "Canis familiaris"]
    assert net.synsets("cat") == net.synsets("dog", "v") == net.synsets("") == []
    assert [synset.lemmas for synset in net.above(net.synsets("dog")[0])] == [["entity"]]
    assert net.related(net.synsets("dog")[1], "!") == []  # a relation of words, not of synsets


def test_sense_keys_are_built_and_found_without_an_index_of_senses(tmp_path):
    net = open_wordnet(database(tmp_path))
    barks, hot = net.synsets("dog")
    assert [net.key(barks, 0), net.key(barks, 1), net.key(hot)] == [
        "dog%1:05:00::", "canis_familiaris%1:05:00::", "dog%1:05:01::",
    ]  # fmt: skip
    assert net.key(net.synsets("galore")[0]) == "galore%5:00:00:many:00"
    assert net.sense("galore%5:00:00:many:00") == net.synsets("galore")[0]
    assert net.sense("dog%1:05:01::") == hot
    assert net.sense("dog%1:05:09::") is None
    with pytest.raises(DataError, match="'dog' is no sense key"):
        net.sense("dog")


def test_other_releases_and_damaged_files_are_refused(tmp_path):
    folder = database(tmp_path)
    with pytest.raises(DataError, match=r"data\.noun, line 1: this is WordNet 3\.0, but version 3\.1 is asked for"):
        open_wordnet(folder, version="3.1")
    net = open_wordnet(folder)
    with pytest.raises(DataError, match=r"data\.noun, line 3: no synset at byte 75|data\.noun, line \d+: no synset"):
        net.synset("n", net.synsets("entity")[0].offset + 7)
    (folder / "data.adv").unlink()
    with pytest.raises(DataError, match=r"no file data\.adv"):
        open_wordnet(folder)
    broken = tmp_path / "broken"
    broken.mkdir()
    with pytest.raises(DataError, match=r"no licence that names a release"):
        open_wordnet(database(broken, "  1 no name\n"))


@pytest.mark.skipif(find_wordnet() is None, reason="no WordNet database here")
def test_every_thousandth_sense_of_the_index_is_found_at_its_offset():
    net = open_wordnet()
    index = net.folder / "index.sense"
    if not index.is_file():
        pytest.skip("no index of senses here")
    lines = index.read_text(encoding="utf-8", errors="replace").splitlines()[::1000]
    keys = [line.split()[:2] for line in lines]
    assert [(key, net.sense(key).offset) for key, _ in keys] == [(key, int(offset)) for key, offset in keys]
