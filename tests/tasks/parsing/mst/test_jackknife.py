"""Trees of sentences that a parser has not seen, for a second stage to learn from."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.tasks.parsing.mst import jackknife
from weft.tasks.parsing.mst.jackknife import jackknifed
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.relations import RelationLabeller
from weft.text.doc import Doc

SMALL = MSTSettings(system="mst1", epochs=2, bits=14)


def treebank() -> list[Doc]:
    """Two documents of several sentences; in one sentence the second word has an odd head."""
    words, heads = [["dogs", "bark", "loudly"]] * 4, [[2, 0, 2], [2, 0, 2], [2, 0, 1], [2, 0, 2]]
    tags, names = [["NOUN", "VERB", "ADV"]] * 4, [["nsubj", "root", "advmod"]] * 4
    docs = [Doc.from_words(words, upos=tags, head=heads, deprel=names)]
    return [*docs, Doc.from_words(words[:3], upos=tags[:3], head=heads[:2] + heads[:1], deprel=names[:3])]


def test_no_sentence_is_parsed_by_a_parser_that_has_seen_it(monkeypatch):
    docs = [Doc.from_words([[f"w{k}", "bark"] for k in own], upos=[["NOUN", "VERB"]] * len(own),
                           head=[[2, 0]] * len(own), deprel=[["nsubj", "root"]] * len(own))
            for own in (range(4), range(4, 7))]  # fmt: skip
    seen: list[set[str]] = []
    parsed: list[str] = []

    class Watched(MSTParser):
        def fit(self, train, dev=None):
            seen.append({doc.column("form")[0] for doc in train})
            assert self.settings.relations == "none"
            return super().fit(train, dev)

        def __call__(self, docs, *rest, **more):
            own = [doc.column("form")[0] for doc in docs]
            assert not seen[-1] & set(own)
            parsed.extend(own)
            return super().__call__(docs, *rest, **more)

    monkeypatch.setattr(jackknife, "MSTParser", Watched)
    jackknifed(docs, SMALL, 3)
    assert len(seen) == 3
    assert sorted(parsed) == [f"w{k}" for k in range(7)]


def test_an_odd_head_is_replaced_and_everything_else_stays():
    docs = treebank()
    found = jackknifed(docs, SMALL, 3)
    assert docs[0].head.tolist() == [2, 0, 2, 2, 0, 2, 2, 0, 1, 2, 0, 2]
    assert found[0].head.tolist() == [2, 0, 2] * 4
    assert found[1].head.tolist() == [2, 0, 2] * 3
    assert [doc.column("deprel") for doc in found] == [doc.column("deprel") for doc in docs]
    assert [doc.n_sentences for doc in found] == [4, 3]


def test_a_parser_learns_relations_from_jackknifed_trees_if_it_is_told(monkeypatch):
    seen = []
    fit = RelationLabeller.fit

    def note(self, words, feats, sentences, heads, *rest):
        seen.append(np.array(heads))
        return fit(self, words, feats, sentences, heads, *rest)

    monkeypatch.setattr(RelationLabeller, "fit", note)
    docs = treebank()
    for parts in (0, 3):
        MSTParser(MSTSettings(system="mst1", epochs=2, bits=14, jackknife=parts)).fit(docs)
    gold, predicted = seen
    assert gold.tolist() == np.concatenate([doc.head for doc in docs]).tolist()
    assert predicted.tolist() == [2, 0, 2] * 7


def test_one_part_and_more_parts_than_sentences_are_refused():
    with pytest.raises(ConfigError, match="at least two parts"):
        MSTParser(MSTSettings(jackknife=1))
    with pytest.raises(ConfigError, match="cannot be cut into 8 parts"):
        jackknifed(treebank(), SMALL, 8)
