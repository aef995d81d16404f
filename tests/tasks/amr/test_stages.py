"""Concepts and relations: search equals enumeration, outputs obey their conditions, models are kept."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from steps import exponent, steps_of

import weft
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.formats import read, write
from weft.formats.penman import lay_out, parse_amr
from weft.pipeline.pipeline import Pipeline
from weft.tasks.amr.aligner import Aligner
from weft.tasks.amr.concepts import Choice, ConceptModel, ConceptOptions, Sentence
from weft.tasks.amr.data import example_of, finished, sentences_of
from weft.tasks.amr.fragments import Piece, date_entity, named_entity, numbered_ops
from weft.tasks.amr.parser import AmrParser, AmrSettings
from weft.tasks.amr.relations import DETERMINISTIC, FOCUS, Problem, RelationModel, RelationOptions
from weft.text import Doc
from weft.text.conventions.amr import Amr, Edge, amrs_of, set_amrs

#: Sentences with tags, lemmas, heads, relations and graphs.
DATA = [
    ("The boy wants milk", "DET NOUN VERB NOUN", "the boy want milk", "2 3 0 3", "det nsubj root obj",
     "(w / want-01 :ARG0 (b / boy) :ARG1 (m / milk))"),
    ("Girls sleep", "NOUN VERB", "girl sleep", "2 0", "nsubj root", "(s / sleep-01 :ARG0 (g / girl))"),
    ("The girl does not sleep", "DET NOUN AUX PART VERB", "the girl do not sleep", "2 5 5 5 0",
     "det nsubj aux advmod root", "(s / sleep-01 :polarity - :ARG0 (g / girl))"),
    ("Boys and girls want milk", "NOUN CCONJ NOUN VERB NOUN", "boy and girl want milk", "4 3 1 0 4",
     "nsubj cc conj root obj",
     "(w / want-01 :ARG0 (a / and :op1 (b / boy) :op2 (g / girl)) :ARG1 (m / milk))"),
    ("Strikers visit Rome", "NOUN VERB PROPN", "striker visit Rome", "2 0 2", "nsubj root obj",
     '(v / visit-01 :ARG0 (p / person :ARG0-of (s / strike-01)) :ARG1 (c / city :name (n / name :op1 "Rome")))'),
]  # fmt: skip


def corpus() -> Doc:
    """A small tagged and parsed corpus with graphs."""
    columns = [[row[i].split() for row in DATA] for i in range(5)]
    doc = Doc.from_words(
        columns[0], upos=columns[1], lemma=columns[2], head=[[int(h) for h in row] for row in columns[3]],
        deprel=columns[4],
    )  # fmt: skip
    set_amrs(doc, [parse_amr(row[5]) for row in DATA])
    return doc


@pytest.fixture(scope="module")
def parser() -> AmrParser:
    trained = AmrParser(AmrSettings(hash_bits=16, learn_links=False))
    trained.fit([corpus()])
    return trained


def segmentations(n: int, longest: int):
    """All cuts of n words into spans."""
    for cuts in product([False, True], repeat=n - 1):
        ends = [i + 1 for i, cut in enumerate(cuts) if cut] + [n]
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
        if all(end - start <= longest for start, end in spans):
            yield spans


@pytest.mark.must_show("jamr", 4)
@pytest.mark.parametrize("seed", range(40))
def test_the_best_segmentation_is_that_of_enumeration(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 9))
    words = [str(random.choice(["a", "b", "c"])) for _ in range(n)]
    model = ConceptModel(ConceptOptions(rich=bool(seed % 2), rules=False, backoff=False), longest=3)
    for start in range(n):
        for end in range(start + 1, min(start + 3, n) + 1):
            if random.random() < 0.6:
                pieces = [Piece.concept(f"x{k}") for k in range(2)]
                model.table[" ".join(words[start:end])] = [(piece, float(random.random())) for piece in pieces]
    model.weights = random.normal(size=1 << model.options.hash_bits)
    sentence = Sentence(words, words, ["X"] * n, [0] * n, ["dep"] * n, {})

    def score(start: int, end: int, candidate) -> float:
        return sum(model.weights[row] * value for row, value in model._features(sentence, start, end, candidate))

    def best_span(start: int, end: int) -> float:
        nothing = [0.0] if end == start + 1 else []
        return max(
            [*nothing, *(score(start, end, one) for one in model.candidates(sentence, start, end))], default=-np.inf
        )

    found = model.decode(sentence)
    total = sum(score(one.start, one.end, model._known(sentence, one)) for one in found)
    best = max(sum(best_span(*span) for span in spans) for spans in segmentations(n, 3))
    assert total == pytest.approx(best)
    assert all(a.end <= b.start for a, b in pairwise(found))


def some_sentence(random: np.random.Generator, n: int) -> Sentence:
    words = [str(random.choice(["boy", "want", "go", "and", "New", "1943"])) for _ in range(n)]
    heads = [0, *(int(random.integers(1, i + 1)) for i in range(1, n))]
    return Sentence(words, words, [str(random.choice(["N", "V"])) for _ in words], heads, ["dep"] * n, {})


@pytest.mark.must_show("jamr", 3)
@pytest.mark.parametrize("search", ["relaxation", "greedy"])
@pytest.mark.parametrize("seed", range(40))
def test_every_graph_is_connected_deterministic_simple_and_keeps_its_pieces(seed, search):
    random = np.random.default_rng(seed)
    sentence = some_sentence(random, int(random.integers(1, 9)))
    pieces = [
        Piece.concept("want-01"),
        Piece.concept("and"),
        named_entity(["New", "York"], "city", wiki=True),
        Piece(("-",), (True,), ()),
        Piece(("person", "strike-01"), (False, False), (Edge(1, 0, "ARG0"),)),
    ]
    choices = [Choice(i, i + 1, pieces[random.integers(len(pieces))]) for i in range(len(sentence.words))]
    problem = Problem(sentence, choices)
    model = RelationModel(RelationOptions(hash_bits=12, search=search), [*DETERMINISTIC, "mod", "op", "polarity"])
    model.weights = random.normal(size=1 << 12)
    found = model.decode(problem)
    amr = finished(problem, found.edges)
    if problem.nodes.constant.all():
        assert amr.labels == ["amr-empty"]
        return
    assert amr.connected()
    assert len(amr) == len(problem)
    assert not amr.is_constant(0)
    assert sum(edge.role == FOCUS for edge in found.edges) == 1
    roles = [(edge.source, edge.role) for edge in amr.edges if edge.role in DETERMINISTIC]
    assert len(roles) == len(set(roles))
    assert len({frozenset(edge[:2]) for edge in amr.edges}) == len(amr.edges)
    assert not any(amr.is_constant(edge.source) for edge in amr.edges)
    assert all(sum(edge.target == node for edge in amr.edges) == 1 for node in range(len(amr)) if amr.is_constant(node))
    back = parse_amr(lay_out(amr)[0])
    assert sorted(back.labels) == sorted(amr.labels)
    assert len(back.edges) == len(amr.edges)
    ops = [(edge.source, edge.role) for edge in amr.edges if edge.role.startswith("op")]
    assert len(ops) == len(set(ops)), "numbers of op edges differ"
    number = {node: i for i, node in enumerate([next(e.target for e in found.edges if e.role == FOCUS)])}
    order = [*number, *(node for node in range(len(problem)) if node not in number)]
    place = {node: i for i, node in enumerate(order)}
    kept = {(place[source], place[target]) for source, target, _ in problem.fixed}
    assert kept <= {edge[:2] for edge in amr.edges}
    assert model.decode(problem) == found


def steps_of_relations(n: int) -> int:
    """Steps of scoring all edges between n concepts and of one search for a connected graph."""
    random = np.random.default_rng(n)
    sentence = some_sentence(random, n)
    problem = Problem(sentence, [Choice(i, i + 1, Piece.concept("want-01")) for i in range(n)])
    model = RelationModel(RelationOptions(hash_bits=12, search="greedy"), [*DETERMINISTIC, "mod", "op"])
    model.weights = random.normal(size=1 << 12)
    return steps_of(lambda: model.decode(problem))


@pytest.mark.must_show(
    "jamr", 8, weaker="steps of scoring pairs and of searching; the time of whole sentences grows less (slope 1.2)"
)
def test_steps_grow_with_about_the_square_of_the_number_of_concepts():
    sizes = (8, 16, 32)
    assert 1.7 < exponent(sizes, [steps_of_relations(n) for n in sizes]) < 2.3


def test_the_top_is_the_target_of_the_best_focus_edge_of_all_graphs():
    sentence = Sentence(["a", "b", "c"], ["a", "b", "c"], ["X", "Y", "Z"], [2, 0, 2], ["p", "q", "r"], {})
    problem = Problem(sentence, [Choice(i, i + 1, Piece.concept(word)) for i, word in enumerate("abc")])
    model = RelationModel(RelationOptions(hash_bits=12), ["mod"])
    tops = set()
    for seed in range(30):
        model.weights = np.random.default_rng(seed).normal(size=1 << 12)
        focus = model.scores(problem)[3, :3, 1]
        (top,) = [edge.target for edge in model.decode(problem).edges if edge.role == FOCUS]
        assert top == int(np.argmax(focus))
        tops.add(top)
    assert tops == {0, 1, 2}


def test_op_edges_are_numbered_from_left_to_right_and_reentrancies_are_kept():
    edges = numbered_ops([Edge(0, 2, "op"), Edge(0, 1, "op"), Edge(3, 1, "ARG0")], [5, 7, 2, 9])
    assert edges == [Edge(0, 2, "op1"), Edge(0, 1, "op2"), Edge(3, 1, "ARG0")]


def test_names_and_dates_that_were_never_seen_become_pieces():
    assert named_entity(["Rome"], "city", wiki=True).labels == ("city", "name", '"Rome"', "-")
    assert date_entity(["29", "May", "1943"]).edges == (Edge(0, 1, "year"), Edge(0, 2, "month"), Edge(0, 3, "day"))
    assert date_entity(["1943-05-29"]).labels == ("date-entity", "1943", "5", "29")
    assert date_entity(["May"]) is None
    assert date_entity(["12"]) is None
    model = ConceptModel(ConceptOptions())
    sentence = Sentence(["Paris"], ["Paris"], ["PROPN"], [0], ["root"], {(0, 1): "LOC"})
    assert [one.piece.labels for one in model.candidates(sentence, 0, 1)] == [("city", "name", '"Paris"')]
    model.options.rules = False
    assert not list(model.candidates(sentence, 0, 1))


def test_dates_that_were_never_seen_are_candidates():
    sentence = Sentence(["1943"], ["1943"], ["X"], [0], ["root"], {})
    (candidate,) = ConceptModel(ConceptOptions(backoff=False)).candidates(sentence, 0, 1)
    assert candidate.piece.labels == ("date-entity", "1943")


def test_training_keeps_aligned_nodes_only_and_pieces_of_several_nodes():
    doc = corpus()
    examples = [
        example_of(sentence, amr, Aligner(lambda word: {"strike"} if word == "strikers" else set()))
        for sentence, amr in zip(sentences_of(doc), amrs_of(doc), strict=True)
        if amr is not None
    ]
    assert examples[4].choices[0].piece.labels == ("person", "strike-01")
    assert examples[4].choices[0].piece.edges == (Edge(1, 0, "ARG0"),)
    assert [edge.role for edge in examples[3].edges].count("op") == 2
    assert all(example.edges[-1].role == FOCUS for example in examples)


def test_the_parser_learns_its_data_and_says_where_nodes_come_from(parser):
    doc = corpus()
    gold = amrs_of(doc)
    del doc.graphs["amr"], doc.spans["amr"]
    parser([doc])
    found = amrs_of(doc)
    for one, other in zip(gold[:4], found[:4], strict=True):
        assert sorted(one.labels) == sorted(other.labels)
        assert one.labels[0] == other.labels[0]
    assert all(words for amr in found for words in amr.words)


def test_models_are_saved_and_give_the_same_graphs(parser, tmp_path):
    Pipeline([parser]).save(tmp_path / "amr.weft")
    again = Pipeline.load(tmp_path / "amr.weft")
    docs = [corpus(), corpus()]
    parser([docs[0]])
    again(docs[1])
    assert amrs_of(docs[0]) == amrs_of(docs[1])
    header, arrays = parser.state()
    header["concepts"]["pieces"][0][2] = [[0, 9, "ARG0"]]
    with pytest.raises(ModelError, match="damaged"):
        AmrParser.from_state(header, arrays)


def test_files_are_trained_on_annotated_and_scored(tmp_path):
    plain = corpus()
    bare = Doc.from_words([row[0].split() for row in DATA])
    set_amrs(bare, amrs_of(plain))
    write([bare], tmp_path / "train.amr")
    nlp = weft.train("amr", tmp_path / "train.amr", dev=tmp_path / "train.amr", hash_bits=14, relation_passes=3)
    assert nlp.card["scores"]["dev Smatch"] > 0.6
    nlp.save(tmp_path / "amr.weft")
    doc = weft.load("en", tmp_path / "amr.weft")("Girls want milk. ")
    write([doc], tmp_path / "new.amr")
    text = (tmp_path / "new.amr").read_text()
    assert "# ::alignments " in text
    assert "# ::tok Girls want milk ." in text
    (back,) = read(tmp_path / "new.amr")
    assert amrs_of(back)[0].labels[0] == amrs_of(doc)[0].labels[0]


def test_what_cannot_be_trained_is_told():
    with pytest.raises(DataError, match="the documents have no AMRs"):
        AmrParser().fit([Doc.from_words([["a"]], upos=[["X"]], lemma=[["a"]], head=[[0]], deprel=[["root"]])])
    with pytest.raises(ConfigError, match="search must be one of relaxation, greedy, none"):
        AmrSettings(search="beam").check()
    with pytest.raises(WeftError, match="not trained yet"):
        AmrParser()([Doc.from_words([["a"]])])


def test_an_empty_sentence_means_nothing():
    assert finished(Problem(Sentence([], [], [], [], [], {}), []), []) == Amr(["amr-empty"], ["a"], [])
