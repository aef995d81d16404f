"""Conversions between schemes give trees, touch nothing else, and come back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError, FormatError
from weft.formats import read
from weft.formats.conllu import files as conllu
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.lexical.universal_tags import read_map
from weft.text import Doc
from weft.treebanks import LabelTable, Validator, convert_docs
from weft.treebanks.from_ud import from_ud
from weft.treebanks.rewriting import Log, WorkTree
from weft.treebanks.scheme import UD_RELATIONS, UNIVERSAL_RELATIONS
from weft.treebanks.to_ud import to_ud

TREEBANKS = ("English-EWT", "French-Sequoia", "Portuguese-Bosque", "Turkish-IMST", "Korean-GSD")
UPOS = ("NOUN", "VERB", "AUX", "ADP", "ADJ", "PUNCT", "CCONJ", "PRON", "PART")


def converted(heads, relations, tags, forms=None) -> WorkTree:
    forms = forms or [f"w{i}" for i in range(len(heads))]
    tree = WorkTree(heads, relations, tags, forms)
    from_ud(tree)
    return tree


def test_the_scheme_has_forty_relations_and_universal_dependencies_thirty_seven():
    assert len(UNIVERSAL_RELATIONS) == 40
    assert len(UD_RELATIONS) == 37


def test_the_tree_of_the_paper_comes_out():
    # Alexandre réside avec sa famille à Tinqueux .
    tree = WorkTree(
        [2, 0, 5, 5, 2, 7, 2, 2],
        ["nsubj", "root", "case", "det", "obl", "case", "obl", "punct"],
        ["PROPN", "VERB", "ADP", "DET", "NOUN", "ADP", "PROPN", "PUNCT"],
        ["Alexandre", "réside", "avec", "sa", "famille", "à", "Tinqueux", "."],
        ["", "", "", "Poss=Yes", "", "", "", ""],
    )
    from_ud(tree)
    assert tree.heads == [2, 0, 2, 5, 3, 2, 6, 2]
    assert tree.relations == ["nsubj", "ROOT", "adpmod", "poss", "adpobj", "adpmod", "adpobj", "p"]
    assert tree.tags == ["NOUN", "VERB", "ADP", "DET", "NOUN", "ADP", "NOUN", "."]


def test_several_adpositions_become_a_chain_and_one_behind_the_noun_stays():
    tree = converted([3, 3, 4, 0], ["case", "case", "obl", "root"], ["ADP", "ADP", "NOUN", "VERB"])  # out of town came
    assert tree.heads == [4, 1, 2, 0]
    assert tree.relations == ["adpmod", "adpcomp", "adpobj", "ROOT"]
    tree = converted([2, 4, 2, 0], ["case", "obl", "case", "root"], ["ADP", "NOUN", "ADP", "VERB"])  # von heute an kam
    assert tree.heads == [4, 1, 2, 0]
    assert tree.relations == ["adpmod", "adpobj", "adp", "ROOT"]


@pytest.mark.must_show("universal-treebank", 1)
def test_copulas_and_adpositions_become_the_heads_of_predicates_and_objects():
    tree = converted([3, 3, 0], ["nsubj", "cop", "root"], ["PRON", "AUX", "ADJ"])  # she is old
    assert (tree.heads, tree.relations) == ([2, 0, 2], ["nsubj", "ROOT", "acomp"])
    tree = converted([4, 4, 4, 0], ["nsubj", "cop", "case", "root"], ["PRON", "AUX", "ADP", "NOUN"])  # she is at sea
    assert (tree.heads, tree.relations) == ([2, 0, 2, 3], ["nsubj", "ROOT", "attr", "adpobj"])
    tree = converted([2, 0, 4, 2], ["nsubj", "root", "case", "obl"], ["PRON", "VERB", "ADP", "NOUN"])  # she went to sea
    assert (tree.heads, tree.relations) == ([2, 0, 2, 3], ["nsubj", "ROOT", "adpmod", "adpobj"])


def test_particles_do_not_become_heads():
    tree = converted([3, 1, 0], ["nmod:poss", "case", "root"], ["PROPN", "PART", "NOUN"])  # Ann 's house
    assert tree.heads == [3, 1, 0]
    assert tree.relations == ["poss", "adp", "ROOT"]


def test_copula_and_adposition_of_one_word_make_no_cycle():
    # she is not in the house because it is cold
    heads = [6, 6, 6, 6, 6, 0, 10, 10, 10, 6]
    relations = ["nsubj", "cop", "advmod", "case", "det", "root", "mark", "nsubj", "cop", "advcl"]
    tags = ["PRON", "AUX", "PART", "ADP", "DET", "NOUN", "SCONJ", "PRON", "AUX", "ADJ"]
    tree = converted(heads, relations, tags)
    assert tree.heads == [2, 0, 4, 2, 6, 4, 9, 9, 2, 9]
    assert tree.relations == ["nsubj", "ROOT", "advmod", "attr", "det", "adpobj", "mark", "nsubj", "advcl", "acomp"]
    to_ud(tree)
    assert tree.heads == heads


@pytest.mark.must_show("universal-treebank", 1)
@given(st.data())
@settings(deadline=None, max_examples=300)
def test_any_tree_with_many_copulas_and_adpositions_stays_a_tree_and_projective(data):
    n = data.draw(st.integers(1, 10))
    order = data.draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[data.draw(st.integers(0, i - 1))]
    names = st.sampled_from(("case", "cop", "conj", "cc", "punct", "nsubj", "obl", "fixed"))
    relations = ["root" if head == 0 else data.draw(names) for head in heads]
    tags = [data.draw(st.sampled_from(UPOS)) for _ in heads]
    forms = [data.draw(st.sampled_from((",", "w"))) for _ in heads]
    tree = converted(heads, relations, tags, forms)
    assert is_tree(np.array(tree.heads, np.int32))
    assert tree.heads.count(0) == 1
    if is_projective(np.array(heads, np.int32)):
        assert is_projective(np.array(tree.heads, np.int32))
    to_ud(tree)
    assert is_tree(np.array(tree.heads, np.int32))
    assert tree.heads.count(0) == 1


@pytest.mark.must_show("universal-treebank", 1)
def test_trees_of_five_treebanks_are_well_formed_keep_their_words_and_come_back(corpus_file):
    """The sheet asks for 99 % of heads on sentences without ambiguous constructions; this holds on all sentences."""
    for name in TREEBANKS:
        docs = list(read(corpus_file(f"treebanks/ud/{name}/test.conllu.gz")))
        log = Log()
        validator = Validator("universal", suspects=False)
        words = same = broken = 0
        for doc, new in zip(docs, convert_docs(docs, log=log), strict=True):
            assert new.column("form") == doc.column("form")
            assert new.text == doc.text
            (back,) = convert_docs([new], "universal", "ud")
            for first, end in pairwise(doc.sentence_offsets.tolist()):
                for other in (new, back):
                    assert is_tree(other.head[first:end])
                    assert (other.head[first:end] == 0).sum() == 1
                broken += is_projective(doc.head[first:end]) and not is_projective(new.head[first:end])
            words += doc.n_words
            same += int((doc.head == back.head).sum())
            errors = [finding for finding in validator.check(new) if finding.is_error]
            assert not errors, errors[:3]
        assert words > 10_000
        assert same / words >= 0.99, name
        assert broken == 0, name
        assert log.touched["coordination"] > 50
        assert log.touched["adposition"] > 200
        assert log.touched["copula"] > 50


def test_ranges_empty_nodes_comments_and_other_columns_are_kept(tmp_path, examples):
    text = (
        "# newdoc id = d\n# sent_id = d-1\n# text = Vamos al mar.\n"
        "1\tVamos\tir\tVERB\tV\t_\t0\troot\t0:root\t_\n"
        "2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\ta\ta\tADP\tS\t_\t4\tcase\t4:case\t_\n"
        "3\tel\tel\tDET\tD\t_\t4\tdet\t4:det\t_\n"
        "4\tmar\tmar\tNOUN\tN\tGender=Masc\t1\tobl\t1:obl:a\tSpaceAfter=No|Gloss=sea\n"
        "4.1\tyo\tyo\tPRON\t_\t_\t_\t_\t1:nsubj\t_\n"
        "5\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_\n\n"
    )
    docs = conllu.parse_text(text)
    new = list(convert_docs(docs))
    found = "".join(conllu.to_text(doc) for doc in new).splitlines()
    for old, line in zip(text.splitlines(), found, strict=True):
        if not old or old.startswith("#") or "\t_\t_\t_\t" in old:
            assert line == old
        else:
            keep = (0, 1, 2, 4, 5, 8, 9)
            assert [line.split("\t")[i] for i in keep] == [old.split("\t")[i] for i in keep]
    assert [line.split("\t")[6:8] for line in found if line[:2] in ("2\t", "4\t")] == [["1", "adpmod"], ["2", "adpobj"]]
    back = list(convert_docs(new, "universal", "ud"))
    assert "".join(conllu.to_text(doc) for doc in back) == text


def test_a_native_treebank_is_converted_by_its_map_and_table(tmp_path):
    tags = tmp_path / "own.map"
    tags.write_text("N\tNOUN\nV\tVERB\nP\tADP\n", encoding="utf-8")
    table = LabelTable.parse("SB NOUN VERB nsubj\nMO ADP * adpmod\nNK * ADP adpobj\nHD * ROOT ROOT\n")
    doc = Doc.from_words([["dogs", "bark", "at", "cats"]], xpos=[["N", "V", "P", "N"]], head=[[2, 0, 2, 3]],
                       deprel=[["SB", "HD", "MO", "NK"]])  # fmt: skip
    log = Log()
    (new,) = convert_docs([doc], "own", "universal", log, tags=read_map(tags), labels=table)
    assert new.column("deprel") == ["nsubj", "ROOT", "adpmod", "adpobj"]
    assert new.column("upos") == ["NOUN", "VERB", "ADP", "NOUN"]
    assert log.matched == {"SB -> nsubj": 1, "HD -> ROOT": 1, "MO -> adpmod": 1, "NK -> adpobj": 1}
    assert not list(Validator("universal").check(new))


def test_prague_coordination_of_a_native_treebank_becomes_stanford():
    doc = Doc.from_words([["cats", "and", "dogs"]], upos=[["NOUN", "CONJ", "NOUN"]], head=[[2, 0, 2]],
                       deprel=[["root_Co", "Coord:cc", "conj_Co"]])  # fmt: skip
    (new,) = convert_docs([doc], "own", "universal", labels=LabelTable.load("stanford"), coordination="prague")
    assert new.head.tolist() == [0, 1, 1]
    assert new.column("deprel") == ["ROOT", "cc", "conj"]


def test_wrong_schemes_tables_and_trees_get_plain_messages(tmp_path):
    doc = Doc.from_words([["a"]], upos=[["NOUN"]])
    with pytest.raises(ConfigError, match="no conversion from 'tiger' to 'universal'; choose from ud to universal"):
        convert_docs([doc], "tiger")
    with pytest.raises(ConfigError, match="unknown step 'flip'"):
        convert_docs([doc], steps=["flip"])
    with pytest.raises(ConfigError, match="needs a label table"):
        convert_docs([doc], "own")
    with pytest.raises(DataError, match="has no heads"):
        list(convert_docs([doc]))
    with pytest.raises(DataError, match="'NN' is not a part of speech of Universal Dependencies"):
        list(convert_docs([Doc.from_words([["a"]], upos=[["NN"]], head=[[0]])]))
    with pytest.raises(DataError, match="sentence 1: some words have no head"):
        list(convert_docs([Doc.from_words([["a", "b"]], upos=[["X", "X"]], head=[[0, -1]])]))
    with pytest.raises(FormatError, match="table, line 2"):
        LabelTable.parse("a b c d\na b c\n")
    native = Doc.from_words([["a"]], xpos=[["NN"]], head=[[0]], deprel=[["HD"]])
    with pytest.raises(DataError, match="the tag map does not contain 'NN'"):
        list(convert_docs([native], "stanford", tags={"N": "NOUN"}))
