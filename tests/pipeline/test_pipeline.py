from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import KINDS
from weft.storage import Arrays, read_header, save
from weft.tasks.spans.chunker import Chunker
from weft.text import Doc
from weft.text.layers import SpanRow

TEXTS = [f"The ferry {i} left. A thin fog covered harbour {i % 7}!" for i in range(200)]


class Upper(Component):
    """Writes forms in capitals into a column; refuses documents that hold the word `bad`."""

    task = "upper"
    requires = ("tokens",)
    provides = ("upper",)

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause
        self.batches: list[list[Doc]] = []
        self.threads: set[int] = set()

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        time.sleep(self.pause)
        self.batches.append(list(docs))
        self.threads.add(threading.get_ident())
        for doc in docs:
            if "bad" in doc.column("form"):
                raise DataError(f"bad word in {doc.text!r}")
            doc.set_column("upper", [form.upper() for form in doc.column("form")])

    def state(self) -> State:
        return {"pause": self.pause}, {"nothing": np.zeros(3)}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Upper:
        assert len(Stored.of(arrays).take(Array("nothing", "float64", ("n",)))["nothing"]) == 3
        return cls(header["pause"])


class Length(Component):
    """Needs capitals and writes their number."""

    task = "length"
    requires = ("upper",)
    provides = ("length",)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            doc.set_column("length", [str(len(form)) for form in doc.column("upper")])

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Length:
        return cls()


@pytest.fixture
def known_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Upper, Length):
        monkeypatch.setitem(KINDS, kind.task, f"{__name__}:{kind.__name__}")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


@pytest.fixture(scope="module")
def chunker(examples: Path) -> Chunker:
    component = Chunker()
    component.fit(weft.read(examples / "chunks.conll"))
    return component


@pytest.fixture(scope="module")
def unseen(examples: Path) -> list[Doc]:
    """The sentences of the unseen text, one a document."""
    doc = next(iter(weft.read(examples / "unseen.conll")))
    return [doc.subset([i]) for i in range(doc.n_sentences)]


def copies(docs: Sequence[Doc], times: int = 1) -> list[Doc]:
    return [Doc.from_bytes(doc.to_bytes()) for _ in range(times) for doc in docs]


def chunks(doc: Doc) -> list[SpanRow]:
    return list(doc.spans["chunks"])


# What fits together.


def test_a_component_may_not_come_before_what_it_requires() -> None:
    assert repr(Pipeline([Upper(), Length()])) == "Pipeline(upper, length)"
    with pytest.raises(ConfigError, match="component 'length' requires upper, which a later component provides"):
        Pipeline([Length(), Upper()])


def test_what_nobody_provides_may_come_with_the_documents() -> None:
    nlp = Pipeline([Length()])
    doc = Doc.from_words([["a", "b"]], upper=[["A", "BB"]])
    assert nlp(doc).column("length") == ["1", "2"]


def test_a_missing_layer_is_named_with_component_and_document() -> None:
    doc = Doc.from_words([["a"]])
    with pytest.raises(WeftError, match="length needs the layer upper, which the document does not have; annotate it"):
        Pipeline([Length()])(doc)
    doc.meta["id"] = "d7"
    with pytest.raises(WeftError, match="which document 'd7' does not have"):
        Pipeline([Length()])(doc)


def test_components_that_follow_rules_cannot_be_trained() -> None:
    with pytest.raises(ConfigError, match="upper is rule-based and cannot be trained"):
        Upper().fit([])
    with pytest.raises(ConfigError, match="upper has no settings, got colour"):
        Upper.from_options({"colour": "red"})


# One text, many texts.


def test_a_text_is_split_and_annotated() -> None:
    doc = Pipeline([Upper(), Length()])("The ferry left. Gulls cried.")
    assert doc.column("upper") == ["THE", "FERRY", "LEFT", ".", "GULLS", "CRIED", "."]
    assert doc.n_sentences == 2


class Sure(Upper):
    """Gives probabilities, and notes what each call asked for."""

    task = "sure"
    gives_probabilities = True

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        super().annotate(docs, asked)
        for doc in docs:
            doc.meta["asked"] = asked


