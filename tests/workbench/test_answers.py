"""Values of answers: every kind is checked, compared by parts, and written into documents and read again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbench_help import document

from weft.text import Doc
from weft.workbench.agreement import agreement, decide, overlap
from weft.workbench.answers import Schema, WrongAnswer, checked, parts, units
from weft.workbench.layers import prepare, value_of, write_value
from weft.workbench.store import ANSWER, FINAL, Answer

SPANS = Schema("spans", ("A", "B"))
RELATIONS = Schema("relations", ("A", "B"), ("r",))
TAGS = Schema("tags", ("A", "B"))
TREES = Schema("trees", ("root", "x"))
QUESTIONS = Schema("questions", ())
LABELS = Schema("labels", ("A", "B"), several=True)
N = 8


def span_of(words: int, label: str) -> dict[str, Any]:
    """The words whose bits are set, as pieces."""
    inside = [bool(words >> word & 1) for word in range(N)]
    starts = [word for word in range(N) if inside[word] and not (word and inside[word - 1])]
    ends = [word + 1 for word in range(N) if inside[word] and not (word + 1 < N and inside[word + 1])]
    return {"pieces": [list(piece) for piece in zip(starts, ends, strict=True)], "label": label}


def spans() -> st.SearchStrategy[dict[str, Any]]:
    one = st.builds(span_of, st.integers(1, (1 << N) - 1), st.sampled_from("AB"))
    return st.lists(one, max_size=4).map(lambda found: {"spans": found})


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    order = draw(st.permutations(range(N)))
    heads = [-1] * N
    for place, word in enumerate(order[1:], start=1):
        heads[word] = order[draw(st.integers(0, place - 1))]
    return {"heads": heads, "labels": ["root" if head < 0 else "x" for head in heads]}


@given(value=spans())
def test_spans_come_back_from_the_layers_they_are_written_to(value: dict[str, Any]) -> None:
    value = checked(SPANS, value, N)
    doc = document()
    prepare(SPANS, doc, "layer")
    write_value(SPANS, doc, "layer", 0, value)
    found = value_of(SPANS, doc, "layer", 0, N)
    assert found is not None
    assert found[0] == value
    assert checked(SPANS, value, N) == value


@given(value=trees(), first=st.sampled_from([0, 5]))
def test_trees_come_back_from_the_heads_they_are_written_to(value: dict[str, Any], first: int) -> None:
    value = checked(TREES, value, N)
    doc = Doc.from_words([["w"] * n for n in ([N] if first == 0 else [5, N])])
    write_value(TREES, doc, "deprel", first, value)
    found = value_of(TREES, doc, "deprel", first, first + N)
    assert found is not None
    assert found[0] == value


def test_tags_relations_and_labels_come_back_too() -> None:
    doc = document()
    rows = [{"head": 1, "tail": 0, "label": "r"}]
    value = checked(RELATIONS, {"spans": [{"pieces": [[4, 5]], "label": "A"}, {"pieces": [[0, 2]], "label": "B"}],
                                "relations": rows}, N)  # fmt: skip
    assert value["relations"] == [{"head": 0, "tail": 1, "label": "r"}]  # spans were sorted
    prepare(RELATIONS, doc, "layer")
    write_value(RELATIONS, doc, "layer", 0, value)
    assert value_of(RELATIONS, doc, "layer", 0, N) == (value, [None, None])
    write_value(TAGS, doc, "upos", 8, {"tags": list("ABABA")})
    assert value_of(TAGS, doc, "upos", 8, 13) == ({"tags": list("ABABA")}, [None] * 5)
    write_value(LABELS, doc, "label", 0, {"labels": ["A", "B"]})
    assert value_of(LABELS, doc, "label", 0, 13) == ({"labels": ["A", "B"]}, [None, None])


def test_probabilities_come_with_the_parts_they_belong_to() -> None:
    doc = document()
    prepare(SPANS, doc, "layer")
    doc.spans["layer"].add([(4, 5)], "A", probability=0.75)
    doc.spans["layer"].add([(0, 1)], "B", probability=0.5)
    assert value_of(SPANS, doc, "layer", 0, N) == (
        {"spans": [{"pieces": [[0, 1]], "label": "B"}, {"pieces": [[4, 5]], "label": "A"}]}, [0.5, 0.75],
    )  # fmt: skip
    doc.set_column("upos", ["A"] * 18)
    doc.confidence["upos"] = np.linspace(0, 1, 17 + 1).astype(np.float32)
    found = value_of(TAGS, doc, "upos", 0, 2)
    assert found is not None
    assert found[1] == [0.0, 0.059]


def one(start: Any, end: Any, label: str = "A") -> dict[str, Any]:
    return {"spans": [{"pieces": [[start, end]], "label": label}]}


ONE_LABEL = LABELS._replace(several=False)
LOOP = {"heads": [1, 0, *[-1] * (N - 2)], "labels": ["x"] * N}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (SPANS, []), (SPANS, {}), (SPANS, {"spans": [{"pieces": [], "label": "A"}]}), (SPANS, one(0, 0)),
        (SPANS, one(-1, 2)), (SPANS, {"spans": [{"pieces": [[0, 2], [1, 3]], "label": "A"}]}), (SPANS, one(0, 1, "C")),
        (SPANS, one(0, True)), (SPANS, one(0, 1.0)), (SPANS, one(0, N + 1)),
        (RELATIONS, {**one(0, 1), "relations": [{"head": 0, "tail": 0, "label": "r"}]}), (RELATIONS, one(0, 1)),
        (RELATIONS, {"spans": [], "relations": [{"head": 0, "tail": 1, "label": "r"}]}),
        (TAGS, {"tags": ["A"]}), (TAGS, {"tags": [""] * N}), (TAGS, {"tags": ["C"] * N}),
        (TREES, LOOP), (TREES, {"heads": [N] * N, "labels": ["x"] * N}),
        (TREES, {"heads": [0] * N, "labels": ["x"] * N}),
        (QUESTIONS, {"accept": "yes"}), (QUESTIONS, {}), (LABELS, {"labels": ["C"]}), (LABELS, {"labels": "A"}),
        (ONE_LABEL, {"labels": ["A", "B"]}), (ONE_LABEL, {"labels": []}),
    ],
)  # fmt: skip
def test_what_is_no_answer_to_the_task_is_refused(schema: Schema, value: Any) -> None:
    with pytest.raises(WrongAnswer):
        checked(schema, value, N)


@given(one=spans(), other=spans())
def test_overlap_counts_the_parts_of_both(one: dict[str, Any], other: dict[str, Any]) -> None:
    one, other = checked(SPANS, one, N), checked(SPANS, other, N)
    shared = sum(span in other["spans"] for span in one["spans"])
    assert overlap(SPANS, one, other) == (shared, len(one["spans"]) + len(other["spans"]))
    assert (units(SPANS, one, N) == units(SPANS, other, N)) >= (parts(SPANS, one) == parts(SPANS, other))


def say(item: int, person: str, value: Any, kind: str = ANSWER) -> Answer:
    return Answer(f"{item}-{person}-{kind}", item, person, kind, value)


def test_an_adjudicator_outvotes_a_majority_and_a_majority_one_person() -> None:
    a, b = {"labels": ["A"]}, {"labels": ["B"]}
    said = [say(1, "ada", a), say(1, "bea", b), say(1, "cleo", b)]
    first = decide(LABELS, said)
    assert first is not None
    assert (first.value, first.disputed) == (b, True)
    last = decide(LABELS, [*said, say(1, "dora", a, FINAL)])
    assert last is not None
    assert (last.value, last.disputed) == (a, False)
    assert decide(LABELS, []) is None


def test_without_a_majority_the_answer_that_shares_most_with_others_counts() -> None:
    one = {"spans": [{"pieces": [[0, 1]], "label": "A"}]}
    two = {"spans": [*one["spans"], {"pieces": [[2, 3]], "label": "B"}]}
    three = {"spans": [{"pieces": [[2, 3]], "label": "B"}, {"pieces": [[5, 6]], "label": "B"}]}
    found = decide(SPANS, [say(1, "ada", one), say(1, "bea", two), say(1, "cleo", three)])
    assert found is not None
    assert found.value == two


def test_agreement_is_that_of_the_measures_on_the_same_answers() -> None:
    """Kappa and alpha of labels by hand: ada and bea agree on 3 of 4 items."""
    pairs = [("A", "A"), ("A", "A"), ("B", "B"), ("B", "A")]
    said = [
        say(i, who, {"labels": [x]})
        for i, pair in enumerate(pairs)
        for who, x in zip(("ada", "bea"), pair, strict=True)
    ]
    said.append(say(9, "ada", {"labels": ["A"]}))  # nobody else answered it
    schema = Schema("labels", ("A", "B"))
    found = agreement(schema, dict.fromkeys([*range(4), 9], N), said)
    assert (found.items, found.same) == (4, 3)
    assert found.kappa == pytest.approx((0.75 - 0.5) / 0.5)
    assert found.alpha == pytest.approx(1 - 0.25 / (2 * 5 * 3 / (8 * 7)))
    assert found.f1 == pytest.approx(0.75)
    assert [(pair.first, pair.second, pair.items) for pair in found.pairs] == [("ada", "bea", 4)]
    assert agreement(schema, {9: N}, said[-1:]).kappa is None
