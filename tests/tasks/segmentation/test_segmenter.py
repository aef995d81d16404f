from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft as package
from weft.errors import ConfigError, DataError, WeftError
from weft.evaluate.trees.ud import evaluate_ud
from weft.formats.conllu import files as conllu
from weft.pipeline.pipeline import Pipeline
from weft.tasks.segmentation import segmenter as segment
from weft.tasks.segmentation.segmenter import Segmenter, SegmenterSettings
from weft.text.corpus import Corpus
from weft.text.doc import Doc, Multiword

Weft = Callable[..., "subprocess.CompletedProcess[str]"]

NAMES = ("Ada", "Bo", "Cleo", "Dan")
VERBS = ("sings", "waits", "reads", "left")
PLACES = ("Bonn", "Lima", "Oslo")


def english(count: int = 120) -> Doc:
    """Sentences with abbreviations, numbers, quotations and contractions."""
    sentences: list[list[str]] = []
    spaces: list[list[bool]] = []
    for i in range(count):
        name, verb, place = NAMES[i % 4], VERBS[i % 4], PLACES[i % 3]
        kind = i % 5
        if kind == 0:
            words, glued = ["Mr.", name, verb, "in", place, "."], [4]
        elif kind == 1:
            words, glued = [name, "paid", f"{i}.50", ",", "not", "less", "."], [2, 5]
        elif kind == 2:
            words, glued = ['"', "Why", "?", '"', "asked", name, "."], [0, 1, 2, 5]
        elif kind == 3:
            words, glued = ["In", place, ",", name, "didn't", "wait", "!"], [1, 5]
        else:
            words, glued = [name, "and", "Mr.", NAMES[(i + 1) % 4], "left", "(", "early", ")", "."], [5, 6, 7]
        sentences.append(words)
        spaces.append([place not in glued for place in range(len(words))])
    return Doc.from_words(sentences, spaces)


def french(count: int = 60) -> Doc:
    """Tokens that are several words: always (au), never (chat), or by what follows (des)."""
    doc = Doc.from_words(
        [["il", "va", "au", "parc"] if i % 3 else ["voix", "des", "rues" if i % 2 else "gens"] for i in range(count)]
    )
    forms: list[str] = []
    tokens: list[int] = []
    offsets = [0]
    for sentence in range(doc.n_sentences):
        for token in range(*doc.sentence_offsets[sentence : sentence + 2].tolist()):
            form = doc.text[doc.token_start[token] : doc.token_end[token]]
            behind = doc.text[doc.token_end[token] + 1 :][:4]
            words = ["à", "le"] if form == "au" else ["de", "les"] if form == "des" and behind == "gens" else [form]
            if len(words) > 1:
                doc.multiwords.append(Multiword(len(forms), len(forms) + 2, (form, *[""] * 8)))
            forms += words
            tokens += [token] * len(words)
        offsets.append(len(forms))
    doc.word_token = np.array(tokens, dtype=np.int32)
    doc.columns = {"form": doc.strings.ids(forms)}
    doc.set_sentences(offsets)
    return doc


def unspaced(count: int = 150) -> Doc:
    """Words of one to three characters without blanks between them."""
    words = ("我", "看", "学校", "北京", "大学生", "的", "书")
    sentences = [[words[(i * k + k) % 7] for k in range(1, 6)] + ["。"] for i in range(count)]
    return Doc.from_words(sentences, [[False] * 6 for _ in sentences])


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    found = Segmenter()
    found.fit([english()])
    return found


def annotate(segmenter: Segmenter, text: str) -> Doc:
    doc = Doc(text)
    segmenter([doc])
    return doc


def shown(doc: Doc) -> list[list[str]]:
    return [[word.form for word in sentence.words] for sentence in doc.sentences]


def check(doc: Doc) -> None:
    """Tokens in order, without overlap, over every character that is not a blank; sentences over all words."""
    start, end, text = doc.token_start, doc.token_end, doc.text
    assert (start < end).all()
    assert (end[:-1] <= start[1:]).all()
    covered = np.zeros(len(text) + 1, dtype=np.int64)
    np.add.at(covered, start, 1)
    np.add.at(covered, end, -1)
    inside = np.cumsum(covered)[:-1] > 0
    assert all(inside[i] or character.isspace() for i, character in enumerate(text))
    for i in range(len(start)):
        assert not text[start[i]].isspace()
        assert not text[end[i] - 1].isspace()
    if len(start):
        assert doc.sentence_offsets[0] == 0
        assert doc.sentence_offsets[-1] == doc.n_words
        assert (np.diff(doc.sentence_offsets) > 0).all()
    else:
        assert doc.n_sentences == 0
    assert set(doc.word_token.tolist()) == set(range(len(start)))


def test_what_was_learned_holds_for_new_sentences(segmenter: Segmenter) -> None:
    doc = annotate(segmenter, 'Mr. Dan reads in Lima. "Why?" asked Ada. Bo paid 17.50, not less.')
    assert shown(doc) == [
        ["Mr.", "Dan", "reads", "in", "Lima", "."],
        ['"', "Why", "?", '"', "asked", "Ada", "."],
        ["Bo", "paid", "17.50", ",", "not", "less", "."],
    ]


