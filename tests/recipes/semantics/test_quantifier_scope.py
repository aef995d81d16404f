"""The generated commands, the readers of the two corpora, and what features bring."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from weft.errors import DataError
from weft.recipes.semantics.quantifier_scope import experiment, human, pmb
from weft.recipes.semantics.quantifier_scope.commands import (
    Command,
    NounPhrase,
    commands,
    scoping_of,
    with_noise,
)
from weft.text.conventions.scope import NEGATION, Node, Scoping, scopings_of


def scope_of(command: Command) -> str:
    out, _ = command.write()
    return str(scoping_of(command, out))


def phrase(kind: str, *modifiers: tuple[str, bool, NounPhrase]) -> NounPhrase:
    return NounPhrase(kind, "line", modifiers=list(modifiers))


def test_the_worked_example_of_the_paper_follows_from_the_rules():
    """Replace every line in the file ending in punctuation with a blank line: {2>1, 1>4, 1>3, 2>4, 2>3}."""
    line = phrase("every", ("in", False, phrase("the")), ("ending", False, phrase("mass")))
    command = Command("replace", line, phrase("a"))
    out, _ = command.write()
    scoping = scoping_of(command, out)
    names = scoping.names
    assert {(names[u], names[v]) for u, v in scoping.pairs()} == {
        ("2", "1"),
        ("1", "4"),
        ("1", "3"),
        ("2", "4"),
        ("2", "3"),
    }


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (Command("merge", phrase("the plural", ("ending", False, phrase("a"))), phrase("the")), "1c>1d; 1c>3; 1d>2"),
        (Command("mark", phrase("a", ("in", False, phrase("every")))), ""),
        (Command("mark", phrase("every", ("that", False, phrase("the")))), ""),
        (Command("mark", phrase("the", ("in", False, phrase("the")))), "1>2"),
        (Command("mark", phrase("a"), phrase("the"), negated=True), "3>1; 1>2"),
        (Command("mark", phrase("the", ("that", True, phrase("mass")))), "1>2; 2>3"),
        (Command("mark", phrase("the", ("that", True, phrase("a"))), phrase("a")), "1>2; 1>4; 2>3"),
        (Command("mark", phrase("number"), phrase("number")), "1c>1d; 1d>2c; 2c>2d"),
    ],
)
def test_rules_order_what_they_name_and_nothing_else(command, expected):
    for each in command.phrases():
        each.number = "two"
    assert scope_of(command) == expected


def test_commands_are_the_same_for_a_seed_and_have_trees_over_all_words():
    first, again, other = commands(50, 1), commands(50, 1), commands(50, 2)
    assert first.same(again)
    assert not first.same(other)
    assert all(sentence.root is not None for sentence in first.sentences)
    assert first.constituents is not None
    large = commands(2000, 0)
    chunks = [len({node[:2] for node in scoping.nodes}) for scoping in scopings_of(large)]
    assert 3.3 < np.mean(chunks) < 3.7
    negated = np.mean([any(node.kind == NEGATION for node in scoping.nodes) for scoping in scopings_of(large)])
    assert 0.21 < negated < 0.29


def test_noise_reverses_one_pair_and_keeps_an_order():
    scoping = Scoping.of([Node(0, 1, "collection"), Node(0, 1, "distributive"), Node(2, 3)], [(1, 2)])
    noisy = with_noise(scoping, np.random.default_rng(0))
    assert str(noisy) == "1c>2; 2>1d"
    assert with_noise(Scoping.of([Node(0, 1), Node(2, 3)]), np.random.default_rng(0)).pairs() == set()


CLAUSES = """%%% A comment
%%% A cat does not see the dog .
b1 REF x1         % A [0...1]
b1 cat "n.01" x1  % cat [2...5]
b1 NOT b2         % not [11...14]
% does [6...10]
b2 REF e1         % see [15...18]
b2 see "v.01" e1  % see [15...18]
b3 REF x2         % the [19...22]
b3 dog "n.01" x2  % dog [23...26]
b2 PRP p1 b4      % see [15...18]
b4 REF x3         % it [27...29]
b4 tail "n.01" x3 % it [27...29]
"""


def test_a_noun_phrase_is_in_the_scope_of_a_negation_if_its_box_is(tmp_path):
    path = tmp_path / "play.clf.gz"
    path.write_bytes(gzip.compress(f"{CLAUSES}\n{CLAUSES}".encode()))
    first, second = pmb.read_clauses(path)
    assert first.forms == ["A", "cat", "does", "not", "see", "the", "dog", "it"]
    assert str(second.scoping()) == "1>2; 3>2; 2>4"
    assert second.line == 15


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b1 REF", "expected a box, an operator and its arguments"),
        ("x1 REF b1 % cat [0...3]", "expected a box"),
        ("b1 REF x1 % cat 0...3", "expected a word and its characters"),
        ("b1 REF x1 % cat [3...3]", "end before they begin"),
    ],
)
def test_bad_clauses_are_refused_with_file_and_line(tmp_path, line, message):
    path = tmp_path / "bad.clf"
    path.write_text(f"%%% x\nb1 REF x1 % A [0...1]\n{line}\n")
    with pytest.raises(DataError, match=f"bad.clf, line 3: .*{message}"):
        list(pmb.read_clauses(path))


HEADER = "idx,sentence,Option A,Option B,gold_ans,gold_scope_label,OP1,OP1_type,OP2,OP2_type\n"
ROW = "0,Each cat sees a dog.,x,y,A,surface,each,universal,a,indefinite\n"


def test_every_sentence_is_read_once(tmp_path):
    path = tmp_path / "play.csv"
    path.write_text(HEADER + ROW + ROW.replace("x,y,A", "y,x,B"))
    assert human.read_items(path) == [
        human.Item("Each cat sees a dog.", ("each", "a"), ("universal", "indefinite"), surface=True)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER.replace("OP2_type", "type") + ROW, "line 1: the header has no column OP2_type"),
        (HEADER + ROW.replace("surface", "both"), "line 2: the label is 'both', expected surface or inverse"),
        (HEADER + ROW + ROW.replace("surface", "inverse"), "line 3: the two rows of sentence 0 disagree"),
        (HEADER + ROW.replace(",each,", ",,"), "line 2: a sentence and two operators are expected"),
    ],
)
def test_bad_rows_are_refused_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.csv, {message}"):
        human.read_items(path)


def test_splits_are_stratified_and_disjoint():
    items = [human.Item(f"s{k}", ("a", "b"), ("x", "y") if k % 2 else ("z", "y"), bool(k % 3)) for k in range(100)]
    parts = human.split(items, 0)
    assert sorted(i for part in parts for i in part) == list(range(100))
    assert [len(part) for part in parts] == [60, 10, 30]
    assert sum(items[i].types == ("x", "y") for i in parts[0]) == 30


@pytest.mark.must_show(
    "quantifier-scope", 5, weaker="350 commands and one seed; the recorded run has 3,500 and five, and kinds of pairs"
)
def test_rich_features_beat_ma11_by_ten_points_of_f():
    corpus = experiment.Corpus.of(commands(500, 0), (350, 50))
    f = {}
    for features in ("ma11", "ma11+det", "rich"):
        model = experiment.ScopeModel.fit(*corpus.part("train"), features, 0.1)
        f[features] = experiment.evaluate(corpus, model, 0.1).reports["all"].ordered.total().f1
    assert f["rich"] >= f["ma11"] + 0.10
    assert f["rich"] > f["ma11+det"] > f["ma11"]


def test_the_corpora_have_the_sizes_of_the_plan(corpus_file):
    sentences = list(pmb.read_clauses(corpus_file("scope/pmb/test.clf.gz")))
    negated = [each for each in sentences if len(each.negations()) == 1]
    assert (len(sentences), len(negated)) == (650, 59)
    assert sum(len(each.noun_phrases()) for each in negated) == 85
    items = human.read_items(corpus_file("scope/scope-ambiguity/exp1b.csv.gz"))
    assert (len(items), sum(item.surface for item in items)) == (837, 534)
