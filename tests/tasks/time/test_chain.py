"""Time expressions found by a chain that annotated text has taught."""

from __future__ import annotations

import numpy as np
import pytest

from weft import load
from weft.errors import ConfigError, DataError, ModelError
from weft.formats import timeml
from weft.pipeline import Pipeline
from weft.tasks.time.parser import TimeParser, TimeSettings
from weft.text.doc import Doc

SENTENCES = (
    "The ship left {}.", "They sold the mill {} and moved.", "It was closed {}.", "Nobody came {}.", "She wrote {}.",
)  # fmt: skip
PHRASES = {"yesterday": "2020-05-05", "on Monday": "2020-05-04", "on Friday": "2020-05-01", "today": "2020-05-06"}


@pytest.fixture(scope="module")
def parser() -> TimeParser:
    found = TimeParser(TimeSettings(detector="chain", passes=4, beam=60))
    found.fit(
        [article(*pair) for pair in zip(SENTENCES * 4, [each for each in PHRASES for _ in range(5)], strict=True)]
    )
    return found


def article(sentence: str, phrase: str) -> Doc:
    mark = f'<TIMEX3 tid="t1" type="DATE" value="{PHRASES[phrase]}">{phrase}</TIMEX3>'
    date = '<DCT><TIMEX3 tid="t0" type="DATE" value="2020-05-06" functionInDocument="CREATION_TIME">x</TIMEX3></DCT>'
    text = sentence.format(mark) + " The Monday club met on Elm Street."
    return timeml.parse(f"<TimeML><DOCID>d</DOCID>{date}<TEXT>{text}</TEXT></TimeML>")


def found_in(parser: TimeParser, text: str) -> list[str]:
    from weft.text.split import split_by_rule

    doc = Doc(text, meta={"date": "2020-05-06"})
    split_by_rule(doc)
    parser([doc])
    return [time.text for time in doc.times]


def test_extents_follow_the_text_and_not_only_the_words_of_phrases(parser):
    text = "The mill was closed on Friday. The Monday club left."
    assert found_in(parser, text) == ["on Friday"]
    words = TimeParser.from_state(*parser.state())
    words.chain = None
    assert found_in(words, text) == ["on Friday", "Monday"]


def test_a_saved_chain_finds_the_same_and_damaged_files_are_refused(parser, tmp_path):
    Pipeline([parser]).save(tmp_path / "t.weft")
    [again] = load(tmp_path / "t.weft").components
    text = "She wrote yesterday. They sold it on Monday and left."
    assert found_in(again, text) == found_in(parser, text) == ["yesterday", "on Monday"]
    header, arrays = parser.state()
    names = [name for name in arrays if name.startswith("chain/")]
    assert names
    for name in names:
        with pytest.raises(ModelError):
            TimeParser.from_state(header, {key: value for key, value in arrays.items() if key != name})
        with pytest.raises(ModelError):
            TimeParser.from_state(header, arrays | {name: np.zeros((3, 3, 3), dtype=np.float64)})
    with pytest.raises(ModelError):
        TimeParser.from_state(header | {"chain": {"settings": 1}}, dict(arrays))


def test_phrases_alone_do_not_show_what_is_no_time():
    from weft.formats.times import phrase_doc
    from weft.text.strings import StringTable

    strings = StringTable()
    docs = [phrase_doc("x", 1, ["DATE", value, "2020-05-06", phrase], strings) for phrase, value in PHRASES.items()]
    with pytest.raises(DataError, match="use --detector words"):
        TimeParser(TimeSettings(detector="chain", passes=1, beam=20)).fit(docs)
    with pytest.raises(ConfigError, match="detector must be one of words, chain"):
        TimeParser(TimeSettings(detector="rules"))
