from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import score as command

import weft
from everyday import (
    FLOOR,
    HELD,
    SEEN,
    Expectation,
    as_record,
    faults,
    find_words,
    read_sentences,
    score,
    word_places,
)
from weft.errors import FormatError
from weft.storage import digest
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

TEN = [
    "Maria lives in Rome.",
    "John gave Mary a book.",
    "Apple is looking at buying a U.K. startup for $1 billion.",
    "Angela Merkel met Barack Obama in Berlin on Tuesday.",
    "The Bank of England raised rates.",
    "Ines paid Mr. Brown in Cork.",
    "Google was founded by Larry Page and Sergey Brin.",
    "Mr. Darcy admired Elizabeth.",
    "Kenya's William Ruto flew to Paris.",
    "Microsoft hired Anna Schmidt from Siemens last year.",
]
#: Remove this mark when a model reaches the floor: the test then passes, which `strict` reports as a failure.
NOT_YET = pytest.mark.xfail(strict=True, reason="141 of the 150 held sentences are right")

WRITTEN = """\
# a comment
== News

Kenya's William Ruto flew to Paris.
  entities: LOC Kenya | PER William Ruto | LOC Paris
  root: flew
  tags: 's PART, flew VERB, to ADP

It is what it is.
  entities: none
  root: what
  tags: is#2 AUX
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], list[Expectation]]:
    def read(text: str) -> list[Expectation]:
        path = tmp_path / "sentences.txt"
        path.write_text(text, encoding="utf-8")
        return read_sentences(path)

    return read


def ruto(**changed: Any) -> Doc:
    """The sentence about William Ruto as a pipeline would annotate it, `Kenya's` as one token of two words."""
    columns = {
        "upos": ["PROPN", "PART", "PROPN", "PROPN", "VERB", "ADP", "PROPN", "PUNCT"],
        "head": [3, 1, 5, 3, 0, 7, 5, 5],
        "entities": [(0, 1, "LOC"), (2, 4, "PER"), (6, 7, "LOC")],
        "sentences": [0, 8],
        **changed,
    }
    forms = ["Kenya", "'s", "William", "Ruto", "flew", "to", "Paris", "."]
    spaces = [False, True, True, True, True, True, False, False]
    doc = Doc.from_words([forms], [spaces], upos=[columns["upos"]], head=[columns["head"]])
    doc.token_start, doc.token_end = doc.token_start[[0, 2, 3, 4, 5, 6, 7]], doc.token_end[[1, 2, 3, 4, 5, 6, 7]]
    doc.word_token = doc.word_token - (doc.word_token > 0)
    doc.set_sentences(columns["sentences"])
    doc.spans["entities"] = SpanLayer.of(doc.strings, columns["entities"])
    return doc


@pytest.mark.parametrize("path", [SEEN, HELD], ids=lambda path: path.stem)
def test_each_half_has_150_sentences_of_many_kinds(path: Path) -> None:
    sentences = read_sentences(path)
    assert len(sentences) == 150
    assert len({each.text for each in sentences}) == 150
    kinds = Counter(each.category for each in sentences)
    assert len(kinds) == 16
    assert min(kinds.values()) >= 9
    assert all(3 <= len(each.text.split()) <= 25 for each in sentences)
    assert set(Counter(piece.label for each in sentences for piece in each.entities)) == {"PER", "LOC", "ORG"}
    assert all(len(each.tags) >= 2 for each in sentences)


def test_the_halves_share_categories_but_no_sentences() -> None:
    seen, held = read_sentences(SEEN), read_sentences(HELD)
    assert [each.category for each in seen] == [each.category for each in held]
    assert not {each.text.casefold() for each in seen} & {each.text.casefold() for each in held}


def test_the_root_is_not_given_another_tag_than_roots_have() -> None:
    for each in read_sentences(SEEN) + read_sentences(HELD):
        tags = {(piece.start, piece.end): piece.label for piece in each.tags}
        assert tags.get(each.root[:2], "VERB") in {"VERB", "NOUN", "ADJ", "ADV", "PROPN"}, each.text


def test_words_in_a_name_are_tagged_as_proper_nouns() -> None:
    small = {"of", "The", "the"}
    for each in read_sentences(SEEN) + read_sentences(HELD):
        for name in each.entities:
            inside = [tag for tag in each.tags if name.start <= tag.start and tag.end <= name.end]
            words = {each.text[tag.start : tag.end] for tag in inside if tag.label != "PROPN"}
            assert words <= small, each.text


def test_the_ten_sentences_are_in_the_half_that_may_be_seen() -> None:
    assert set(TEN) <= {each.text for each in read_sentences(SEEN)}


def test_sentences_are_read_with_their_places(written: Callable[[str], list[Expectation]]) -> None:
    first, second = written(WRITTEN)
    assert (first.category, first.line, first.text) == ("News", 4, "Kenya's William Ruto flew to Paris.")
    assert [first.text[start:end] for start, end, _ in first.entities] == ["Kenya", "William Ruto", "Paris"]
    assert [label for *_, label in first.entities] == ["LOC", "PER", "LOC"]
    assert first.text[slice(*first.root[:2])] == "flew"
    assert [first.text[start:end] for start, end, _ in first.tags] == ["'s", "flew", "to"]
    assert [tag for *_, tag in first.tags] == ["PART", "VERB", "ADP"]
    assert second.entities == ()
    assert second.tags[0][:2] == (14, 16)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("LOC Kenya", "GPE Kenya", 5, "expected one of PER, LOC, ORG, found 'GPE'"),
        ("flew VERB", "flew VRB", 7, "expected one of ADJ"),
        ("root: flew", "root: fled", 6, "expected words of the sentence, found 'fled'"),
        ("is#2", "is#3", 12, "'is#3', which it does not contain"),
        ("  root: flew\n", "", 4, "expected root below the sentence"),
        ("root: flew", "head: flew", 6, "expected each of entities, root, tags once"),
        ("== News\n", "", 3, "expected a category"),
        ("Kenya's William Ruto flew to Paris.\n", "", 4, "expected a sentence before what is right about it"),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_line(
    written: Callable[[str], list[Expectation]], old: str, new: str, line: int, message: str
) -> None:
    with pytest.raises(FormatError) as raised:
        written(WRITTEN.replace(old, new))
    assert f"sentences.txt, line {line}: " in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        ("I can't.", "ca", (2, 4)),
        ("It's Ana's.", "'s#2", (8, 10)),
        ("Sales rose 12% to $45.", "%", (13, 14)),
        ("Sales rose 12% to $45.", "45", (19, 21)),
        ("At 9 p.m. yesterday", "p.m.", (5, 9)),
        ("In Rome the Romans", "Roman", None),
        ("It is.", "is#0", None),
    ],
)
def test_words_are_found_whole(text: str, words: str, place: tuple[int, int] | None) -> None:
    assert find_words(text, words) == place


def test_words_of_a_contraction_have_their_own_characters() -> None:
    assert word_places(ruto())[:3] == [(0, 5), (5, 7), (8, 15)]


def test_a_right_analysis_has_no_faults(written: Callable[[str], list[Expectation]]) -> None:
    assert faults(written(WRITTEN)[0], ruto()) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"entities": [(0, 1, "LOC"), (2, 4, "PER")]}, ["no LOC Paris"]),
        ({"entities": [(0, 1, "LOC"), (2, 5, "PER"), (6, 7, "LOC")]},
         ["no PER William Ruto", "wrong PER William Ruto flew"]),
        ({"entities": [(0, 2, "LOC"), (2, 4, "PER"), (6, 7, "LOC")]}, ["no LOC Kenya", "wrong LOC Kenya's"]),
        ({"head": [3, 1, 0, 3, 3, 7, 5, 5]}, ["root flew: is William"]),
        ({"head": [3, 1, 0, 3, 0, 2, 0, 1], "sentences": [0, 4, 8]}, ["root flew: cut into 2 sentences"]),
        ({"upos": ["PROPN", "PART", "PROPN", "PROPN", "NOUN", "PART", "PROPN", "PUNCT"]},
         ["flew VERB: is NOUN", "to ADP: is PART"]),
    ],
)  # fmt: skip
def test_faults_are_told_in_words(
    written: Callable[[str], list[Expectation]], changed: dict[str, Any], told: list[str]
) -> None:
    assert faults(written(WRITTEN)[0], ruto(**changed)) == told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("PER William Ruto", "ORG William Ruto", ["no ORG William Ruto", "wrong PER William Ruto"]),
        ("root: flew", "root: to", ["root to: is flew"]),
        ("to ADP", "to PART", ["to PART: is ADP"]),
        ("to ADP", "Kenya's PROPN", ["Kenya's PROPN: is not a word"]),
    ],
)
def test_a_wrong_annotation_is_noticed(
    written: Callable[[str], list[Expectation]], old: str, new: str, told: list[str]
) -> None:
    assert faults(written(WRITTEN.replace(old, new))[0], ruto()) == told


def test_sentences_are_counted_by_category(written: Callable[[str], list[Expectation]]) -> None:
    sentence = WRITTEN.split("\n\n")[1]
    wrong = sentence.replace("to ADP", "to PART")
    report = score(lambda text: ruto(), written(f"== News\n{sentence}\n== Chat\n{wrong}\n{sentence}"))
    assert (report.right, report.share) == (2, pytest.approx(2 / 3))
    assert report.categories() == {"News": (1, 1), "Chat": (1, 2)}
    assert str(report).startswith("2 of 3 sentences are right\n  News: 1 of 1\n  Chat: 1 of 2\n\nline 7: Kenya's")
    assert as_record(report, with_failures=False) == {"sentences": 3, "right": 2}
    assert as_record(report, with_failures=True)["failures"] == [
        {"category": "Chat", "text": "Kenya's William Ruto flew to Paris.", "faults": ["to PART: is ADP"]}
    ]


def test_a_result_of_one_half_is_kept_beside_that_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "everyday.json"
    command.keep(path, "seen", {"sentences": 150, "right": 100})
    command.keep(path, "held", {"sentences": 150, "right": 99})
    assert {half: counts["right"] for half, counts in kept(path)["halves"].items()} == {"seen": 100, "held": 99}
    path.write_text(path.read_text().replace(digest(command.SHIPPED), "another model"))
    command.keep(path, "seen", {"sentences": 150, "right": 101})
    assert list(kept(path)["halves"]) == ["seen"]


def test_only_results_of_the_model_of_the_package_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--keep", "--model", "other.weft"]) == 1
    assert "leave out --keep or --model" in capsys.readouterr().err


def kept(path: Path = command.RESULTS) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


@pytest.fixture(scope="module")
def english() -> Callable[[str], Doc]:
    return weft.load(command.SHIPPED)


def test_the_page_shows_what_the_shipped_model_gets_wrong(english: Callable[[str], Doc]) -> None:
    now = as_record(score(english, read_sentences(SEEN)), with_failures=True)
    assert (kept()["digest"], kept()["halves"]["seen"]) == (digest(command.SHIPPED), now), (
        "run `python tests/everyday/score.py --keep` and `make render`"
    )


def test_the_ten_sentences_are_right(english: Callable[[str], Doc]) -> None:
    report = score(english, [each for each in read_sentences(SEEN) if each.text in TEN])
    assert report.right == len(TEN), str(report)


def test_the_seen_half_reaches_the_floor(english: Callable[[str], Doc]) -> None:
    report = score(english, read_sentences(SEEN))
    assert report.share >= FLOOR, str(report)


SCORED = pytest.mark.skipif("held" not in kept()["halves"], reason="the held half is scored for models that are final")


@SCORED
def test_the_held_half_is_as_recorded(english: Callable[[str], Doc]) -> None:
    assert score(english, read_sentences(HELD)).right == kept()["halves"]["held"]["right"]


@SCORED
@NOT_YET
def test_the_held_half_reaches_the_floor() -> None:
    assert kept()["halves"]["held"]["right"] >= FLOOR * 150