def test_an_empty_line_ends_the_sentence_whatever_stands_before_it(segmenter: Segmenter) -> None:
    assert shown(annotate(segmenter, "Ada waits\n\nBo waits in\r\n\r\nLima")) == [
        ["Ada", "waits"],
        ["Bo", "waits", "in"],
        ["Lima"],
    ]


def test_a_line_end_is_a_blank_where_training_had_none(segmenter: Segmenter) -> None:
    assert shown(annotate(segmenter, "Mr.\nDan waits\nin Oslo.")) == [["Mr.", "Dan", "waits", "in", "Oslo", "."]]


def test_text_without_words_has_no_sentences(segmenter: Segmenter) -> None:
    for text in ("", " ", "\n\n \t"):
        doc = annotate(segmenter, text)
        assert doc.n_words == 0
        assert doc.n_sentences == 0


@pytest.mark.parametrize(
    "text",
    [
        "no final mark",
        "see https://example.org/a?b=c&d=(e) now",
        "👩‍👩‍👧 waits 🙂🙂",
        "tab\tand\u00a0blank",
        "\x00\x01 control \x1f\x7f",
        "\ud800 alone",
        "....!!!???",
        "mixed 北京 and กรุงเทพ",
        "\u200b\ufeff",
    ],
)
def test_unusual_text_is_covered(segmenter: Segmenter, text: str) -> None:
    check(annotate(segmenter, text))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=12),
            st.text(alphabet='ab.A1 "\n()!?', max_size=30),
            st.sampled_from(["Mr. ", "U.S.", "\n\n", "http://a.b/c", "字字。", "🙂", "\r\n", "\u2029", "\u00a0"]),
        ),
        max_size=8,
    )
)
def test_tokens_are_in_order_and_cover_every_text(segmenter: Segmenter, pieces: list[str]) -> None:
    check(annotate(segmenter, "".join(pieces)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet='ab.A "\n()!', max_size=25), min_size=1, max_size=6))
def test_documents_do_not_depend_on_their_neighbours(segmenter: Segmenter, texts: list[str]) -> None:
    together = [Doc(text) for text in texts]
    segmenter(together)
    for doc in together:
        alone = annotate(segmenter, doc.text)
        assert shown(doc) == shown(alone)
        assert doc.token_start.tolist() == alone.token_start.tolist()


def test_windows_change_nothing_in_text_of_sentences(segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch) -> None:
    text = english().text
    whole = annotate(segmenter, text)
    monkeypatch.setattr(segment, "WINDOW", 400)
    monkeypatch.setattr(segment, "MARGIN", 60)
    cut = annotate(segmenter, text)
    assert cut.token_start.tolist() == whole.token_start.tolist()
    assert shown(cut) == shown(whole)


