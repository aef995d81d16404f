"""Bad input: whatever the text is, nothing breaks and a document comes out; `make fuzz` does it for longer."""

from __future__ import annotations

import doctest
import json
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

import weft as package
from weft.formats import jsonl
from weft.pipeline.pipeline import Pipeline
from weft.text import Doc
from weft.text.strings import StringTable
from weft.text.validity import check_doc

sys.path.append(str(ROOT / "bench"))
from fuzz import adapters, documents, frame, journal, kinds, outcome, part
from fuzz import pipelines as parts
from fuzz import texts as pathological
from fuzz.__main__ import main
from fuzz.outcome import Outcome

#: Formats whose readers meet bytes that are none of theirs.
KINDS = (
    "plain", "conllu", "jsonl", "columns", "penn", "mst", "bioscope", "streusle", "label-studio", "doccano", "prodigy",
)  # fmt: skip
Weft = Callable[..., "subprocess.CompletedProcess[str]"]


controls = st.sampled_from(
    [*kinds.CONTROLS, *kinds.INVISIBLE, *kinds.BIDI, *kinds.COMBINING, *kinds.BLANKS, *kinds.QUOTES]
)
texts = st.one_of(
    st.text(max_size=200),
    st.text(controls, max_size=60),
    st.text(st.one_of(controls, st.sampled_from("abc. 'ABC123"), st.characters(min_codepoint=0x10000)), max_size=120),
)


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pipeline]:
    """A pipeline trained on the examples, and the English one where it is at hand."""
    return parts.named_pipelines(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("model", ["small", "en"])
def test_any_text_becomes_a_document_and_survives_files(
    model: str, pipelines: dict[str, Pipeline], tmp_path: Path
) -> None:
    if model not in pipelines:
        pytest.skip("the English model is not at hand")

    @settings(max_examples=60, deadline=None)
    @given(st.lists(texts, min_size=1, max_size=4))
    def check(some: list[str]) -> None:
        parts.check(pipelines[model], some, tmp_path)

    check()


@pytest.mark.parametrize("kind", list(kinds.KINDS))
def test_text_of_every_bad_kind_becomes_documents(kind: str, pipelines: dict[str, Pipeline], tmp_path: Path) -> None:
    source = random.Random(7)
    made = [kinds.KINDS[kind](source) for _ in range(20)]
    for nlp in pipelines.values():
        parts.check(nlp, made, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "The ferry left the harbour at nine, and the fog came. ",
        "no end in sight ",
        "abcdefghij",
        "语",
        "(\"'",
        "\u0301",
        "\x00",
        " ",
    ],
    ids=["sentences", "no stop", "one word", "one script", "quotes", "marks", "NUL", "blanks"],
)
def test_a_line_of_a_million_characters_is_annotated(line: str, pipelines: dict[str, Pipeline]) -> None:
    text = (line * (1_000_000 // len(line) + 1))[:1_000_000]
    doc = pipelines["small"](text)
    assert doc.text == text
    check_doc(doc)


def test_words_and_documents_that_are_empty_pass(pipelines: dict[str, Pipeline]) -> None:
    docs = list(pipelines["small"].pipe(["", " ", "\n", "\u200b", "Fine.", ""]))
    assert [doc.n_words > 0 for doc in docs if doc.text != "\u200b"] == [False, False, False, True, False]
    for doc in docs:
        check_doc(doc)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    from weft.pipeline.registry import train

    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    train("tagger", package.read(examples / "story.conllu"), None, path, {"epochs": 2})
    return path


@pytest.mark.parametrize("format", KINDS)
def test_bytes_that_are_no_text_end_in_one_plain_line(format: str, weft: Weft, tagger: Path, tmp_path: Path) -> None:
    source = random.Random(11)
    (tmp_path / "noise.bin").write_bytes(bytes(source.randrange(256) for _ in range(3000)) + b"\xff\n")
    failed = weft("annotate", "noise.bin", "--from", format, "--model", tagger, "--to", "jsonl")
    assert failed.returncode == 1
    assert failed.stderr.startswith("weft: noise.bin")
    assert "Traceback" not in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_text_in_another_encoding_is_told_with_its_line(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Fine.\n\nUn café.\n".encode("latin-1"))
    failed = weft("annotate", "latin.txt", "--model", tagger, "--to", "jsonl")
    assert failed.returncode == 1
    assert "latin.txt, line 3: expected UTF-8 text, found the byte 0xe9" in failed.stderr
    done = weft("annotate", "latin.txt", "--model", tagger, "--to", "jsonl", "--encoding", "latin-1")
    assert json.loads(done.stdout)["text"] == "Fine.\n\nUn café.\n"


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(KINDS),
)
def test_no_bytes_break_a_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes, format: str) -> None:
    path = tmp_path_factory.mktemp("noise") / "noise"
    path.write_bytes(data)
    for skip_bad in (False, True):
        with suppress(package.WeftError):
            for doc in package.read(path, format, skip_bad=skip_bad):
                check_doc(doc)


def _attacked(seed: int, folder: Path) -> Outcome:
    found = Outcome("documents")
    documents.attack_layers(seed, 12, folder, found)
    return found


def test_a_planted_fault_of_a_reader_is_found_and_repeated_by_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _attacked(3, tmp_path).failed == 0
    honest = jsonl.from_values

    def crash(values: dict[str, Any], strings: StringTable | None = None, *, check: bool = True) -> Doc:
        if len(values["text"]) % 4 == 1:
            raise ZeroDivisionError("planted")
        return honest(values, strings, check=check)

    monkeypatch.setattr(jsonl, "from_values", crash)
    first, again, other = (_attacked(seed, tmp_path) for seed in (3, 3, 4))
    assert first.attempts == 12
    assert 0 < first.failed == len(first.failures) < 12
    assert "planted" in first.failures[0].detail
    assert first == again != other
    monkeypatch.undo()
    case = first.failures[0].case
    assert isinstance(case, str)
    assert all(isinstance(json.loads(line), dict) for line in case.splitlines() if line)


PLANTED = {
    "dies.py": "import os, signal\n\n\ndef run(count, seed):\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
    "raises.py": "def run(count, seed, minutes=None):\n    return 1 // 0\n",
    "lacks.py": "import no_such_package\n\n\ndef run(count, seed, minutes=None):\n    return {}\n",
    "finds.py": (
        "from fuzz.outcome import Outcome, attack_seed\n\nCOUNT = 3\n\n\ndef run(count, seed, minutes=None):\n"
        "    outcome = Outcome('finds')\n    outcome.hold('a', count - 1)\n"
        "    outcome.fail('a', attack_seed(seed, 2), 'read /tmp/somewhere/b.txt', case=b'bad')\n    return outcome\n"
    ),
    "repeats.py": (
        "from fuzz.outcome import Outcome, attack_seed\n\nBATCH = 2\n\n\ndef run(count, seed):\n"
        "    outcome = Outcome('repeats')\n"
        "    for number in range(count // 2):\n"
        "        outcome.fail('a', attack_seed(seed, number), 'no')\n        outcome.hold('a')\n    return outcome\n"
    ),
    "holds.py": "COUNT = 7\n\n\ndef run(count, seed):\n    return {'attempts': count, 'held': count}\n",
    "helper.py": "def run():\n    return None\n",
}


def test_the_frame_reports_parts_that_find_die_or_raise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, record = tmp_path / "parts", tmp_path / "record.json"
    folder.mkdir()
    for name, source in PLANTED.items():
        if name != "repeats.py":
            (folder / name).write_text(source)
    assert [made.name for made in frame.parts(folder)] == ["dies", "finds", "holds", "lacks", "raises"]
    words = ["--folder", str(folder), "--out", str(record), "--keep", str(tmp_path / "kept"), "--seed", "5"]
    assert main(words) == 1
    facts = json.loads(record.read_text())
    assert {row["part"]: (row["attacks"], row["failures"]) for row in facts["rows"]} == {
        "dies": (1, 1), "finds": (3, 1), "holds": (7, 0), "raises": (1, 1),
    }  # fmt: skip
    assert "signal 11" in facts["parts"]["dies"]["failed"][0]["detail"]
    assert "ZeroDivisionError" in facts["parts"]["raises"]["failed"][0]["detail"]
    assert "somewhere" not in record.read_text()
    assert {"seed", "date", "commit"} <= facts["parts"]["holds"].keys()
    assert "lacks      left out: it needs no_such_package" in capsys.readouterr().out
    (case,) = (tmp_path / "kept").glob("*.case")
    assert case.read_bytes() == b"bad"


def test_a_run_of_some_parts_keeps_the_record_of_the_others(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    for number, count in enumerate(("4", "9")):
        (tmp_path / f"part{number}.py").write_text(PLANTED["holds.py"])
        assert main(["--folder", str(tmp_path), "--out", str(record), "--count", count, f"part{number}"]) == 0
    facts = json.loads(record.read_text())
    assert [row["attacks"] for row in facts["rows"]] == [4, 9]
    assert (facts["attempts"], facts["failures"]) == (13, 0)
    assert main(["--folder", str(tmp_path), "no-such-part"]) == 2


def test_parts_run_beside_others_and_stop_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "short.py").write_text(PLANTED["holds.py"])
    (tmp_path / "whole.py").write_text(f"BESIDE = True\n{PLANTED['holds.py']}")
    told: list[str] = []
    entries = frame.attack(frame.parts(tmp_path), minutes=1.0, done=lambda entry: told.append(entry.part.name))
    assert told == [entry.part.name for entry in entries] == ["short", "whole"]
    (tmp_path / "whole.py").write_text("import time\n\n\ndef run(count, seed):\n    time.sleep(600)\n")

    def interrupt(entry: frame.Entry) -> None:
        raise KeyboardInterrupt

    begun: list[subprocess.Popen[bytes]] = []
    honest = subprocess.Popen

    def begin(*words: Any, **named: Any) -> subprocess.Popen[bytes]:
        begun.append(honest(*words, **named))
        return begun[-1]

    monkeypatch.setattr(frame.subprocess, "Popen", begin)
    short, whole = frame.parts(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        frame.attack([replace(whole, beside=True), short], done=interrupt)
    assert [process.returncode for process in begun] == [-signal.SIGKILL, 0]


def test_a_failure_is_repeated_by_its_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "repeats.py").write_text(PLANTED["repeats.py"])
    words = ["--folder", str(tmp_path), "--out", str(tmp_path / "record.json"), "repeats"]
    assert main([*words, "--count", "6"]) == 1
    seeds = re.findall(r"seed (\d+)", capsys.readouterr().out)
    assert len(set(seeds)) == 3
    before = (tmp_path / "record.json").read_bytes()
    assert main([*words, "--repeat", seeds[2]]) == 1
    assert re.findall(r"seed (\d+)", capsys.readouterr().out) == [seeds[2]]
    assert (tmp_path / "record.json").read_bytes() == before


@pytest.mark.parametrize("module", [adapters, journal, outcome, part, pathological], ids=lambda module: module.__name__)
def test_examples_of_the_fuzzer_work(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0


def test_an_interrupted_run_of_texts_resumes_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def annotate(doc: Doc) -> None:
        """Never called: `apart` stands in for the process that would."""

    def apart(annotate: Callable[[Doc], None], text: str) -> pathological.Ran:
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(text)
        return pathological.Ran(0.1, 7_000_000, len(done) == 1, "died of signal 11" if len(done) == 3 else "")

    monkeypatch.setenv(journal.FOLDER, str(tmp_path / "noted"))
    for name in ("LENGTH", "SHORT"):
        monkeypatch.setattr(pathological, name, 100)
    monkeypatch.setattr(pathological, "models", lambda: {"one": annotate, "two": annotate})
    monkeypatch.setattr(pathological, "attack_apart", apart)
    with pytest.raises(KeyboardInterrupt):
        pathological.run(8, 19)
    [noted] = (tmp_path / "noted").iterdir()
    rows = [json.loads(line) for line in noted.read_text().splitlines()]
    assert [row["fault"] for row in rows] == ["", "", "died of signal 11", "", ""]  # told while the run goes on
    with noted.open("a") as file:
        file.write('{"seed": 4, "fau')  # killed while it wrote
    done.append("interrupted")
    outcome = pathological.run(8, 19)
    assert len(done) == 6 + 3
    assert (outcome.attempts, outcome.failed, outcome.figures["stopped"]) == (8, 1, 1)
    assert outcome.figures["most MB"] == {"one": 7, "two": 7}
    assert len(noted.read_text().splitlines()) == 8
    pathological.run(2, 20)  # another seed is another run
    assert len(done) == 6 + 3 + 2


def test_every_model_gets_long_texts_and_every_text_is_long_for_some() -> None:
    names, kinds_of_text = [f"model {i}" for i in range(46)], [f"text {i}" for i in range(148)]
    pairs = [pathological.pair_of(own, names, kinds_of_text) for own in range(4_600)]
    assert len(set(pairs)) == 4_600
    assert len({kind for _, kind, _ in pairs}) == 100
    long = [name for name, _, is_long in pairs if is_long]
    assert {long.count(name) for name in names} == {2, 3}
    assert len({kind for _, kind, is_long in pairs if is_long}) >= 90


def test_modules_of_other_shapes_are_adapted() -> None:
    kills, inputs = Outcome("kills"), Outcome("inputs")
    told = {
        "annotate": 4,
        "train": 1,
        "folders": 9,
        "kills by SIGINT": 3,
        "failures": 1,
        "failed": ["annotate 2: half"],
    }
    adapters._count_kills(kills, 7, 4, told)
    assert (kills.kinds, kills.failed) == ({"annotate": [4, 1], "train": [1, 0]}, 1)
    assert kills.figures == {"kills by SIGINT": 3, "rounds": 4}
    row = {"format": "brat", "accepted": 1, "skipped": 0, "refused": 5, "failed": 1}
    adapters._count_inputs(inputs, {"rows": [row], "failures": [{"kind": "brat", "seed": 3, "error": "no"}]})
    assert (inputs.kinds, inputs.failures[0].seed) == ({"brat": [7, 1]}, 3)


def test_hostile_models_are_counted_by_model_without_those_that_were_not_made(tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def hostile_models(models: dict[str, Path], count: int, seed: int) -> dict[str, Any]:
        (name,) = models
        asked.append((name, count))
        failures = [{"place": "0/columns", "change": "all -1", "answer": "FAILED: signal 11"}] * (name == "bad")
        return {"mutants": count, "outcomes": {"does": 1, "refused": count - 1 - len(failures)}, "failures": failures}

    planted = SimpleNamespace(
        small_models=lambda folder: {"good": folder, "bad": folder}, SHIPPED=tmp_path, hostile_models=hostile_models
    )
    found = adapters.ADAPTERS["models"].run(planted, 25, 3, None)  # type: ignore[arg-type]
    assert found.attempts == 27
    assert found.kinds.keys() == {"good", "bad"}
    assert found.failed == sum(name == "bad" for name, _ in asked)
    assert "0/columns, all -1: FAILED" in found.failures[0].detail


def test_every_part_of_the_fuzzer_is_known_with_its_number_of_attacks() -> None:
    known = {made.name: made for made in frame.parts()}
    assert {"documents", "lines", "pipelines"} <= known.keys()
    assert (known["documents"].count, known["documents"].batch, known["documents"].beside) == (1_000_000, 200, True)
    assert part.adapted({"attempts": 2, "failures": []}, "x") == Outcome("x", 2, 2)
