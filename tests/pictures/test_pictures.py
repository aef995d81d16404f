"""Pictures are well-formed whatever the text, say in words what they show, and hold every span and arc."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.pictures import draw_phrases, draw_spans, draw_tree, highlight_spans, pictures_of, show, span_layers, stacked
from weft.pictures.arcs import _levels
from weft.pictures.style import style_sheet
from weft.text import Doc, SpanLayer
from weft.text.constituents import doc_of_trees
from weft.text.trees import parse_tree

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def annotated(draw: st.DrawFn) -> Doc:
    """A sentence of any characters with any heads and any spans."""
    form = st.text(min_size=1, max_size=5)
    forms = draw(st.lists(form, min_size=1, max_size=9))
    n = len(forms)
    heads = draw(st.lists(st.integers(-1, n), min_size=n, max_size=n))
    heads = [-1 if head == i + 1 else head for i, head in enumerate(heads)]
    doc = Doc.from_words(
        [forms], head=[heads], deprel=[[draw(form) for _ in forms]], upos=[[draw(form) for _ in forms]]
    )
    layer = doc.spans["any"] = SpanLayer(doc.strings)
    for _ in range(draw(st.integers(0, 4))):
        cuts = sorted(draw(st.sets(st.integers(0, n), min_size=2, max_size=5)))
        layer.add(list(zip(cuts[::2], cuts[1::2], strict=False)), draw(form))
    return doc


@settings(max_examples=60, deadline=None)
@given(annotated())
def test_pictures_of_any_text_are_well_formed_and_hold_every_word_and_span(doc: Doc) -> None:
    sentence, layer = doc.sentences[0], doc.spans["any"]
    for picture in (draw_tree(sentence), draw_spans(sentence, layer), draw_phrases(sentence)):
        root = ElementTree.fromstring(picture)
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title") is not None
        assert root.find(f"{SVG}desc") is not None
        drawn = {element.get("data-word") for element in root.iter() if element.get("data-word")}
        assert drawn == {str(i) for i in range(doc.n_words)}
    html = ElementTree.fromstring(highlight_spans(sentence, layer))
    marked: dict[int, set[int]] = {}
    for mark in html.iter("mark"):
        words = {int(word.get("data-word", "")) for word in mark.iter("span")}
        marked.setdefault(int(mark.get("data-span", "")), set()).update(words)
    assert marked == {i: {w for a, b in row.pieces for w in range(a, b)} for i, row in enumerate(layer)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_arcs_never_share_a_level_where_they_share_a_place(heads: list[int]) -> None:
    heads = [head if head <= len(heads) and head != i + 1 else 0 for i, head in enumerate(heads)]
    levels = _levels(heads)
    arcs = [(*sorted((i, head - 1)), levels[i]) for i, head in enumerate(heads) if head > 0]
    for (a, b, one), (c, d, other) in combinations(arcs, 2):
        if max(a, c) < min(b, d):
            assert one != other
            if c <= a and b <= d and (a, b) != (c, d):
                assert one < other


def test_arcs_stand_above_those_inside_them() -> None:
    assert _levels([2, 0, 5, 5, 2]) == [1, 4, 2, 1, 3]


def test_a_tree_is_told_in_words() -> None:
    doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    root = ElementTree.fromstring(draw_tree(doc.sentences[0]))
    assert root.findtext(f"{SVG}title") == "Dependency tree of: Dogs bark"
    assert root.findtext(f"{SVG}desc") == "Dogs is nsubj of bark; bark is the root"


def test_phrases_stand_above_and_between_what_they_hold() -> None:
    doc = doc_of_trees([parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")])
    root = ElementTree.fromstring(draw_phrases(doc.sentences[0]))
    place = {e.text: (float(e.get("x", "")), float(e.get("y", ""))) for e in root.iter(f"{SVG}text")}
    assert place["S"][1] < place["NP"][1] == place["VP"][1] < place["DT"][1] < place["the"][1]
    assert place["the"][0] < place["NP"][0] < place["dog"][0] < place["VP"][0] == place["barks"][0]


def test_nested_spans_are_marks_inside_marks_and_gaps_part_a_span() -> None:
    doc = Doc.from_words([["Bank", "of", "Oslo", "opened"]])
    layer = SpanLayer(doc.strings)
    layer.add([(0, 3)], "ORG", probability=0.9)
    layer.add([(2, 3)], "LOC")
    html = ElementTree.fromstring(highlight_spans(doc.sentences[0], layer))
    outer = html.find("mark")
    assert outer is not None
    assert outer.get("data-probability") == "0.9"
    assert [small.text for small in outer.iter("small")] == ["LOC", "ORG"]
    gappy = SpanLayer(doc.strings)
    gappy.add([(0, 1), (2, 3)], "X")
    marks = list(ElementTree.fromstring(highlight_spans(doc.sentences[0], gappy)).iter("mark"))
    assert [mark.get("class", "").endswith(" on") for mark in marks] == [False, True]
    assert draw_spans(doc.sentences[0], gappy).count("bar gap") == 1


def test_text_between_words_is_kept_as_it_is() -> None:
    doc = Doc.from_words([["(", "Ada", ")"]], spaces=[[False, False, True]])
    doc.spans["names"] = SpanLayer.of(doc.strings, [(1, 2, "PER")])
    html = ElementTree.fromstring(highlight_spans(doc.sentences[0], doc.spans["names"]))
    assert "".join(html.itertext()) == "(AdaPER)"


def test_show_holds_all_that_is_there_and_saves_a_page_that_needs_nothing_else(tmp_path) -> None:
    doc = Doc.from_words([["Ada", "slept"]], head=[[2, 0]], deprel=[["nsubj", "root"]], misc=[["NER=B-PER", ""]])
    picture = weft.show(doc)
    html = picture._repr_html_()
    assert (html.count("<svg"), html.count("<mark"), html.count("<style")) == (1, 1, 1)
    picture.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    outside = [link for link in re.findall(r"https?://[^\"' )]+", page) if link != "http://www.w3.org/2000/svg"]
    assert not outside
    assert "prefers-color-scheme: dark" in page


def test_show_takes_sentences_and_stops_at_its_limit() -> None:
    doc = Doc.from_words([["a"], ["b"], ["c"]], head=[[0]] * 3, deprel=[["root"]] * 3)
    assert show(doc.sentences[1]).html.count("<svg") == 1
    some = show(doc, limit=2)
    assert some.html.count("<svg") == 2
    assert "1 more sentences" in some.html
    with pytest.raises(weft.WeftError, match="cannot draw arcs"):
        show(doc, kinds=["arcs"])


def test_stacked_pictures_are_one_well_formed_picture() -> None:
    doc = Doc.from_words([["a", "b"]], head=[[0, 1]], deprel=[["root", "dep"]])
    doc.spans["x"] = SpanLayer.of(doc.strings, [(0, 2, "X")])
    found = pictures_of(doc.sentences[0], styled=False)
    assert len(found) == 2
    root = ElementTree.fromstring(stacked(found, "both"))
    inner = root.findall(f"{SVG}svg")
    assert [part.get("y") for part in inner] == ["0", inner[0].get("height")]
    assert len(list(root.iter(f"{SVG}style"))) == 1


def test_spans_counted_in_characters_are_shown_over_words() -> None:
    doc = Doc.from_words([["Ada", "slept"]])
    doc.spans["names"] = SpanLayer.of(doc.strings, [(0, 2, "PER")], "chars")
    assert next(iter(span_layers(doc)["names"])).pieces == ((0, 1),)


def test_the_style_is_for_light_and_dark_and_loads_nothing() -> None:
    assert "prefers-color-scheme: dark" in style_sheet()
    assert "url(" not in style_sheet()
    assert "@import" not in style_sheet()


def test_importing_weft_loads_no_pictures() -> None:
    code = "import sys, weft; sys.exit('weft.pictures' in sys.modules or not callable(weft.show))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def centres(picture: str) -> list[float]:
    words = [each for each in ElementTree.fromstring(picture).iter(f"{SVG}g") if each.get("class") == "word"]
    return [float(next(word.iter(f"{SVG}text")).get("x", "nan")) for word in words]


def test_trees_and_spans_of_text_from_right_to_left_are_mirrored():
    forms = ["הילדה", "קראה", "ספר"]
    doc = Doc.from_words([forms], head=[[2, 0, 2]], deprel=[["nsubj", "root", "obj"]])
    doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 1, "NP"), (1, 3, "VP")])
    tree, spans = pictures_of(doc.sentences[0])
    assert centres(tree) == sorted(centres(tree), reverse=True)
    assert 'data-dir="rtl"' in tree
    places = [float(each.get("x", "nan")) for each in ElementTree.fromstring(spans).iter(f"{SVG}text")][:3]
    assert places == sorted(places, reverse=True)
    bars = [(float(bar.get("x")), float(bar.get("width"))) for bar in ElementTree.fromstring(spans).iter(f"{SVG}rect")]
    assert bars[0][0] > bars[1][0] + bars[1][1]
    assert all(width > 0 for _, width in bars)
    phrases = draw_phrases(doc_of_trees([parse_tree("(S (NP ילדה) (VP (V קראה) (N ספר)))")]).sentences[0])
    assert 'data-dir="rtl"' in phrases
    left_to_right = draw_tree(Doc.from_words([["a", "b", "c"]], head=[[2, 0, 2]]).sentences[0])
    assert centres(left_to_right) == sorted(centres(left_to_right))
    assert "data-dir" not in left_to_right
    assert show(doc).html.count('<figure dir="rtl">') == 1


def test_tokens_of_several_words_are_named_below_them(tmp_path):
    text = "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\t_\t_\t3\tcase\t_\t_\n2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_\n"
    (tmp_path / "a.conllu").write_text(f"{text}3\tpain\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    (doc,) = weft.read(tmp_path / "a.conllu")
    root = ElementTree.fromstring(draw_tree(doc.sentences[0]))
    (token,) = (each for each in root.iter(f"{SVG}g") if each.get("class") == "token")
    assert [each.text for each in token.iter(f"{SVG}text")] == ["du"]


def test_layers_and_strengths_of_expressions_are_named_in_words() -> None:
    doc = Doc.from_words([["He", "gave", "up"]])
    doc.spans["mwe"] = SpanLayer.of(doc.strings, [(1, 3, "strong")])
    html = show(doc).html
    assert "<figcaption>multiword expressions</figcaption>" in html
    assert "<small>fixed expression</small>" in html
    assert ">strong<" not in html
