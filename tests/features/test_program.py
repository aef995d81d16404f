"""The kernel that runs templates agrees with an interpreter written in plain Python."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import TemplateError, WeftError
from weft.features.extract import Extractor
from weft.features.gazetteer import Gazetteer
from weft.features.templates import Templates
from weft.text import Doc

TEMPLATES = (
    "w[0] w[-2] w[3] w[0].suffix2 w[0].prefix1..2|t[0] t[-1]|t[0]|t[1] w{-1..1}.lower m[0] m[-1]|w[0] m[0]|m[1] "
    "x[0] x[1]|w{-1..0} true w{-2..2}|m[0] m{-1..1} t[0]|m{0..2}"
)
FIELDS = {"w": "form", "t": "xpos", "m": "feats:set", "x": "score:real"}


def attribute(word, name):
    if name == "form":
        return word
    if name == "lower":
        return word.lower()
    size = int(name[-1])
    if len(word) < size:
        return None
    return word[:size] if name.startswith("prefix") else word[-size:]


def interpret(templates, sentence):
    """For every position the multiset of (template, atom values) with the product of real values."""
    n = len(sentence["w"])
    result = []
    for i in range(n):
        found = []
        for template in templates:
            choices, value = [], 1.0
            for atom in template.atoms:
                at = i + atom.lo
                inside = 0 <= at < n
                if atom.field == "x":
                    choices.append([()] if inside else [])
                    value *= float(sentence["x"][at] or 0) if inside else 1.0
                elif atom.field == "m":
                    window = range(max(0, i + atom.lo), min(n, i + atom.hi + 1))
                    choices.append([part for j in window for part in sentence["m"][j].split("|") if part])
                elif atom.bag:
                    window = range(max(0, i + atom.lo), min(n, i + atom.hi + 1))
                    values = [attribute(sentence[atom.field][j], atom.attribute) for j in window]
                    choices.append([v for v in values if v is not None])
                else:
                    v = (
                        attribute(sentence[atom.field][at], atom.attribute)
                        if inside
                        else ("edge", at if at < 0 else at - n)
                    )
                    choices.append([v] if v is not None else [])
            found += [((str(template), choice), value) for choice in product(*choices)]
        result.append(found)
    return result


words = st.sampled_from(["a", "An", "bee", "Cats", "é", "ab"])
feats = st.sampled_from(["", "A=1", "A=1|B=2", "B=2|C=3|D=4"])
sentences = st.lists(
    st.lists(
        st.tuples(words, st.sampled_from("XYZ"), feats, st.sampled_from(["0", "0.5", "-2"])),
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(sentences)
def test_features_equal_those_of_a_plain_interpreter(rows):
    doc = Doc.from_words(
        [[w for w, *_ in s] for s in rows],
        xpos=[[r[1] for r in s] for s in rows],
        feats=[[r[2] for r in s] for s in rows],
        score=[[r[3] for r in s] for s in rows],
    )
    templates = list(Templates(TEMPLATES))
    features, offsets = Extractor(templates, FIELDS).features([doc])
    expected = []
    for s in rows:
        columns = {"w": [r[0] for r in s], "t": [r[1] for r in s], "m": [r[2] for r in s], "x": [r[3] for r in s]}
        expected += interpret(templates, columns)
    assert np.diff(features.offsets).tolist() == [len(found) for found in expected]
    assert offsets.tolist() == np.concatenate([[0], np.cumsum([len(s) for s in rows])]).tolist()
    # Equal tuples have equal keys, different tuples different ones; values and template numbers match.
    names: dict = {}
    keys: dict = {}
    for i, found in enumerate(expected):
        span = slice(features.offsets[i], features.offsets[i + 1])
        numbered = [str(templates[t]) for t in features.template[span]]
        assert sorted(numbered) == sorted(name for (name, _), _ in found)
        by_template: dict = {}
        for key, value, name in zip(
            features.keys[span].tolist(), features.values[span].tolist(), numbered, strict=True
        ):
            by_template.setdefault(name, []).append((key, value))
        wanted: dict = {}
        for (name, choice), value in found:
            wanted.setdefault(name, []).append((choice, value))
        for name, pairs in wanted.items():
            assert sorted(v for _, v in by_template[name]) == pytest.approx(sorted(v for _, v in pairs))
            if len(pairs) == 1:
                key, tuple_ = by_template[name][0][0], (name, pairs[0][0])
                assert names.setdefault(key, tuple_) == tuple_
                assert keys.setdefault(tuple_, key) == key


def test_features_do_not_depend_on_the_other_templates():
    doc = Doc.from_words([["one", "two"]])
    alone, _ = Extractor(list(Templates("w[-1]")), {"w": "form"}).features([doc])
    among, _ = Extractor(list(Templates("true w[-1] w[0]")), {"w": "form"}).features([doc])
    assert set(alone.keys.tolist()) <= set(among.keys.tolist())


def test_documents_of_several_string_tables_mix():
    one, two = Doc.from_words([["a", "b"]]), Doc.from_words([["c", "a"], ["b"]])
    extractor = Extractor(list(Templates("w[0] w[-1]|w[0]")), {"w": "form"})
    together, offsets = extractor.features([one, two])
    apart = np.concatenate([extractor.features([doc])[0].keys for doc in (one, two)])
    assert together.keys.tolist() == apart.tolist()
    assert offsets.tolist() == [0, 2, 4, 5]


def test_gazetteer_finds_every_phrase_wherever_it_stands():
    lists = {"place": ["New York", "York", "the New York Times building"], "paper": ["New York Times"]}
    gazetteer = Gazetteer(lists)
    sentence = ["in", "New", "York", "Times", "New", "York"]
    doc = Doc.from_words([sentence, ["York"]])
    offsets, members = gazetteer.match(doc.strings, doc.columns["form"], np.array([0, 6, 7]))
    names = {f"{name}:{place}": None for name in lists for place in "SBIE"}
    from weft.hashing import hash_strings

    of_key = dict(zip(hash_strings(list(names)).tolist(), names, strict=True))
    found = [sorted(of_key[k] for k in members[offsets[i] : offsets[i + 1]].tolist()) for i in range(7)]
    assert found == [
        [],
        ["paper:B", "place:B"],
        ["paper:I", "place:E", "place:S"],
        ["paper:E"],
        ["place:B"],
        ["place:E", "place:S"],
        ["place:S"],
    ]


def test_unknown_fields_attributes_and_bad_numbers_are_refused():
    with pytest.raises(TemplateError, match="unknown field 'z'"):
        Extractor(list(Templates("z[0]")), {"w": "form"})
    with pytest.raises(TemplateError, match="unknown attribute 'colour'"):
        Extractor(list(Templates("w[0].colour")), {"w": "form"})
    doc = Doc.from_words([["a"]], score=[["many"]])
    with pytest.raises(WeftError, match="'score' is used as real-valued"):
        Extractor(list(Templates("x[0]")), FIELDS).features([doc])
