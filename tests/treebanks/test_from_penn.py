"""English constituents become dependencies of the universal scheme."""

from __future__ import annotations

from itertools import pairwise

import pytest

from weft.errors import DataError
from weft.formats import read
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.text import Doc
from weft.text.trees import parse_tree
from weft.treebanks import Validator, convert_docs
from weft.treebanks.from_penn import universal_of_penn
from weft.treebanks.rewriting import Log


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (  # auxiliaries hang on the main verb, the passive one by name, and so does the subject
            "(S (NP-SBJ (DT The) (NN tea)) (VP (VBZ has) (VP (VBN been) (VP (VBN made)))) (. .))",
            "2 det, 5 nsubjpass, 5 aux, 5 auxpass, 0 ROOT, 5 p",
        ),
        (  # a copula is a head
            "(S (NP-SBJ (PRP It)) (VP (VBZ is) (RB not) (ADJP-PRD (RB very) (JJ hot))))",
            "2 nsubj, 0 ROOT, 2 neg, 5 advmod, 2 acomp",
        ),
        (  # coordination: everything on the first conjunct
            "(NP (NP (NNS cups)) (, ,) (NP (NNS pots)) (CC and) (NP (NNS spoons)))",
            "0 ROOT, 1 p, 1 conj, 1 cc, 1 conj",
        ),
        (  # coordinated modifiers of one noun
            "(NP (JJ green) (CC and) (JJ black) (NN tea))",
            "4 amod, 1 cc, 1 conj, 0 ROOT",
        ),
        (  # two objects, and an adverbial noun phrase
            "(S (NP-SBJ (PRP She)) (VP (VBD gave) (NP (PRP him)) (NP (NN tea)) (NP-TMP (NN today))))",
            "2 nsubj, 0 ROOT, 2 iobj, 2 dobj, 2 nmod",
        ),
        (  # the preposition heads its object, or the clause behind it
            "(S (NP-SBJ (PRP They)) (VP (VBP talk) (PP (IN about) (S (VP (VBG brewing) (NP (NN tea)))))))",
            "2 nsubj, 0 ROOT, 2 adpmod, 3 adpcomp, 4 dobj",
        ),
        (  # a relative pronoun is the subject where there is no other
            "(NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ pours)))))",
            "2 det, 0 ROOT, 4 nsubj, 2 rcmod",
        ),
        (
            "(NP (NP (DT the) (NN cup)) (SBAR (WHNP (WDT that)) (S (NP-SBJ (PRP she)) (VP (VBD broke)))))",
            "2 det, 0 ROOT, 5 dobj, 5 nsubj, 2 rcmod",
        ),
        (  # subordinators are markers, infinitives without subjects open complements
            "(S (NP-SBJ (PRP He)) (VP (VBZ says) (SBAR (IN that) (S (NP-SBJ (PRP he)) (VP (VBZ wants) (S (VP (TO to)"
            " (VP (VB stay)))))))))",
            "2 nsubj, 0 ROOT, 5 mark, 5 nsubj, 2 ccomp, 7 aux, 5 xcomp",
        ),
        (  # possession and apposition
            "(NP (NP (NP (NNP Ann) (POS 's)) (NN shop)) (, ,) (NP (DT a) (NN cellar)))",
            "3 poss, 1 adp, 0 ROOT, 3 p, 6 det, 3 appos",
        ),
    ],
)
def test_trees_worked_by_hand(tree, expected):
    heads, relations, _ = universal_of_penn(parse_tree(tree))
    assert ", ".join(f"{head} {relation}" for head, relation in zip(heads, relations, strict=True)) == expected


def test_a_document_keeps_its_words_and_gets_valid_trees(examples):
    log = Log()
    docs = list(read(examples / "treebanks" / "en.mrg"))
    new = list(convert_docs(docs, "penn", "universal", log))
    validator = Validator("universal")
    for doc, other in zip(docs, new, strict=True):
        assert other.column("form") == doc.column("form")
        assert not [finding for finding in validator.check(other) if finding.is_error]
    assert log.matched["ROOT"] == log.sentences == validator.sentences
    assert sum(log.touched.values()) == log.words
    with pytest.raises(DataError, match="no phrase-structure trees"):
        list(convert_docs([Doc.from_words([["a"]])], "penn", "universal"))


def test_all_trees_of_a_newspaper_sample_are_valid_and_projective(corpus_file):
    docs = convert_docs(read(corpus_file("treebanks/constituency/ptb-sample/wsj-sample.mrg.gz")), "penn", "universal")
    validator = Validator("universal", suspects=False)
    for doc in docs:
        assert not [finding for finding in validator.check(doc) if finding.is_error]
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            assert is_tree(doc.head[first:end])
            assert is_projective(doc.head[first:end])
    assert validator.sentences == 3914
    assert sum(validator.counts.values()) < 0.005 * validator.words
