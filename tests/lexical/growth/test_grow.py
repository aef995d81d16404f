"""Lists grown from raw text: extraction against a plain twin, trimming, filters, files, the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import EXAMPLES

from weft.errors import ConfigError, DataError, FormatError
from weft.lexical.growth.automata import TokenAutomaton
from weft.lexical.growth.contexts import Contexts, contexts_at, dominating_words, segments, trigger_words
from weft.lexical.growth.extraction import Matcher, trim
from weft.lexical.growth.files import read_seeds, write_growth
from weft.lexical.growth.grow import GrowthSettings, grow
from weft.lexical.growth.token_store import EDGE, SLOT, Piece, TokenStore
from weft.text import Corpus, Doc

N = 9  # tokens 3 to 8 are words
words = st.integers(3, N - 1)
contexts = st.lists(st.tuples(st.lists(words, max_size=3), words | st.just(EDGE)), min_size=1, max_size=6)
texts = st.lists(st.lists(words, min_size=1, max_size=8), min_size=1, max_size=4)


def piece_of(sentences: Sequence[Sequence[int]]) -> Piece:
    flat = np.array([token for sentence in sentences for token in sentence], dtype=np.int32)
    return Piece(flat, np.cumsum([0, *map(len, sentences)]))


def matched_by_hand(automaton: TokenAutomaton, limit: int, piece: Piece) -> set[tuple[int, int, int]]:
    """Every trigger, every path of literal tokens from it, the shortest slot behind which a right boundary stands."""
    found = set()
    trigger = automaton.labels[automaton.start]
    slot = automaton.state(SLOT)
    ends = {int(automaton.labels[s]) for s in automaton.successors(slot).tolist() if automaton.ends[s]}
    for first, stop in pairwise(piece.sentences.tolist()):
        sentence = piece.tokens[first:stop].tolist()
        for i, token in enumerate(sentence):
            if token != trigger:
                continue
            for j in range(i, len(sentence)):
                states = [automaton.state(each) for each in sentence[i : j + 1]]
                steps = pairwise(states)
                if min(states) < 0 or any(w not in automaton.successors(v) for v, w in steps):
                    break
                if j - i + 3 > automaton.longest:
                    break
                if slot in automaton.successors(states[-1]):
                    for end in range(j + 2, min(j + 1 + limit, len(sentence)) + 1):
                        if (sentence[end] if end < len(sentence) else EDGE) in ends:
                            found.add((first + i, first + j + 1, first + end))
                            break
    return found


@settings(max_examples=80, deadline=None)
@given(contexts, texts, st.integers(1, 3))
def test_the_matcher_finds_what_a_plain_search_finds(given_contexts, sentences, limit):
    automaton = TokenAutomaton.induce([[3, *before, SLOT, behind] for before, behind in given_contexts])
    piece = piece_of(sentences)
    match = Matcher([automaton], [limit], np.zeros(N, dtype=bool)).scan(piece)
    found = set(zip(match.trigger.tolist(), match.first.tolist(), match.end.tolist(), strict=True))
    assert found == matched_by_hand(automaton, limit, piece)
    assert len(found) == len(match.trigger)


def test_a_slot_takes_no_barrier():
    automaton = TokenAutomaton.induce([[3, SLOT, 4]])
    barrier = np.zeros(N, dtype=bool)
    piece = piece_of([[3, 5, 6, 4]])
    assert len(Matcher([automaton], [5], barrier).scan(piece).first) == 1
    barrier[6] = True
    assert len(Matcher([automaton], [5], barrier).scan(piece).first) == 0


@pytest.mark.must_show("context-pattern-induction", 4)
@pytest.mark.parametrize(
    ("candidate", "entity"),
    [
        ("the University of California", "University of California"),
        ("in 1999 the", ""),
        ("Citigroup", "Citigroup"),
        ("the bank Merrill Lynch in 2001", "Merrill Lynch"),
        ("The Hague", "Hague"),
        ("Bank of New York and the", "Bank of New York"),
        ("1999", ""),
        ("Boeing 747", "Boeing"),
        ("his friend Ann", "Ann"),
        ("Smith , 42 , of Leeds", "Smith , 42 , of Leeds"),
        (", -", ""),
    ],
)
def test_trimming_keeps_the_longest_part_between_two_kept_words(candidate, entity):
    assert " ".join(trim(candidate.split(), {"the", "of", "and", "in"})) == entity


def test_triggers_are_chosen_by_how_often_they_dominate_not_by_their_weight():
    idf = np.array([0.0, 0.0, 0.0, 0.1, 2.0, 9.0, 0.1, 0.1, 0.1])
    before = np.array([[3, 4, 6], [7, 4, 3], [8, 3, 4], [3, 4, 5]], dtype=np.int32)  # 5 weighs most, once
    dominating = dominating_words(Contexts(before, np.full(4, 6, dtype=np.int32)), idf)
    assert dominating.tolist() == [4, 4, 4, 5]
    assert trigger_words(dominating, 1).tolist() == [4]


def test_a_segment_begins_at_the_trigger_nearest_to_the_slot_and_has_one_word_behind_it():
    found = segments(
        Contexts(np.array([[4, 6, 4], [0, 4, 7]], dtype=np.int32), np.array([8, EDGE], dtype=np.int32)),
        np.array([4], dtype=np.int32),
    )
    tokens, offsets = found[4]
    assert [tokens[a:b].tolist() for a, b in pairwise(offsets)] == [
        [4, SLOT, 8],
        [4, 7, SLOT, EDGE],
    ]


def test_contexts_end_with_the_sentence():
    piece = piece_of([[3, 4], [5, 6, 7]])
    left = contexts_at(piece, np.array([[2, 3, 0], [4, 5, 0]]), 3, 1)[0]
    assert left.before.tolist() == [[0, 0, 0], [0, 5, 6]]
    assert left.after.tolist() == [6, EDGE]


HARBOUR = (
    "We saw the brig Ann Lee, at sea. We saw the brig Bo Day, at sea. They sold the brig Cy Fox, at home. "
    "She knew the brig Di Ash, at once. We saw the town Ely, at dusk. He knew the town Ware, at dawn. "
    "They left the town Oxley, at noon. She left the town Ripon, at last."
)
SEEDS = {"ship": ["Ann Lee", "Bo Day", "Cy Fox"], "town": ["Ely", "Ware", "Oxley"]}


def names(growth, label: str, seeds: bool = False) -> set[str]:
    return {entity.text for entity in growth.entities if entity.label == label and entity.seed == seeds}


def test_right_patterns_are_left_patterns_of_the_mirror_image():
    forward = [
        ["brig", "Ann", "Lee", ",", "sank"],
        ["brig", "Bo", "Day", ",", "sank"],
        ["brig", "Di", "Ash", ",", "sank"],
    ]
    mirror = [sentence[::-1] for sentence in forward]
    chosen = GrowthSettings(min_seeds=2, side="left")
    left = grow(Corpus([Doc.from_words(mirror)]), {"ship": ["Lee Ann", "Day Bo"]}, chosen)
    right = grow(
        Corpus([Doc.from_words(forward)]), {"ship": ["Ann Lee", "Bo Day"]}, GrowthSettings(min_seeds=2, side="right")
    )
    turned = {" ".join(pattern.text.split()[::-1]) for pattern in left.kept}
    assert {pattern.text for pattern in right.kept} == turned
    assert names(right, "ship") == {"Di Ash"}
    assert names(left, "ship") == {"Ash Di"}


def test_patterns_that_extract_seeds_of_other_classes_go_unless_asked_for():
    # Without triggers of one class only, `the ... ,` would take all names.
    text = HARBOUR.replace("brig ", "").replace("town ", "")
    strict = grow(Corpus([Doc(text)]), SEEDS)
    loose = grow(Corpus([Doc(text)]), SEEDS, GrowthSettings(negatives=False))
    assert not strict.kept
    assert {pattern.negative for pattern in loose.kept} == {3}
    assert names(loose, "town") >= {"Ann Lee", "Di Ash", "Ripon"}


def test_with_one_class_there_is_nothing_to_reject_by():
    growth = grow(Corpus([Doc(HARBOUR)]), {"ship": SEEDS["ship"]})
    assert [pattern.negative for pattern in growth.kept] == [0] * len(growth.kept)
    assert names(growth, "ship") == {"Di Ash"}


def test_patterns_can_be_asked_to_contain_letters():
    growth = grow(Corpus([Doc(HARBOUR)]), {"ship": SEEDS["ship"]}, GrowthSettings(containing={"ship": "schooner"}))
    assert not growth.kept
    assert grow(Corpus([Doc(HARBOUR)]), {"ship": SEEDS["ship"]}, GrowthSettings(containing={"ship": "brig"})).kept


def test_further_iterations_reach_names_that_only_new_seeds_lead_to():
    second = (
        " They raised the wreck Di Ash. They raised the wreck Ed Orr. They raised the wreck Flo Pym. "
        "They raised the wreck Gus Roe. We saw the brig Ed Orr, at sea. We saw the brig Flo Pym, at sea."
    )
    once, twice = (
        grow(Corpus([Doc(HARBOUR + second)]), SEEDS, GrowthSettings(iterations=n, min_score=1)) for n in (1, 2)
    )
    assert "Gus Roe" not in names(once, "ship")
    assert "Gus Roe" in names(twice, "ship")
    assert names(twice, "ship", seeds=True) == set(SEEDS["ship"])  # what was found is not called a seed
    assert twice.figures["iterations"] == 2


def test_the_slot_takes_no_more_words_than_its_class_allows():
    text = HARBOUR + " We met the brig Old Man of the Moor, at last."
    assert "Old Man of the Moor" in names(grow(Corpus([Doc(text)]), SEEDS), "ship")
    assert "Old Man of the Moor" not in names(
        grow(Corpus([Doc(text)]), SEEDS, GrowthSettings(limits={"ship": 4})), "ship"
    )


def test_seeds_inside_longer_names_are_not_looked_for():
    text = "The mayor of California said no. The University of California said no. The dean of New California said no."
    with_parts, without = (
        grow(Corpus([Doc(text)]), {"place": ["California"]}, GrowthSettings(min_seeds=1, whole_names=whole))
        for whole in (False, True)
    )
    assert with_parts.figures["contexts"] == 3
    assert without.figures["contexts"] == 2  # not `New California`


def test_the_result_does_not_depend_on_shards_workers_or_where_the_text_is_kept(tmp_path):
    docs = [Doc(HARBOUR), Doc((EXAMPLES / "port.txt").read_text()), Doc("The brig Lark, at sea, was old."), Doc("Yes.")]
    chosen = GrowthSettings(side="both", min_seeds=2)
    runs = {
        "one": lambda: grow(Corpus(docs), SEEDS, chosen),
        "shards": lambda: grow(Corpus([Doc(doc.text) for doc in docs]).shards(3), SEEDS, chosen),
        "threads": lambda: grow(Corpus([Doc(doc.text) for doc in docs]), SEEDS, replace(chosen, workers=2)),
        "files": lambda: grow(Corpus([Doc(doc.text) for doc in docs]), SEEDS, chosen, spool=True),
    }  # fmt: skip
    written = {}
    for name, run in runs.items():
        files = write_growth(run(), tmp_path / name)
        written[name] = [path.read_bytes() for path in files]
    assert len(written["one"][0].splitlines()) > 3
    assert all(each == written["one"] for each in written.values())


def test_words_are_numbered_by_their_strings_and_documents_are_cut_between_sentences():
    text = "One two three. Four five six. Seven eight nine."
    store = TokenStore.of(Corpus([Doc(text)]), document_words=4)
    assert store.words == sorted(store.words)
    assert store.n_documents == 3
    assert store.idf()[store.number(".")] == 0.0
    assert store.idf()[store.number("two")] == pytest.approx(np.log(3))
    assert store.string(store.piece(0).tokens[:3].tolist()) == "One two three"


def test_lists_are_files_that_gazetteers_are_read_from(tmp_path):
    growth = grow(Corpus([Doc(HARBOUR)]), SEEDS)
    write_growth(growth, tmp_path, "jsonl")
    assert (
        (tmp_path / "ship.txt").read_text().splitlines()
        == growth.lists()["ship"]
        == ["Ann Lee", "Bo Day", "Cy Fox", "Di Ash"]
    )
    rows = [json.loads(line) for line in (tmp_path / "entities.jsonl").read_text().splitlines()]
    assert {row["text"] for row in rows if not row["seed"]} == {"Di Ash", "Ripon"}
    assert growth.gazetteer().lists["town"] == ["Ely", "Oxley", "Ripon", "Ware"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"k": 0.0}, "k must be"), ({"side": "top"}, "side must be one of"), ({"window": 0}, "window must be at least 1"),
     ({"limits": {"boat": 3}}, "names the class 'boat'")],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        grow(Corpus([Doc(HARBOUR)]), SEEDS, GrowthSettings(**change))


def test_missing_seeds_and_empty_text_are_told(tmp_path):
    with pytest.raises(DataError, match="there are no seeds"):
        grow(Corpus([Doc(HARBOUR)]), {})
    with pytest.raises(DataError, match="the class 'ship' has no seeds"):
        grow(Corpus([Doc(HARBOUR)]), {"ship": [" "]})
    with pytest.raises(DataError, match="no words"):
        grow(Corpus([Doc("")]), SEEDS)
    with pytest.raises(DataError, match=r"no file nowhere\.txt"):
        read_seeds(["ship=nowhere.txt"])
    (tmp_path / "none.txt").write_text("# nothing\n")
    with pytest.raises(FormatError, match="names, one per line"):
        read_seeds([f"ship={tmp_path / 'none.txt'}"])


def test_the_command_writes_lists_and_reports_in_json(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "weft", "lexicon", "grow", str(EXAMPLES / "port.txt"),
         "--seeds", f"ship={EXAMPLES / 'port-ships.txt'}", "--seeds", f"town={EXAMPLES / 'port-towns.txt'}",
         "--out", str(tmp_path / "grown"), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(row["class"], row["new"]) for row in report["classes"]] == [("ship", 5), ("town", 5)]
    assert "Quiet Nell" in (tmp_path / "grown" / "ship.txt").read_text().splitlines()
    wrong = subprocess.run(
        [sys.executable, "-m", "weft", "lexicon", "grow", str(EXAMPLES / "port.txt"), "--seeds", "ships", "--out", "x"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert wrong.returncode == 1
    assert "CLASS=FILE" in wrong.stderr