@pytest.mark.parametrize("workers", [1, 2])
def test_probabilities_are_asked_for_by_a_call_and_handed_to_components_that_give_them(workers: int) -> None:
    nlp = Pipeline([Upper(), Sure()])
    asked = Asked(probabilities=True)
    assert nlp("one", probabilities=True).meta["asked"] == asked
    assert nlp("one").meta["asked"] == Asked()
    texts = ["one", "two", "three"]
    assert [doc.meta["asked"] for doc in nlp.pipe(texts, workers, 1, probabilities=True)] == [asked] * 3
    bad = nlp.pipe(["one", "bad", "two"], workers, on_error=lambda doc, error: None, probabilities=True)
    assert [doc.meta["asked"] for doc in bad] == [asked] * 2


def test_what_no_component_gives_is_refused() -> None:
    nlp = Pipeline([Upper(), Sure()])
    with pytest.raises(ConfigError, match="no component of this model gives alternatives"):
        nlp("one", kbest=2)
    with pytest.raises(ConfigError, match="no component of this model gives probabilities"):
        next(Pipeline([Upper()]).pipe(["one"], on_error=lambda doc, error: None, probabilities=True))
    with pytest.raises(ConfigError, match="upper gives no probabilities"):
        Upper()([Doc.from_words([["one"]])], probabilities=True)
    with pytest.raises(ConfigError, match="sure gives no alternatives"):
        Sure()([Doc.from_words([["one"]])], kbest=1)
    with pytest.raises(ConfigError, match="kbest must be at least 0, got -1"):
        Chunker()([], kbest=-1)


def test_words_that_are_there_are_kept() -> None:
    doc = Doc.from_words([["The ferry", "left."]])
    assert Pipeline([Upper()])(doc) is doc
    assert doc.column("upper") == ["THE FERRY", "LEFT."]


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("batch_words", [1, 30, 20_000])
def test_the_order_and_the_result_do_not_depend_on_workers_or_batches(workers: int, batch_words: int) -> None:
    items: list[str | Doc] = [Doc(text) if i % 3 else text for i, text in enumerate(TEXTS)]
    found = list(Pipeline([Upper(0.001), Length()]).pipe(items, workers=workers, batch_words=batch_words))
    assert [doc.text for doc in found] == TEXTS
    for doc in found:
        assert doc.column("upper") == [form.upper() for form in doc.column("form")]
        assert doc.has("length")


@pytest.mark.parametrize("workers", [1, 2])
def test_documents_come_back_themselves(workers: int) -> None:
    docs = [Doc(text) for text in TEXTS[:9]]
    found = list(Pipeline([Upper()]).pipe(docs, workers=workers, batch_words=20))
    assert all(one is other for one, other in zip(docs, found, strict=True))


@pytest.mark.parametrize("workers", [1, 2])
def test_empty_texts_and_documents_pass_through(workers: int) -> None:
    nlp = Pipeline([Upper()])
    found = list(nlp.pipe(["", "  \n ", Doc(), "Gulls cried.", Doc("")], workers=workers))
    assert [doc.n_words for doc in found] == [0, 0, 0, 3, 0]
    assert list(nlp.pipe([], workers=workers)) == []
    assert nlp("").n_words == 0
    assert nlp(Doc()).text == ""


def test_workers_must_be_at_least_one() -> None:
    with pytest.raises(ConfigError, match="workers must be at least 1, got 0"):
        list(Pipeline([Upper()]).pipe(["a"], workers=0))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_stream_is_read_only_so_far_ahead(workers: int) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "Gulls cried."

    found = Pipeline([Upper()]).pipe(endless(), workers=workers, batch_words=30)
    for given in range(1, 500):
        next(found)
        assert read - given <= 10 * (2 * workers + 1)
    found.close()


def test_empty_texts_count_for_the_bound() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield ""

    found = Pipeline([Upper()]).pipe(endless(), workers=2, batch_words=30)
    next(found)
    assert read <= 150
    found.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_closing_the_stream_early_stops_the_work(workers: int) -> None:
    upper = Upper(0.01)
    stopped = False

    def items() -> Iterator[str]:
        nonlocal stopped
        try:
            yield from TEXTS
        finally:
            stopped = True

    found = Pipeline([upper]).pipe(items(), workers=workers, batch_words=1)
    next(found)
    found.close()
    gc.collect()
    assert stopped
    done = len(upper.batches)
    time.sleep(0.1)
    assert len(upper.batches) == done < 20
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("weft_")]


