"""ARPA files and mapped files: nothing is lost, and nothing hostile is followed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twins import SENTENCES, counted

from weft import storage
from weft.errors import DataError, FormatError, ModelError, WeftError
from weft.learn.ngrams.arpa import read_arpa, write_arpa
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import METHODS, estimate
from weft.learn.ngrams.store import load, save


def model_of(sentences: list[list[str]], order: int = 3, method: str = "absolute") -> NgramModel:
    vocabulary, counts, _ = counted(sentences, order)
    return NgramModel.of(vocabulary, estimate(counts, method))


def same(a: NgramModel, b: NgramModel) -> bool:
    arrays = zip((*a.tables, a.trie.levels), (*b.tables, b.trie.levels), strict=True)
    return a.vocabulary.words == b.vocabulary.words and all((one == two).all() for one, two in arrays)


TEXT = [["a", "b", "c"], ["b", "é"], ["c", "a", "b"]]


@pytest.mark.must_show("marginal-constraint-lm", 1)
@settings(max_examples=20, deadline=None)
@given(SENTENCES, st.integers(1, 4), st.sampled_from(METHODS))
def test_arpa_files_and_mapped_files_lose_no_bit(tmp_path_factory, sentences, order: int, method: str) -> None:
    folder = tmp_path_factory.mktemp("files")
    model = model_of(sentences, order, method)
    write_arpa(model, folder / "a.arpa")
    again = read_arpa(folder / "a.arpa")
    write_arpa(again, folder / "b.arpa.gz")
    assert same(model, again)
    assert gzip.decompress((folder / "b.arpa.gz").read_bytes()) == (folder / "a.arpa").read_bytes()
    save(model, folder / "a.lm")
    assert same(model, load(folder / "a.lm"))


def test_what_an_arpa_file_lacks_is_added_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.arpa").write_text(
        "made elsewhere\n"
        "\\data\\\nngram 1=4\nngram 2=1\nngram 3=2\n\n\\1-grams:\n-99\t<s>\t-0.5\n-1\t</s>\n-0.5\tb\t-0.25\n"
        "-0.75\ta\t-0.125\n\n\\2-grams:\n-0.5\ta b\t-0.3\n\n\\3-grams:\n-0.25\ta b a\n-0.125 b b </s>\n\n\\end\\\n"
    )
    model = read_arpa(tmp_path / "x.arpa")
    ids = model.vocabulary.ids
    assert model.vocabulary.words == ["<unk>", "<s>", "</s>", "b", "a"]

    def p(*words: str) -> float:
        return float(model.logp[model.trie.find(np.array([[ids[word] for word in words]]))[0]])

    assert p("b", "b") == -0.75  # the weight of b and the probability of b
    assert p("b", "a") == -1.0
    assert p("b", "</s>") == -1.25
    assert p("b", "b", "</s>") == -0.125
    write_arpa(model, tmp_path / "y.arpa")
    assert same(model, read_arpa(tmp_path / "y.arpa"))


HEAD = "\\data\\\nngram 1=2\nngram 2=1\n\n\\1-grams:\n-1\ta\n-1\tb\n\n\\2-grams:\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no ARPA file"),
        ("\\data\\\n\\1-grams:\n", "from 1 to 20 lengths"),
        ("\\data\\\nngram 2=1\n", "expected ngram 1=NUMBER"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\n-x\ta\n", "line 5: expected a logarithm"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\n0.5\ta\n", "line 5: expected a logarithm"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\nnan\ta\n", "line 5: expected a logarithm"),
        ("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\ta\n\\end\\\n", "expected 2 n-grams of length 1, found 1"),
        (HEAD + "-1\ta c\n", "line 10: expected words of the section"),
        (HEAD + "-1\ta\n", "line 10: expected a number, 2 words"),
        (HEAD + "-1\ta b\n", "the end of the file"),
        (HEAD.replace("2=1", "2=2") + "-1\ta b\n-2\ta b\n\\end\\\n", "twice"),
        ("\\data\\\nngram 1=" + "9" * 30 + "\n\n\\1-grams:\n-1\ta\n", "found 1"),
    ],
)
def test_broken_arpa_files_are_refused_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.arpa").write_text(text)
    with pytest.raises((FormatError, DataError), match=r"x\.arpa") as error:
        read_arpa(tmp_path / "x.arpa")
    assert says in str(error.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.arpa").write_bytes(b"\\data\\\nngram 1=1\n\xff\xfe\n")
    (tmp_path / "x.arpa.gz").write_bytes(gzip.compress(b"\\data\\\nngram 1=1\n")[:-6])
    for name in ("x.arpa", "x.arpa.gz", "none.arpa"):
        with pytest.raises(WeftError, match=name):
            read_arpa(tmp_path / name)


@pytest.mark.parametrize("name", ["words", "suffix", "first", "levels", "logp", "backoff", "letters", "letter_ends"])
def test_no_array_of_a_mapped_file_is_trusted(tmp_path: Path, name: str) -> None:
    save(model_of(TEXT), tmp_path / "good.lm")
    header, arrays = storage.load(tmp_path / "good.lm")
    header = {"kind": header["kind"], "order": header["order"]}
    rng = np.random.default_rng(5)
    values = [-1, 0, 1, 2**31 - 1, 17] if arrays[name].dtype.kind in "iu" else [np.nan, np.inf, -1e9, 1.0]
    refused = 0
    for _ in range(60):
        hostile = {key: array.copy() for key, array in arrays.items()}
        place = rng.integers(len(hostile[name]))
        value = values[rng.integers(len(values))]
        hostile[name][place] = np.array(value).astype(hostile[name].dtype)
        storage.save(tmp_path / "bad.lm", header, hostile)
        try:
            model = load(tmp_path / "bad.lm")
        except ModelError:
            refused += 1
        else:  # what is let through can be used
            model.perplexity(TEXT)
            assert (model.trie.first == arrays["first"]).all()
            assert (model.trie.suffix == arrays["suffix"]).all()
    assert refused > (10 if name not in ("logp", "backoff", "letters") else 3)
    for shape in (arrays[name][:-1], arrays[name].astype(np.float64), np.concatenate([arrays[name], arrays[name][:1]])):
        storage.save(tmp_path / "bad.lm", header, {**arrays, name: shape})
        with pytest.raises(ModelError):
            load(tmp_path / "bad.lm")


def test_other_files_are_refused(tmp_path: Path) -> None:
    storage.save(tmp_path / "x.lm", {"kind": "graph"}, {"w": np.zeros(3)})
    with pytest.raises(ModelError, match="weft lm train"):
        load(tmp_path / "x.lm")
    save(model_of(TEXT), tmp_path / "y.lm")
    data = (tmp_path / "y.lm").read_bytes()
    (tmp_path / "y.lm").write_bytes(data[: len(data) - 20])
    with pytest.raises(ModelError):
        load(tmp_path / "y.lm")
    (tmp_path / "z.lm").write_text(json.dumps({"kind": "n-gram model"}))
    with pytest.raises(ModelError):
        load(tmp_path / "z.lm")
    with pytest.raises(ModelError, match="no model file"):
        load(tmp_path / "none.lm")
