"""Cues and scopes in XML: what is read, what is written, and that nothing moves by a character."""

import gzip
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError, WeftError
from weft.formats import read, write
from weft.formats.bioscope import parse, to_text
from weft.text import Doc
from weft.text.conventions.hedges import Hedge, assemble, hedges_of, proposed_scope, set_hedges, uncertain_of
from weft.text.layers import RelationLayer, SpanLayer

FRAME = (
    '<Annotation><DocumentSet><Document type="note"><DocID type="own">7</DocID>{}</Document></DocumentSet></Annotation>'
)
PAPERS = ("uncertainty/bioscope/abstracts.xml.gz", "uncertainty/bioscope/full_papers.xml.gz")
#: Sentences of the corpus that are not written as they were read: blanks stand before their text.
KNOWN = {"S4.196", "S7.133"}


def note(body):
    (doc,) = parse(FRAME.format(body))
    return doc


def part(*sentences, kind="Text"):
    rows = (f'<sentence id="S1.{number}">{text}</sentence>' for number, text in enumerate(sentences, 1))
    return f'<DocumentPart type="{kind}">{"".join(rows)}</DocumentPart>'


def cue(number, text, kind="speculation"):
    return f'<cue type="{kind}" ref="X{number}">{text}</cue>'


def test_parts_sentences_and_layers_are_read():
    doc = note(
        part("A &lt; title", kind="Title")
        + part(
            f'We <xcope id="X2">{cue(2, "think")} that it does <xcope id="X1">{cue(1, "not", "negation")} work</xcope>'
            "</xcope> (1).",
            f'It <xcope id="X3">{cue(3, "may")} rain {cue(3, "or")} snow</xcope>.',
        )
    )
    assert doc.id == "7"
    assert [sentence.meta["part"] for sentence in doc.sentences] == ["Title", "Text", "Text"]
    assert doc.sentences[0].text == "A < title"
    views = {name: [(span.text, span.label) for span in doc.span_views(name)] for name in doc.spans}
    assert ("think that it does not work", "scope") in views["speculation"]
    assert ("may ... or", "cue") in views["speculation"]
    assert views["negation"] == [("not work", "scope"), ("not", "cue")]
    assert uncertain_of(doc) == [False, True, True]
    assert hedges_of(doc)[2] == [Hedge((1, 3), (1, 5))]


def test_weasels_have_cues_without_scopes_and_sentences_may_say_that_they_are_uncertain():
    body = '<DocumentPart type="Text"><sentence id="S1.1" certainty="uncertain"><ccue>Some</ccue> say so.</sentence>'
    body += '<sentence id="S1.2" certainty="certain">It is.</sentence></DocumentPart>'
    doc = note(body)
    assert hedges_of(doc) == [[Hedge((0,), None)], []]
    assert uncertain_of(doc) == [True, False]
    assert "<ccue>Some</ccue>" in to_text(doc)
    assert to_text(doc).count("certainty") == 2
    assert note(body).same(parse(f"<Annotation>{to_text(doc)}</Annotation>")[0])


@pytest.mark.must_show("uncertainty-detection", 4)
def test_what_annotators_got_wrong_is_kept():
    """Scopes of one extent in both orders, scopes of two layers, a scope that does not hold its cue, or has none."""
    bodies = [
        f'<xcope id="X1"><xcope id="X2">{cue(2, "may")} {cue(1, "not", "negation")} rain</xcope></xcope>',
        f'<xcope id="X2"><xcope id="X1">{cue(2, "may")} {cue(1, "not", "negation")} rain</xcope></xcope>',
        f'<xcope id="X1">It rains</xcope> {cue(1, "or")} <xcope id="X9">snows</xcope>',
    ]
    doc = note(part(*bodies))
    again = parse(f"<Annotation>{to_text(doc)}</Annotation>")[0]
    assert doc.same(again)
    for body in bodies:
        assert f">{body}</sentence>" in to_text(doc)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<Annotation><Document></Annotation>", "line 1: expected well-formed XML"),
        (FRAME.format(part("\n<b>x</b>")), "line 2: expected one of the elements xcope, cue, ccue"),
        (FRAME.format(part("<xcope>x</xcope>")), 'expected <xcope id="...">'),
        (FRAME.format(part(cue(1, ""))), "expected text in <cue>"),
        ("<html/>", "expected one of the elements Annotation"),
    ],
)
def test_bad_xml_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=message):
        parse(text)


def test_scopes_that_cross_are_not_written():
    doc = Doc.from_words([["a", "b", "c", "d"]])
    doc.spans["speculation"] = SpanLayer.of(doc.strings, [(0, 2, "scope"), (1, 3, "scope")])
    doc.relations["speculation"] = RelationLayer(doc.strings, "speculation")
    with pytest.raises(WeftError, match="crosses another one"):
        to_text(doc)


