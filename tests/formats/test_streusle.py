"""STREUSLE and DiMSUM files: round trips, both kinds of columns, bad lines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.data import find, have
from weft.errors import FormatError
from weft.formats import detect, read, write
from weft.formats.losses import lost_layers
from weft.formats.streusle import groups_of_links, to_text
from weft.text import Doc
from weft.text.conventions.expressions import (
    TOPOLOGIES,
    Expressions,
    decode,
    expressions_of,
    has_gap,
    representable,
    set_expressions,
)

LEX = """# newdoc id = pets
# sent_id = pets-1
1-2	Don't	_	_	_	_	_	_	_	_	_	_	_	_	_	_	_	_	_
1	Do	do	AUX	VB	_	3	aux	_	_	_	AUX	do	_	_	_	_	_	O-AUX
2	n't	not	PART	RB	_	3	advmod	_	_	_	ADV	not	_	_	_	_	_	O-ADV
3	give	give	VERB	VB	_	0	root	_	_	1:1	V	give up	_	_	2:1	_	_	B-V
4	cats	cat	NOUN	NNS	_	3	obj	_	_	_	N	cat	_	_	_	_	_	o-N
5	up	up	ADP	RP	_	3	compound:prt	_	_	1:2	_	_	_	_	2:2	_	_	I_
6	early	early	ADV	RB	_	3	advmod	_	_	_	ADV	early	_	_	2:3	_	_	I~-ADV

# newdoc id = more
# sent_id = more-1
1	Yes	yes	INTJ	UH	_	0	root	_	_	_	INTJ	yes	_	_	_	_	_	O-INTJ

"""


@st.composite
def tag_sequences(draw):
    topology = TOPOLOGIES[8]
    path = [draw(st.sampled_from(topology.start))]
    while len(path) < 9 and (path[-1] not in topology.end or draw(st.booleans())):
        path.append(draw(st.sampled_from(topology.follows[path[-1]])))
    while path[-1] not in topology.end:
        path.append("i_" if path[-1] == "b" else "I_")
    return path


@settings(max_examples=50, deadline=None)
@given(st.lists(tag_sequences(), min_size=1, max_size=4))
def test_expressions_come_back_from_nine_columns(tmp_path_factory, paths):
    words = [[f"w{k}" for k in range(len(path))] for path in paths]
    doc = Doc.from_words(words, lemma=words, upos=[["X"] * len(path) for path in paths])
    found = [decode(path) for path in paths]
    set_expressions(doc, found)
    path = tmp_path_factory.mktemp("streusle") / "docs.tags"
    write([doc], path)
    (back,) = read(path)
    assert expressions_of(back) == found
    assert (back.text, back.column("lemma"), back.column("upos")) == (doc.text, doc.column("lemma"), doc.column("upos"))
    assert to_text(back) == to_text(doc)


def test_conllulex_gives_words_trees_and_groups(tmp_path):
    path = tmp_path / "pets.conllulex"
    path.write_text(LEX, encoding="utf-8")
    assert detect(path) == "streusle"
    pets, more = read(path)
    assert (pets.id, more.id) == ("pets", "more")
    assert pets.text == "Don't give cats up early"
    assert pets.column("xpos") == ["VB", "RB", "VB", "NNS", "RP", "RB"]
    assert pets.head is not None
    assert expressions_of(pets) == [Expressions.of(strong=[(2, 4)], weak=[(2, 4, 5)])]
    assert expressions_of(more) == [Expressions()]


def test_links_without_strength_are_strong():
    assert groups_of_links([-1, 0, -1, 1], [False] * 4) == Expressions.of(strong=[(0, 1, 3)])


@pytest.mark.parametrize(
    ("tags", "parents", "line"),
    [("O QQ", "0 0", 2), ("O ī", "0 0", 2), ("B O", "0 1", 2), ("O B Ī", "0 0 0", 3)],
)
def test_tags_that_are_none_or_contradict_the_links_are_refused(tmp_path, tags, parents, line):
    rows = enumerate(zip(tags.split(), parents.split(), strict=True), 1)
    text = "".join(f"{k}\tw{k}\tw{k}\tX\t{tag}\t{parent}\t\t\ts.1\n" for k, (tag, parent) in rows)
    (tmp_path / "a.tags").write_text(text)
    with pytest.raises(FormatError, match=f"line {line}: expected the MWE tag of a word linked to"):
        list(read(tmp_path / "a.tags"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1\ta\ta\tX\tO\t0\t\t\ts.1\n2\tb\tb\tX\n", 2),
        ("2\ta\ta\tX\tO\t0\t\t\ts.1\n", 1),
        ("1\ta\ta\tX\tO\t2\t\t\ts.1\n2\tb\tb\tX\tO\t0\t\t\ts.1\n", 1),
        ("1\ta\ta\tX\tO\t0\t\t\ts.1\n\n1 a\n", 3),
    ],
)
def test_bad_lines_are_named_or_skipped(tmp_path, text, line):
    path = tmp_path / "bad.tags"
    path.write_text(text)
    with pytest.raises(FormatError, match=f"line {line}:"):
        list(read(path))
    corpus = read(path, skip_bad=True)
    list(corpus)
    assert corpus.report.count == 1


def test_what_is_lost_is_said():
    doc = Doc.from_words([["a"]], lemma=[["a"]], xpos=[["X"]])
    set_expressions(doc, [Expressions()])
    assert lost_layers(doc, "streusle") == {"xpos"}


@pytest.mark.corpus
@pytest.mark.skipif(not have("mwe/streusle-2.1/streusle.upos.tags.gz"), reason="STREUSLE is not at hand: set WEFT_DATA")
def test_streusle_has_the_counts_of_its_makers():
    sentences = words = groups = weak = gappy = bad = 0
    for doc in read(find("mwe/streusle-2.1/streusle.upos.tags.gz")):
        sentences, words = sentences + doc.n_sentences, words + doc.n_words
        for number, found in enumerate(expressions_of(doc)):
            outer = found.outermost()
            groups, weak, gappy = groups + len(outer), weak + len(found.weak), gappy + sum(map(has_gap, outer))
            length = int(doc.sentence_offsets[number + 1] - doc.sentence_offsets[number])
            bad += not representable(found, length)
    assert (sentences, words, groups, weak, gappy, bad) == (3812, 55579, 3636, 613, 526, 0)
