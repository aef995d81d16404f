"""The validator finds every injected error, and says nothing of good trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.formats import read
from weft.formats.conllu.files import parse_text
from weft.text import Doc
from weft.treebanks import Validator, convert_docs, label_usage
from weft.treebanks.validate import ERRORS, _cycles


def good() -> Doc:
    """Three trees of the universal scheme."""
    return Doc.from_words(
        [["dogs", "sleep", "in", "the", "house", "."], ["she", "is", "here"], ["cats", "and", "dogs"]],
        upos=[["NOUN", "VERB", "ADP", "DET", "NOUN", "."], ["PRON", "VERB", "ADV"], ["NOUN", "CONJ", "NOUN"]],
        head=[[2, 0, 2, 5, 3, 2], [2, 0, 2], [0, 1, 1]],
        deprel=[["nsubj", "ROOT", "adpmod", "det", "adpobj", "p"], ["nsubj", "ROOT", "attr"], ["ROOT", "cc", "conj"]],
    )


def kinds(doc: Doc) -> list[tuple[str, str, int]]:
    return [(finding.kind, finding.sentence, finding.word) for finding in Validator("universal").check(doc)]


def changed(column: str, word: int, value) -> Doc:
    doc = good()
    if column == "head":
        doc.head[word] = value
    else:
        values = doc.column(column)
        values[word] = value
        doc.set_column(column, values)
    return doc


def test_nothing_is_said_of_good_trees():
    assert kinds(good()) == []


@pytest.mark.must_show("universal-treebank", 7)
@pytest.mark.parametrize(
    ("column", "word", "value", "expected"),
    [
        ("head", 2, 5, ("cycle", "1", 3)),
        ("head", 0, 1, ("cycle", "1", 1)),
        ("head", 0, 0, ("roots", "1", 0)),
        ("head", 6, 9, ("head out of range", "2", 1)),
        ("head", 8, -1, ("no head", "2", 3)),
        ("deprel", 0, "subject", ("relation", "1", 1)),
        ("deprel", 0, "nsubj:pass", ("relation", "1", 1)),
        ("upos", 0, "PROPN", ("tag", "1", 1)),
        ("upos", 2, "ADV", ("head tag", "1", 5)),
        ("head", 4, 2, ("head tag", "1", 5)),
        ("deprel", 1, "dep", ("root relation", "1", 2)),
        ("deprel", 0, "ROOT", ("root relation", "1", 1)),
        ("upos", 3, "ADJ", ("dependent tag", "1", 4)),
        ("deprel", 0, "p", ("dependent tag", "1", 1)),
        ("deprel", 0, "conj", ("order", "1", 1)),
    ],
)
def test_every_kind_of_injected_error_is_found_at_its_word(column, word, value, expected):
    assert expected in kinds(changed(column, word, value))


@pytest.mark.must_show("universal-treebank", 7)
def test_all_errors_injected_into_a_treebank_are_found(corpus_file):
    (doc, *_) = convert_docs(read(corpus_file("treebanks/ud/French-Sequoia/test.conllu.gz")))
    doc = doc.subset(range(min(doc.n_sentences, 200)))
    assert not [finding for finding in Validator("universal").check(doc) if finding.is_error]
    generator = np.random.default_rng(0)
    tags, relations = doc.column("upos"), doc.column("deprel")
    offsets = doc.sentence_offsets.tolist()
    wanted = set()
    for s in range(doc.n_sentences):
        first, end = offsets[s], offsets[s + 1]
        own = np.arange(first, end)
        heads = doc.head[first:end]
        name = next(line.split("= ")[1] for line in doc.comments[s] if line.startswith("# sent_id"))
        kind = ("cycle", "roots", "relation", "head tag")[s % 4]
        inner = own[heads > 0]
        if not len(inner):
            continue
        word = int(generator.choice(inner))
        if kind == "cycle":
            doc.head[first + heads[word - first] - 1] = word - first + 1
        elif kind == "roots":
            doc.head[word] = 0
        elif kind == "relation":
            relations[word] = "subject"
        else:
            objects = [word for word in own if relations[word] == "adpobj"]
            if not objects:
                continue
            tags[first + int(doc.head[objects[0]]) - 1] = "NOUN"
        wanted.add((kind, name))
    doc.set_column("upos", tags)
    doc.set_column("deprel", relations)
    found = {(finding.kind, finding.sentence) for finding in Validator("universal").check(doc) if finding.is_error}
    assert len(wanted) > 100
    assert wanted <= found


@pytest.mark.must_show("universal-treebank", 7)
def test_the_three_cyclic_sentences_of_a_published_treebank_are_found(corpus_file):
    validator = Validator("ud", suspects=False)
    path = corpus_file("treebanks/ud/Dutch-LassySmall/train.conllu.gz")
    cyclic = {
        finding.sentence
        for doc in read(path, check_trees=False)
        for finding in validator.check(doc)
        if finding.kind == "cycle"
    }
    assert len(cyclic) == 3


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
@settings(deadline=None, max_examples=200)
def test_cycles_are_those_that_following_heads_never_leaves(heads):
    n = len(heads)

    def ends(word: int) -> bool:
        for _ in range(n + 1):
            if not 0 < word <= n:
                return True
            word = heads[word - 1]
        return False

    caught = {word for word in range(1, n + 1) if not ends(word)}
    in_cycles = [word for cycle in _cycles(heads) for word in cycle]
    assert len(in_cycles) == len(set(in_cycles))
    assert set(in_cycles) <= caught
    for word in caught:  # what does not lead to the root leads to a cycle
        for _ in range(n):
            word = heads[word - 1]
        assert word in in_cycles


def test_the_rarer_of_two_annotations_of_the_same_words_is_a_suspect():
    rows = [["we", "met", "her"]] * 12
    relations = [["nsubj", "ROOT", "dobj"]] * 11 + [["nsubj", "ROOT", "iobj"]]
    doc = Doc.from_words(rows, upos=[["PRON", "VERB", "PRON"]] * 12, head=[[2, 0, 2]] * 12, deprel=relations)
    validator = Validator("universal")
    assert list(validator.check(doc)) == []
    (suspect,) = validator.suspects()
    assert (suspect.form, suspect.relations) == ("her", {"dobj": 11, "iobj": 1})
    assert suspect.places == [("12", 3)]
    assert suspect.same_neighbours == 1


def test_findings_name_sentences_by_their_ids_and_errors_are_told_from_warnings():
    text = "# sent_id = a-1\n1\tthe\t_\tADJ\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t0\tROOT\t_\t_\n\n"
    (finding,) = Validator("universal").check(parse_text(text)[0])
    assert (finding.kind, finding.sentence, finding.is_error) == ("dependent tag", "a-1", False)
    assert "cycle" in ERRORS


def test_label_use_lists_relations_of_one_or_two_treebanks():
    one = Doc.from_words([["a", "b"]], deprel=[["nsubj", "ROOT"]])
    other = Doc.from_words([["a", "b"]], deprel=[["vv", "ROOT"]])
    usage = label_usage({"en": [one], "de": [one], "sv": [one], "ko": [other]})
    assert usage.rare() == {"vv": ["ko"]}
    assert usage.to_json()["shares"]["nsubj"] == {"en": 0.5, "de": 0.5, "sv": 0.5, "ko": 0.0}