def test_files_are_told_by_their_suffix_and_convert(tmp_path):
    path = tmp_path / "notes.xml"
    docs = parse(FRAME.format(part(f'It <xcope id="X1">{cue(1, "may")} rain</xcope>.')))
    write(docs, path)
    (doc,) = read(path)
    assert doc.same(docs[0])
    write([doc], tmp_path / "notes.jsonl")
    (other,) = read(tmp_path / "notes.jsonl")
    assert to_text(other) == to_text(doc)


@st.composite
def sentences_with_scopes(draw):
    """A sentence, disjoint cues in one or two pieces, and any label sequence for each."""
    length = draw(st.integers(1, 9))
    owner = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    cues = [[word for word in range(length) if owner[word] == number] for number in (1, 2, 3)]
    cues = [each for each in cues if each]
    labels = [draw(st.lists(st.sampled_from("BIO"), min_size=length, max_size=length)) for _ in cues]
    return length, cues, labels


@pytest.mark.must_show("uncertainty-detection", 4)
@given(sentences_with_scopes())
@settings(max_examples=150, deadline=None)
def test_any_label_sequences_give_xml_that_parses_nests_and_holds_its_cues(case):
    length, cues, labels = case
    proposals = [proposed_scope(each, words) for each, words in zip(labels, cues, strict=True)]
    scopes = assemble(cues, proposals, length)
    hedges = [Hedge(tuple(words), scope) for words, scope in zip(cues, scopes, strict=True)]
    doc = Doc.from_words([[f"w{i}&" for i in range(length)]])
    set_hedges(doc, [hedges])
    tree = ElementTree.fromstring(f"<Annotation>{to_text(doc)}</Annotation>")
    sentence = next(tree.iter("sentence"))
    assert "".join(sentence.itertext()) == doc.text
    found = {scope.get("id"): scope for scope in sentence.iter("xcope")}
    assert len(found) == len(cues)
    for element in sentence.iter("cue"):
        assert element in list(found[element.get("ref")].iter("cue"))
    for hedge, proposal in zip(hedges, proposals, strict=True):
        assert hedge.scope in (proposal, (0, length))
    (again,) = parse(f"<Annotation>{to_text(doc)}</Annotation>")
    assert {hedge.scope for hedge in hedges} == {
        (words[0].index, words[-1].index + 1)
        for words in (doc_words(again, span) for span in again.span_views("speculation") if span.label == "scope")
    } or not hedges


def doc_words(doc, span):
    """The words of the other document that a span covers, by the blanks before it."""
    first = doc.text[: span.pieces[0][0]].count(" ")
    last = doc.text[: span.pieces[-1][1]].count(" ")
    return [_Place(first), _Place(last)]


class _Place:
    def __init__(self, index):
        self.index = index


@given(sentences_with_scopes())
@settings(max_examples=80, deadline=None)
def test_scopes_that_already_nest_stay_as_they_are(case):
    length, cues, labels = case
    proposals = [proposed_scope(each, words) for each, words in zip(labels, cues, strict=True)]
    scopes = assemble(cues, proposals, length)
    assert assemble(cues, scopes, length) == scopes


@pytest.mark.corpus
@pytest.mark.must_show("uncertainty-detection", 4)
@pytest.mark.parametrize("name", PAPERS)
def test_the_corpus_is_written_as_it_was_read(corpus_file, tmp_path, name):
    path: Path = corpus_file(name)
    docs = list(read(path))
    out = tmp_path / "again.xml"
    write(docs, out)
    before, after = ElementTree.fromstring(gzip.decompress(path.read_bytes())), ElementTree.parse(out).getroot()
    for tag in ("Annotation", "Document", "DocID", "DocumentPart"):
        assert [each.attrib for each in before.iter(tag)] == [each.attrib for each in after.iter(tag)]
    differ = set()
    for one, other in zip(before.iter("sentence"), after.iter("sentence"), strict=True):
        one.tail = other.tail = None
        if ElementTree.tostring(one) != ElementTree.tostring(other):
            differ.add(one.get("id"))
    assert differ == (KNOWN if "papers" in name else set())
    # Scopes without their own cue: slips of the annotators, kept as they are.
    strays = 0
    for scope in before.iter("xcope"):
        strays += scope.get("id") not in {each.get("ref") for each in scope.iter("cue")}
    assert strays == (8 if "papers" in name else 9)


def test_words_and_characters_agree_where_cues_stand_between_blanks():
    doc = note(part(f'It <xcope id="X1">{cue(1, "may")} rain and/{cue(1, "or")} snow</xcope>.'))
    assert [span.text for span in doc.span_views("speculation") if span.label == "cue"] == ["may ... or"]
    ((hedge,),) = hedges_of(doc)
    assert [doc.words[word].form for word in hedge.cue] == ["may", "or"]