@pytest.mark.parametrize("unit", ["a", "word ", " ", "字", "a.b ", "? "])
def test_very_long_lines_are_covered(segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    monkeypatch.setattr(segment, "WINDOW", 300)
    monkeypatch.setattr(segment, "MARGIN", 30)
    check(annotate(segmenter, unit * 1000))


def test_a_long_line_takes_memory_of_a_window_only(segmenter: Segmenter) -> None:
    import tracemalloc

    text = "Mr. Dan reads in Lima. " * 40_000
    tracemalloc.start()
    found = segmenter.tokens(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert int(found.final.sum()) == 40_000
    # Offsets of 240,000 tokens, held twice while parts are joined, and one window's features.
    assert peak < 60_000_000


def test_scripts_without_blanks_are_segmented() -> None:
    segmenter = Segmenter()
    segmenter.fit([unspaced()])
    doc = annotate(segmenter, "我看大学生的书。北京的学校。")
    assert shown(doc) == [["我", "看", "大学生", "的", "书", "。"], ["北京", "的", "学校", "。"]]


def test_tokens_may_hold_blanks_where_training_has_such() -> None:
    rows = [["Hà Nội", "rất", "đẹp", "."], ["tôi", "ở", "Hà Nội", "."], ["tôi", "rất", "vui", "."]] * 20
    segmenter = Segmenter()
    segmenter.fit([Doc.from_words(rows)])
    assert shown(annotate(segmenter, "tôi rất vui . Hà  Nội đẹp .")) == [
        ["tôi", "rất", "vui", "."],
        ["Hà  Nội", "đẹp", "."],
    ]


def test_words_of_tokens_come_from_training_and_from_what_follows() -> None:
    segmenter = Segmenter()
    segmenter.fit([french()])
    doc = annotate(segmenter, "Il va AU parc")
    assert [word.form for word in doc.words] == ["Il", "va", "À", "LE", "parc"]
    assert doc.word_token.tolist() == [0, 1, 2, 2, 3]
    assert doc.multiwords == [Multiword(2, 4, ("AU", *[""] * 8))]
    assert [word.form for word in annotate(segmenter, "voix des gens").words] == ["voix", "de", "les", "gens"]
    assert [word.form for word in annotate(segmenter, "voix des rues").words] == ["voix", "des", "rues"]


def test_words_of_tokens_survive_conllu(tmp_path: Path) -> None:
    segmenter = Segmenter()
    segmenter.fit([french()])
    doc = annotate(segmenter, "il va au parc\n\nvoix des gens")
    conllu.write([doc], str(tmp_path / "out.conllu"))
    (back,) = conllu.read(str(tmp_path / "out.conllu"))
    assert back.text == doc.text
    assert shown(back) == shown(doc)


def test_saved_and_loaded_it_finds_the_same(segmenter: Segmenter, tmp_path: Path) -> None:
    learned = Segmenter()
    learned.fit([french(), english()])
    path = tmp_path / "segmenter.weft"
    Pipeline([learned]).save(path)
    loaded = package.load(path)
    text = "il va au parc. Mr. Dan didn't wait! voix des gens"
    expected = annotate(learned, text)
    doc = loaded(text)
    assert shown(doc) == shown(expected)
    assert doc.multiwords == expected.multiwords


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        segmenter = Segmenter()
        segmenter.fit([french(), english()])
        Pipeline([segmenter]).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_probabilities_say_how_sure_the_end_of_a_token_is(segmenter: Segmenter) -> None:
    doc = Pipeline([segmenter])("Mr. Dan waits in Lima. Bo left", probabilities=True)
    sure = doc.confidence["form"]
    assert len(sure) == doc.n_words
    assert ((sure > 0.3) & (sure <= 1.0)).all()


def test_a_pipeline_splits_text_and_leaves_documents_that_have_words(segmenter: Segmenter) -> None:
    nlp = Pipeline([segmenter])
    assert shown(nlp("Mr. Dan waits.")) == [["Mr.", "Dan", "waits", "."]]
    given = Doc.from_words([["Mr.", "Dan", "waits."]])
    assert shown(nlp(given)) == [["Mr.", "Dan", "waits."]]


def test_held_out_text_chooses_the_bias_of_sentence_ends() -> None:
    segmenter = Segmenter()
    report = segmenter.fit([english()], [english(20)])
    assert report["scores"]["dev words"] == 1.0
    assert report["scores"]["dev sentences"] == 1.0


def test_bad_settings_and_data_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown setting 'window'"):
        Segmenter.from_options({"window": 3})
    with pytest.raises(ConfigError, match="sigma must be above 0"):
        Segmenter(SegmenterSettings(sigma=0.0))
    with pytest.raises(ConfigError, match="line_ends must be a share from 0 to 1, got 2"):
        Segmenter(SegmenterSettings(line_ends=2.0))
    with pytest.raises(ConfigError, match="precision must be one of"):
        Segmenter(SegmenterSettings(precision="int4"))
    with pytest.raises(DataError, match="nothing to train on"):
        Segmenter().fit([Doc("no words yet")])
    with pytest.raises(WeftError, match="not trained yet"):
        Segmenter()([Doc("text")])
    with pytest.raises(WeftError, match="not trained yet"):
        Segmenter().state()


def test_the_command_line_trains_and_annotates(weft: Weft, tmp_path: Path) -> None:
    conllu.write([english()], str(tmp_path / "train.conllu"))
    (tmp_path / "new.txt").write_text("Mr. Dan reads in Lima. Bo left\n", encoding="utf-8")
    done = weft("train", "segmenter", "train.conllu", "--out", "m.weft")
    assert done.returncode == 0, done.stderr
    done = weft("annotate", "new.txt", "--model", "m.weft", "--to", "conllu", "--out", "new.conllu")
    assert done.returncode == 0, done.stderr
    (doc,) = conllu.read(str(tmp_path / "new.conllu"))
    assert shown(doc) == [["Mr.", "Dan", "reads", "in", "Lima", "."], ["Bo", "left"]]


def test_a_fifth_of_english_ewt_finds_words_and_sentences(corpus_file: Callable[[str], Path]) -> None:
    train = list(conllu.read(str(corpus_file("treebanks/ud/English-EWT/train.conllu.gz"))))[::5]
    dev = list(conllu.read(str(corpus_file("treebanks/ud/English-EWT/dev.conllu.gz"))))
    segmenter = Segmenter(SegmenterSettings(iterations=50))
    segmenter.fit(train)
    raw = [Doc(doc.text) for doc in dev]
    segmenter(raw)
    scores = evaluate_ud(dev, raw).scores
    assert scores["Words"].f1 > 0.98
    assert scores["Sentences"].f1 > 0.82


def test_few_sentences_of_wolof_teach_where_sentences_end(corpus_file: Callable[[str], Path]) -> None:
    """Of 300 sentences, hardly one ends with an exclamation mark; what full stops teach must serve for these too."""
    train, dev = (
        list(conllu.read(str(corpus_file(f"treebanks/ud/Wolof-WTB/{part}.conllu.gz")))) for part in ("train", "dev")
    )
    segmenter = Segmenter()
    segmenter.fit(Corpus(train).take_sentences(300), Corpus(dev).take_sentences(150))
    raw = [Doc(doc.text) for doc in dev]
    segmenter(raw)
    assert evaluate_ud(dev, raw).scores["Sentences"].f1 > 0.88