# Documents that cannot be annotated.


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("batch_words", [1, 10, 1000])
def test_bad_documents_are_handed_over_in_order_and_left_out(workers: int, batch_words: int) -> None:
    texts = [f"{i} bad" if i % 10 == 3 else f"{i} good" for i in range(100)]
    left_out: list[str] = []
    threads = set()

    def note(doc: Doc, error: WeftError) -> None:
        left_out.append(doc.text)
        threads.add(threading.get_ident())
        assert str(error) == f"bad word in {doc.text!r}"

    pipe = Pipeline([Upper()]).pipe(texts, workers=workers, batch_words=batch_words, on_error=note)
    assert [doc.text for doc in pipe] == [text for text in texts if "good" in text]
    assert left_out == [text for text in texts if "bad" in text]
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_document_raises_only_when_its_turn_comes(workers: int) -> None:
    pipe = Pipeline([Upper()]).pipe(["one", "two", "bad", "four"], workers=workers)
    assert [next(pipe).text, next(pipe).text] == ["one", "two"]
    with pytest.raises(DataError, match="bad word"):
        next(pipe)


@pytest.mark.parametrize("workers", [1, 2])
def test_faults_of_the_program_are_not_swallowed(workers: int) -> None:
    class Broken(Upper):
        def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(Pipeline([Broken()]).pipe(TEXTS, workers=workers, on_error=lambda doc, error: None))


# Files.


def test_a_pipeline_of_several_components_is_one_file(tmp_path: Path, known_tasks: None) -> None:
    nlp = Pipeline([Upper(0.5), Length()], {"name": "pair", "licence": "CC0-1.0"})
    nlp.save(tmp_path / "pair.weft")
    again = weft.load(tmp_path / "pair.weft")
    assert repr(again) == "Pipeline(upper, length)"
    assert again.card == nlp.card
    assert isinstance(again.components[0], Upper)
    assert again.components[0].pause == 0.5
    header = read_header(tmp_path / "pair.weft")
    assert header["task"] == "upper, length"
    assert [component["task"] for component in header["components"]] == ["upper", "length"]


def test_components_this_version_does_not_know_are_refused(tmp_path: Path) -> None:
    Pipeline([Upper()]).save(tmp_path / "a.weft")
    with pytest.raises(ModelError, match=r"a.weft: component 1: this version of Weft does not know the task 'upper'"):
        weft.load(tmp_path / "a.weft")


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "chunker",
        {},
        {"task": "chunker"},
        {"task": ["chunker"]},
        {"task": "chunker", "settings": [], "chain": {}},
        {"task": "chunker", "settings": {"colour": "red"}, "chain": {}},
        {"task": "chunker", "settings": {"learner": "magic"}, "chain": {}},
        {"task": "chunker", "settings": {"templates": 5}, "chain": {}},
        {"task": "chunker", "settings": {"templates": "w[0", "fields": {"w": "form"}}, "chain": {}},
        {"task": "chunker", "settings": {"templates": "w[0]", "fields": {"w": "form"}}, "chain": {}},
        {
            "task": "chunker",
            "settings": {"templates": "w[0]", "fields": {"w": "form"}},
            "chain": {"labels": ["O"], "order": 1, "scheme": "IOB2", "bits": 64},
        },
    ],
)
def test_components_that_do_not_fit_together_are_refused(tmp_path: Path, entry: Any) -> None:
    save(tmp_path / "a.weft", {"components": [entry]}, {})
    with pytest.raises(ModelError, match=r"a.weft: component 1"):
        weft.load(tmp_path / "a.weft")


def test_a_loaded_chunker_finds_what_the_trained_one_found(chunker: Chunker, unseen: list[Doc], tmp_path: Path) -> None:
    Pipeline([chunker]).save(tmp_path / "a.weft")
    nlp = weft.load(tmp_path / "a.weft")
    assert nlp.components[0].requires == chunker.requires
    before = [chunks(doc) for doc in Pipeline([chunker]).pipe(copies(unseen))]
    assert [chunks(doc) for doc in nlp.pipe(copies(unseen))] == before
    nlp.save(tmp_path / "b.weft")
    assert (tmp_path / "b.weft").read_bytes() == (tmp_path / "a.weft").read_bytes()


