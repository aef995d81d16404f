"""Trees of chunks: c-command, paths, and phrases read off dependency trees."""

from __future__ import annotations

import pytest

from weft.recipes.semantics.quantifier_scope.commands import commands
from weft.tasks.scope.phrases import Dependencies, phrases_of
from weft.tasks.scope.syntax import Syntax, syntaxes
from weft.text.constituents import doc_of_trees
from weft.text.trees import parse_tree


def syntax_of(bracketed: str) -> Syntax:
    return syntaxes(doc_of_trees([parse_tree(bracketed)]))[0]


@pytest.fixture
def command() -> Syntax:
    return syntax_of(
        "(S (VP (VB do) (RB not) (VP (VB mark) (NP (NP (DT every) (NN line)) (PP (IN in) (NP (DT the) (NN file))))"
        " (PP (IN with) (NP (DT a) (NN tab))))) (. .))"
    )


def test_c_command_is_that_of_the_first_branching_phrase(command):
    line, file, tab = (command.phrase(*words) for words in ((3, 5), (6, 8), (9, 11)))
    assert command.c_commands(line, file)
    assert not command.c_commands(file, line)
    assert not command.c_commands(line, tab)  # the phrase around "every line" branches below the verb
    whole = command.phrase(3, 8)
    assert command.c_commands(whole, tab)
    assert not command.c_commands(whole, file)  # it holds it
    assert all(command.word_c_commands(1, phrase) for phrase in (line, file, tab))
    assert not command.phrase_c_commands_word(tab, 1)


def test_a_phrase_with_one_child_does_not_branch():
    tree = syntax_of("(S (NP (NP (NN dogs))) (VP (VBP bark) (PP (IN at) (NP (NNS cats)))))")
    dogs, cats = tree.phrase(0, 1), tree.phrase(3, 4)
    assert tree.c_commands(dogs, cats)
    assert tree.phrase_c_commands_word(dogs, 1)


def test_paths_go_through_the_lowest_common_phrase(command):
    line, tab = command.phrase(3, 5), command.phrase(9, 11)
    assert command.labels_between(line, tab) == ["NP", "NP", "VP", "PP", "NP"]
    assert command.labels_between(line, line) == ["NP"]
    assert command.phrases[command.ancestor(line, tab)].label == "VP"


def test_phrases_of_dependency_trees_are_those_of_the_grammar():
    doc = commands(150, seed=5)
    same = total = 0
    for own, derived in zip(syntaxes(doc), syntaxes(doc, use_constituents=False), strict=True):
        if '"' in own.tree.forms:  # quotation marks at the edge of a phrase stay outside of derived ones
            continue
        wanted = {phrase[:3] for phrase in own.phrases if phrase.label in ("NP", "PP", "VP")}
        found = {phrase[:3] for phrase in derived.phrases if phrase.label in ("NP", "PP", "VP")}
        same, total = same + len(wanted & found), total + len(wanted)
    assert same / total > 0.95


def test_broken_trees_give_phrases_all_the_same():
    cycle = Dependencies(
        ["a", "b", "c"], ["a", "b", "c"], ["NOUN"] * 3, ["NN"] * 3, [1, 0, -1], ["nmod", "nmod", "root"]
    )
    assert phrases_of(cycle)[0][:3] == ("S", 0, 3)
    assert Syntax(cycle).common(0, 2) == (-1, -1)
    crossing = Dependencies(["a", "b", "c", "d"], ["a"] * 4, ["NOUN"] * 4, ["NN"] * 4, [2, 3, -1, 2], ["nmod"] * 4)
    ranges = [phrase[1:3] for phrase in phrases_of(crossing)]
    assert not any(a[0] < b[0] < a[1] < b[1] for a in ranges for b in ranges)
    assert phrases_of(Dependencies([], [], [], [], [], [])) == []