@pytest.mark.parametrize("workers", [2, 4])
def test_threads_find_the_same_chunks_with_one_copy_of_the_weights(
    chunker: Chunker, unseen: list[Doc], tmp_path: Path, workers: int
) -> None:
    Pipeline([chunker]).save(tmp_path / "a.weft")
    nlp = weft.load(tmp_path / "a.weft")
    (component,) = nlp.components
    assert isinstance(component, Chunker)
    assert component.scorer is not None
    table = component.scorer.node
    seen: set[tuple[int, int]] = set()
    inner = table.score

    def watched(*arguments: Any) -> Any:
        seen.add((threading.get_ident(), table.arrays["weights"].__array_interface__["data"][0]))
        return inner(*arguments)

    table.score = watched  # type: ignore[method-assign]
    expected = [chunks(doc) for doc in Pipeline([chunker]).pipe(copies(unseen, 60))]
    found = [chunks(doc) for doc in nlp.pipe(copies(unseen, 60), workers=workers, batch_words=100)]
    assert found == expected
    assert len({place for _, place in seen}) == 1
    assert len({thread for thread, _ in seen}) > 1
    assert not table.arrays["weights"].flags.writeable


def test_quantized_and_pruned_models_lose_little(examples: Path, unseen: list[Doc], tmp_path: Path) -> None:
    """float32 against int16, int8 and pruned weights: how many words of the examples change their label."""
    labels: dict[str, list[str]] = {}
    sizes = {}
    held = [*copies(unseen), *copies(list(weft.read(examples / "chunks.conll")))]
    gold = [label for doc in held for label in Chunker().gold(doc)]
    for name, options in {
        "float32": {},
        "int16": {"precision": "int16"},
        "int8": {"precision": "int8"},
        "pruned": {"precision": "int8", "prune": 0.02},
    }.items():
        trained = Chunker.from_options(options)
        trained.fit(weft.read(examples / "chunks.conll"))
        path = tmp_path / f"{name}.weft"
        Pipeline([trained]).save(path)
        sizes[name] = path.stat().st_size
        nlp = weft.load(path)
        found = nlp.pipe(copies(held))
        labels[name] = [label for doc in found for label in Chunker().gold(doc)]
    same = {name: float(np.mean(np.array(each) == np.array(labels["float32"]))) for name, each in labels.items()}
    right = {name: float(np.mean(np.array(each) == np.array(gold))) for name, each in labels.items()}
    assert same["int16"] == 1.0
    assert same["int8"] >= 0.99
    assert same["pruned"] >= 0.97
    assert right["float32"] - right["int8"] <= 0.005
    assert sizes["float32"] > sizes["int16"] > sizes["int8"] > sizes["pruned"]


STREAM = """
import json, sys
from pathlib import Path

bench, model, path = map(Path, sys.argv[1:])
sys.path.insert(0, str(bench))
import stream
import weft.features.lexicon, weft.formats.columns

weft.features.lexicon.LIMIT = weft.formats.columns.TABLE_LIMIT = 2000
stream.write_stream(path, 30_000, suffix="x" * 300)
print(json.dumps(stream.annotate(model, path, 1000)))
"""


def test_a_stream_of_ever_new_words_is_annotated_in_constant_memory(
    chunker: Chunker, examples: Path, tmp_path: Path
) -> None:
    """Kept for good, the new words alone would take more than 10 MB; documents kept would take many times that."""
    Pipeline([chunker]).save(tmp_path / "model.weft")
    paths = [examples.parent / "bench", tmp_path / "model.weft", tmp_path / "stream.conll"]
    command = [sys.executable, "-c", STREAM, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    samples = json.loads(done.stdout)["samples"]
    assert len(samples) == 30
    memory = [sample["rss_mb"] for sample in samples]
    assert max(memory[15:]) - max(memory[5:15]) < 4


@pytest.mark.parametrize(
    ("item", "advice"),
    [
        (["A b c.", "D e."], r"got list; for several texts use nlp\.pipe"),
        (None, "got None; check where the text comes from"),
        (b"bytes", "decode them first"),
        (Path("note.txt"), r"nlp\.pipe\(weft\.read\(path\)\)"),
        (7, "got int; give a string"),
    ],
)
def test_what_is_no_text_is_refused_with_advice(item: Any, advice: str) -> None:
    nlp = Pipeline([])
    with pytest.raises(WeftError, match=advice):
        nlp(item)
    with pytest.raises(WeftError, match=advice):
        list(nlp.pipe([item]))


def test_a_single_text_is_not_piped_letter_by_letter() -> None:
    with pytest.raises(WeftError, match=r"nlp\(text\)"):
        list(Pipeline([]).pipe("Dogs bark."))
