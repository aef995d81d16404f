"""Hostile files: readers refuse them in plain words, with file and line, and never crash or swallow the memory."""

from __future__ import annotations

import ast
import gzip
import importlib
import json
import pkgutil
import re
import resource
import signal
import subprocess
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import FormatError, WeftError
from weft.formats import read, write
from weft.formats.pharaoh import read_links
from weft.formats.reviews import read_reviews
from weft.scale.shards import find_cuts
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.validity import check_doc, faulty

PACKAGE = Path(weft.__file__).parent
ROOT = PACKAGE.parent.parent
ROW = "1\tDogs\t_\t_\t_\t_\t0\troot\t_\t_\n"


def a_doc(text: str = "Dogs bark loudly") -> Doc:
    words = text.split()
    heads = [0, *range(1, len(words))]
    return Doc.from_words([words], upos=[["X"] * len(words)], head=[heads])


# Parquet


def with_column(path: Path, name: str, change: Callable[[list[Any]], list[Any]]) -> None:
    """Change the list of the second of three documents in a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    write([a_doc(), a_doc(), a_doc()], path)
    table = pyarrow.parquet.read_table(path)
    rows = table[name].to_pylist()
    rows[1] = change(rows[1])
    kind = table.schema.field(name).type
    if name in ("form", "upos"):
        kind = pyarrow.list_(pyarrow.string())
    table = table.set_column(table.column_names.index(name), name, pyarrow.array(rows, kind))
    pyarrow.parquet.write_table(table, path)


PARQUET = {
    "a short column": ("form", lambda row: row[:1]),
    "a head beyond 32 bits' use": ("head", lambda row: [2147483647, *row[1:]]),
    "heads in a cycle": ("head", lambda row: [2, 1, 2]),
    "too few heads": ("head", lambda row: row[:1]),
    "tokens before the text": ("token_start", lambda row: [-5, *row[1:]]),
    "tokens beyond the text": ("token_end", lambda row: [*row[:-1], 99]),
    "tokens out of order": ("token_start", lambda row: row[::-1]),
    "words of no token": ("word_token", lambda row: [7, *row[1:]]),
    "a sentence beyond the words": ("sentence_offsets", lambda row: [0, 9]),
    "no sentence offsets": ("sentence_offsets", lambda row: []),
    "nulls among numbers": ("word_token", lambda row: [None, *row[1:]]),
    "nulls among strings": ("upos", lambda row: [None, *row[1:]]),
    "no list": ("token_start", lambda row: None),
    "no text": ("text", lambda row: None),
    "a shorter text": ("text", lambda row: row[:3]),
    "a rest that is no JSON": ("rest", lambda row: "{"),
    "a rest that is a list": ("rest", lambda row: "[]"),
    "a relation of no spans": ("rest", lambda row: '{"relations": {"r": {"spans": "e", "rows": [[0, 1, "x"]]}}}'),
    "too few confidences": ("rest", lambda row: '{"confidence": {"upos": [0.5]}}'),
    "confidences that are no numbers": ("rest", lambda row: '{"confidence": {"upos": [NaN, 1, 1]}}'),
}


@pytest.mark.parametrize("name", PARQUET)
def test_parquet_rows_that_are_no_documents_are_refused_and_skipped(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.parquet"
    with_column(path, *PARQUET[name])
    with pytest.raises(FormatError, match=r"a\.parquet, row 2: ") as caught:
        list(read(path))
    assert caught.value.line == 2
    corpus = read(path, skip_bad=True)
    assert [doc.text for doc in corpus] == [a_doc().text] * 2
    assert corpus.report is not None
    assert corpus.report.count == 1


@pytest.mark.parametrize("item", [1.5, "x", [1.5], [["a"]], b"\xff"])
def test_parquet_columns_of_another_kind_are_named(tmp_path: Path, item: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    write([a_doc()], path)
    table = pyarrow.parquet.read_table(path)
    table = table.set_column(table.column_names.index("head"), "head", pyarrow.array([item]))
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(FormatError, match="in the column head"):
        list(read(path))


# JSON Lines


JSONL = {
    "numbers beyond 32 bits": '{"text": "a", "tokens": [[0, 2147483648]]}',
    "heads beyond 32 bits": '{"text": "a", "tokens": [[0, 1]], "sentences": [0, 1], "head": [2147483648]}',
    "numbers beyond 64 bits": '{"text": "a", "tokens": [[0, 1]], "words": [99999999999999999999]}',
    "fractions": '{"text": "ab", "tokens": [[0, 1.5]]}',
    "numbers as text": '{"text": "ab", "tokens": [["0", "1"]]}',
    "nulls": '{"text": "ab", "tokens": [[0, null]]}',
    "null for a list": '{"text": "ab", "tokens": null}',
    "null for metadata": '{"text": "ab", "meta": null}',
    "null for comments": '{"text": "a", "tokens": [[0, 1]], "sentences": [0, 1], "comments": [null]}',
    "pairs of other lengths": '{"text": "abcd", "tokens": [[0], [1, 2, 3]]}',
    "deep nesting": '{"text": "a", "meta": {"x": ' + "[" * 100_000 + "]" * 100_000 + "}}",
    "deeper than is written again": '{"text": "a", "meta": {"x": ' + "[" * 200 + "]" * 200 + "}}",
    "disordered words": '{"text": "ab", "tokens": [[0, 1], [1, 2]], "words": [1, 0]}',
    "left-out tokens": '{"text": "abc", "tokens": [[0, 1], [1, 2], [2, 3]], "words": [0, 2]}',
    "cyclic heads": '{"text": "ab", "tokens": [[0, 1], [1, 2]], "sentences": [0, 2], "head": [2, 1]}',
    "heads below -1": '{"text": "a", "tokens": [[0, 1]], "sentences": [0, 1], "head": [-2]}',
    "a column of other lengths": '{"text": "a", "tokens": [[0, 1]], "columns": {"upos": ["X", "Y"]}}',
    "a column that is a string": '{"text": "a", "tokens": [[0, 1]], "columns": {"upos": "X"}}',
    "a column of numbers": '{"text": "a", "tokens": [[0, 1]], "columns": {"upos": [1]}}',
    "a column of nulls": '{"text": "a", "tokens": [[0, 1]], "columns": {"upos": [null]}}',
    "a multiword token outside": '{"text": "a", "tokens": [[0, 1]], "multiwords": [[0, 5, ["", "", ""]]]}',
    "an empty node outside": '{"text": "a", "tokens": [[0, 1]], "sentences": [0, 1], "empty_nodes": [[3, 0, 1, []]]}',
    "a span outside": '{"text": "a", "spans": {"e": {"unit": "chars", "rows": [[0, 9, "x"]]}}}',
    "a span of fractions": '{"text": "abc", "spans": {"e": {"unit": "chars", "rows": [[0.5, 1.5, "x"]]}}}',
    "a relation outside": '{"text": "a", "relations": {"r": {"spans": "e", "rows": [[0, 0, "x"]]}}}',
    "clusters of no spans": '{"text": "a", "clusters": {"c": {"spans": "e", "cluster": [0]}}}',
    "a graph outside": '{"text": "a", "graphs": {"g": {"spans": "", "nodes": [["x", 4]], "edges": []}}}',
    "an edge outside": '{"text": "a", "graphs": {"g": {"spans": "", "nodes": [], "edges": [[0, 1, "x"]]}}}',
    "overlapping phrases": '{"text": "a b c", "tokens": [[0, 1], [2, 3], [4, 5]], "sentences": [0, 3], '
    '"constituents": [["S", 0, 3, -1], ["A", 0, 2, 0], ["B", 1, 3, 0]]}',
    "confidence that is no number": '{"text": "a", "tokens": [[0, 1]], "confidence": {"upos": [NaN]}}',
    "confidence beyond 1": '{"text": "a", "tokens": [[0, 1]], "confidence": {"upos": [3]}}',
    "an unpaired surrogate": '{"text": "\\ud800"}',
}


@pytest.mark.parametrize("name", JSONL)
def test_json_lines_that_are_no_documents_are_refused_and_skipped(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n' + JSONL[name] + '\n{"text": "fine"}\n')
    with pytest.raises(FormatError, match=r"a\.jsonl, line 2: "):
        list(read(path))
    corpus = read(path, skip_bad=True)
    assert [doc.text for doc in corpus] == ["good", "fine"]
    assert corpus.report is not None
    assert corpus.report.count == 1


def test_documents_before_a_bad_one_are_still_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "good"}\n' + JSONL["cyclic heads"] + "\n")
    stream = iter(read(tmp_path / "a.jsonl"))
    assert next(stream).text == "good"
    with pytest.raises(FormatError):
        next(stream)


# Checking


def test_checking_together_finds_the_bad_documents_and_only_those() -> None:
    docs = [a_doc() for _ in range(6)]
    strings = docs[0].strings
    docs = [Doc.from_words([["Dogs", "bark"]], strings=strings, head=[[0, 1]]) for _ in range(6)]
    docs[1].token_end[1] = 40
    docs[4].head[0] = 2  # type: ignore[index]
    assert list(faulty(docs)) == [1, 4]
    assert list(faulty(docs, trees=False)) == [1]
    for place in (1, 4):
        with pytest.raises(WeftError):
            check_doc(docs[place])


@pytest.mark.parametrize("name", ["token_start", "token_end", "word_token", "sentence_offsets", "head"])
@pytest.mark.parametrize("kind", ["float64", "int64", "shape", "list"])
def test_arrays_of_another_kind_are_refused(name: str, kind: str) -> None:
    doc = a_doc()
    array = getattr(doc, name)
    changed = array.tolist() if kind == "list" else array.reshape(-1, 1) if kind == "shape" else array.astype(kind)
    setattr(doc, name, changed)
    with pytest.raises(WeftError):
        check_doc(doc)


# Bombs


def test_gzip_bombs_are_refused_before_they_expand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.formats.streams.GZIP_FREE", 1 << 20)
    for name in ("a.conllu.gz", "a.txt.gz", "a.jsonl.gz", "a.xml.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"1" * 30_000_000))
        with pytest.raises(FormatError, match=f"{name}.*expands to at most 250 times its size"):
            list(read(tmp_path / name))


def test_gzipped_text_that_repeats_itself_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.formats.streams.GZIP_FREE", 1 << 20)
    text = "".join(ROW.replace("Dogs", f"w{number % 1000}") + "\n" for number in range(50_000))
    (tmp_path / "a.conllu.gz").write_bytes(gzip.compress(text.encode()))
    assert sum(doc.n_words for doc in read(tmp_path / "a.conllu.gz")) == 50_000


@pytest.mark.parametrize("name", ["a.conllu", "a.jsonl", "a.col", "a.mrg", "a.mst"])
def test_lines_without_end_are_refused_in_bounded_memory(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.formats.streams.LONGEST", 1 << 20)
    (tmp_path / name).write_bytes(b"x" * (5 << 20))
    with pytest.raises(FormatError, match=f"{name}, line 1: expected .* of at most 1,048,576 bytes"):
        list(read(tmp_path / name))


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    text = "word " * 2_000_000
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text}) + "\n")
    assert [len(doc.text) for doc in read(tmp_path / "a.jsonl")] == [len(text)]


def test_a_bomb_of_one_line_does_not_take_the_memory_it_expands_to(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bombline.conllu.gz", "wb", compresslevel=1) as packer:
        for _ in range(16):
            packer.write(b"x" * (10 << 20))
    code = "import sys, weft\ntry:\n    list(weft.read(sys.argv[1]))\nexcept weft.WeftError as error:\n    print(error)"
    limit = 2 << 30

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [sys.executable, "-c", code, str(tmp_path / "bombline.conllu.gz")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=bound, timeout=120, check=False)
    assert "sentences of at most 134,217,728 bytes" in done.stdout, done.stderr


# Other formats


def test_links_of_numbers_beyond_32_bits_are_refused(tmp_path: Path) -> None:
    for word in ("4294967296-0", "0-2147483648", "9" * 5000 + "-0", "0-0:1e999"):
        (tmp_path / "links").write_text(f"0-0\n{word}\n")
        with pytest.raises(FormatError, match="line 2"):
            read_links(tmp_path / "links")
    with pytest.raises(WeftError, match="32 bits"):
        Links.of([[(2**31, 0)]])


XML = (
    '<Annotation><Document><DocID>1</DocID><DocumentPart type="T"><sentence id="1">%s</sentence></DocumentPart>'
    "</Document></Annotation>"
)
BIOSCOPE = {
    "deep nesting": XML % ("<xcope id='1'>" * 5000 + "a" + "</xcope>" * 5000),
    "deep frames": "<Annotation>" + "<Document>" * 5000,
    "an outside entity": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + XML % "It &x; rains",
    "an entity bomb": '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]>' + XML % "It &y; rains",
    "an undeclared entity": '<!DOCTYPE Annotation SYSTEM "BioScope.dtd">' + XML % "It &x; rains",
    "an unknown encoding": '<?xml version="1.0" encoding="utf-99"?>' + XML % "It rains",
    "cues out of order": XML % "<cue type='n' ref='1'>a<cue type='n' ref='1'>b</cue></cue>",
}


@pytest.mark.parametrize("name", BIOSCOPE)
def test_hostile_xml_is_refused_and_counted(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(BIOSCOPE[name])
    with pytest.raises(FormatError, match=r"a\.xml, line 1: "):
        list(read(path))
    corpus = read(path, skip_bad=True)
    assert not list(corpus)
    assert corpus.report is not None
    assert corpus.report.count == 1


def test_plain_entities_of_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<!DOCTYPE a [<!ENTITY x "α">]>' + XML % "It &x; rains")
    assert [doc.text for doc in read(tmp_path / "a.xml")] == ["It α rains"]


REVIEWS = {
    "a.csv": 'text,rating\n"' + "x" * 200_000 + '",4\n',
    "a.jsonl": '{"text": "a", "rating": ' + "9" * 400 + "}\n",
    "b.jsonl": '{"text": "a", "sentences": 4}\n',
    "c.jsonl": "[" * 100_000 + "\n",
    "d.jsonl": '{"text": "a", "tokens": [[0, 4294967296]]}\n',
    "a.tsv": "text\trating\na\t9e999\n",
}


@pytest.mark.parametrize("name", REVIEWS)
def test_hostile_reviews_are_refused_with_their_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(REVIEWS[name])
    with pytest.raises(FormatError, match="line"):
        list(read_reviews(tmp_path / name))


OTHERS = {
    "a.tags": "1\tDogs\tdog\tN\tO\t²\t\t\ts.1\n",
    "b.tags": "1\t\tdog\tN\tO\t0\t\t\ts.1\n",
    "a.conllulex": "1\tDogs" + "\t_" * 4 + "\t7" + "\t_" * 12 + "\n",
    "a.mst": "a\tb\nX\tX\n2\t1\n",
    "a.tsv": "\tNN\n",
    "a.conllu": "1\tDogs\t_\t_\t_\t_\t2147483648\t_\t_\t_\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_hostile_rows_are_refused_and_counted(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(OTHERS[name])
    with pytest.raises(FormatError, match="line"):
        list(read(tmp_path / name))
    corpus = read(tmp_path / name, skip_bad=True)
    assert not list(corpus)
    assert corpus.report is not None
    assert corpus.report.count == 1


@pytest.mark.parametrize(
    "line", ["T1\tPER 4294967296 4294967297\tx", "T1\tPER 2 3;0 1\tx", "2\tPER T1", "T1\tPER ² 3\tx"]
)
def test_hostile_brat_lines_are_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text("Ada met Bob.")
    (tmp_path / "a.ann").write_text(line + "\n")
    with pytest.raises(FormatError, match=r"a\.ann, line 1: "):
        list(read(tmp_path, "brat"))


def test_utf_16_is_named_as_the_likely_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Dogs bark".encode("utf-16"))
    with pytest.raises(FormatError, match="--encoding utf-16"):
        list(read(tmp_path / "a.txt"))
    assert [doc.text for doc in read(tmp_path / "a.txt", encoding="utf-16")] == ["Dogs bark"]
    (tmp_path / "a.txt").write_bytes("Dogs bark".encode("utf-16")[:-1])
    with pytest.raises(FormatError):
        list(read(tmp_path / "a.txt", encoding="utf-16"))
    for name in ("zlib", "hex", "nonsense"):
        with pytest.raises(WeftError, match="there is no encoding"):
            list(read(tmp_path / "a.txt", encoding=name))


def test_escaped_surrogates_are_no_characters_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(ROW.replace("_\n", "SpacesAfter=\\uD800\n") + "\n")
    (doc,) = read(tmp_path / "a.conllu")
    assert doc.text.encode()


# Skipping


def test_skipping_a_sentence_with_newdoc_keeps_documents_apart(tmp_path: Path) -> None:
    bad = ROW.replace("\t0\t", "\t9\t")
    path = tmp_path / "a.conllu"
    path.write_text(f"# newdoc id = a\n{ROW}\n# newdoc id = b\n# newpar\n{bad}\n# sent_id = 2\n{ROW}\n")
    corpus = read(path, skip_bad=True)
    write(list(corpus), tmp_path / "b.conllu")
    again = list(read(tmp_path / "b.conllu"))
    assert [(doc.id, doc.comments) for doc in again] == [
        ("a", [("# newdoc id = a",)]),
        ("b", [("# newdoc id = b", "# newpar", "# sent_id = 2")]),
    ]


def test_a_missing_empty_line_before_newdoc_does_not_merge_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(f"# newdoc id = a\n{ROW}\n{ROW}# newdoc id = b\n{ROW}\n# sent_id = 2\n{ROW}\n")
    corpus = read(path, skip_bad=True)
    assert [(doc.id, doc.n_sentences) for doc in corpus] == [("a", 1), ("b", 1)]


def test_skipping_keeps_documents_of_other_formats_apart(tmp_path: Path) -> None:
    lex = ROW.rstrip() + "\t_" * 9 + "\n"
    bad = lex.replace("\t0\t", "\t9\t")
    (tmp_path / "a.conllulex").write_text(f"# newdoc id = a\n{lex}\n# newdoc id = b\n{bad}\n{lex}\n")
    assert [doc.id for doc in read(tmp_path / "a.conllulex", skip_bad=True)] == ["a", "b"]
    (tmp_path / "a.mrg").write_text("; a\n(S (X a))\n(S x x x)\n; b\n(S (X b))\n")
    assert [doc.id for doc in read(tmp_path / "a.mrg", skip_bad=True)] == ["a", "b"]


# Patterns

HOSTILE = 100_000
SECONDS = 2.0  # of CPU for all matches in one text: linear ones take milliseconds, quadratic ones half a minute


def literal_patterns() -> Iterator[tuple[str, str | bytes]]:
    """The patterns that calls of `re` name in the source, and where."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source if re.search(r"\bimport\b.*\bre\b", source) else "")):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and node.func.attr != "escape"
            ):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node.args[0].value


def compiled_patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns that modules of the package hold, in whatever containers."""
    for info in pkgutil.walk_packages([str(PACKAGE)], "weft."):
        if info.name.endswith("__main__") or not uses_re(info.name):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            yield from ((f"{info.name}.{name}", pattern) for pattern in patterns_in(value, info.name))


def uses_re(module: str) -> bool:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.exists() and "import re\n" in file.read_text(encoding="utf-8")


def patterns_in(value: Any, module: str, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for item in value.values():
            yield from patterns_in(item, module, depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from patterns_in(item, module, depth + 1)
    elif depth < 4 and isinstance(value, type) and value.__module__ == module:
        for item in list(vars(value).values()):
            if not isinstance(item, types.FunctionType):
                yield from patterns_in(item, module, depth + 1)


def hostile_texts(pattern: str | bytes) -> Iterator[str]:
    """Repeated characters and pairs of characters of the kinds that a pattern names, with an end that fits none."""
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    named = dict.fromkeys(letter for letter in re.sub(r"\\.", "", text) if letter not in "()[]{}|^$*+?")
    for letter in dict.fromkeys([*list(named)[:4], *"aA1語\n"]):
        yield letter * HOSTILE + "\x00"
    runs = re.findall(r"[\w<>/#=:]{2,}", re.sub(r"\\.", " ", text))[:2]
    for piece in (*runs, "aA", "\n#", "\n\r", "1.", "a+"):
        yield piece * (HOSTILE // len(piece)) + "\x00"


class Slow(Exception):
    """A search took too long."""


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="needs signals")
def test_every_pattern_is_linear_on_hostile_text() -> None:
    patterns: dict[tuple[str | bytes, int], str] = {}
    for place, text in literal_patterns():
        patterns.setdefault((text, 0), place)
    for place, compiled in compiled_patterns():
        patterns.setdefault((compiled.pattern, compiled.flags & ~re.UNICODE), place)
    assert len(patterns) > 50

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGVTALRM, stop)
    slow = []
    try:
        for (pattern, flags), place in patterns.items():
            matches = re.compile(pattern, flags).finditer
            for text in hostile_texts(pattern):
                signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
                try:
                    deque(matches(text if isinstance(pattern, str) else text.encode()), 0)  # type: ignore[arg-type]
                except Slow:
                    slow.append(f"{place}: {pattern!r} on {text[:2]!r}")
                    break
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not slow


def test_a_hundred_thousand_empty_lines_are_cut_into_shards_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text((ROW + "\n") * 40_000 + "\n" * 100_000 + f"# newdoc\n{ROW}\n" * 1000)
    code = (
        "import sys; from weft.scale.shards import find_cuts\n"
        "print(find_cuts(sys.argv[1], 'conllu', int(sys.argv[2]), 500_000))"
    )
    size = path.stat().st_size
    command = [sys.executable, "-c", code, str(path), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == str(find_cuts(str(path), "conllu", size, 500_000))


def test_marks_of_gene_names_stay_what_they_were() -> None:
    from weft.annotate.proposer import _TESTS

    old = {
        "capitals": re.compile(r"^[^a-z]*[A-Z][^a-z]*$"),
        "mixed": re.compile(r"[a-z].*[A-Z]|[A-Z].*[a-z].*[A-Z]"),
    }
    for word in (
        "IL-2",
        "p53",
        "NFkB",
        "kB",
        "Kb",
        "a\nB",
        "A\nb\nC",
        "",
        "-",
        "A\n",
        "aB\n",
        "ABC",
        "Abc",
        "1A2",
        "\naB",
    ):
        for name, pattern in old.items():
            assert bool(pattern.search(word)) == bool(_TESTS[name].search(word)), (name, word)


# Damaged files


def test_damaged_files_of_every_format_never_end_in_a_traceback() -> None:
    sys.path.append(str(ROOT / "bench"))
    inputs = importlib.import_module("fuzz.inputs")
    result = inputs.hostile_inputs(10 * len(inputs.KINDS), seed=7)
    assert not result["failures"]
    assert all(row["accepted"] + row["skipped"] + row["refused"] == 10 for row in result["rows"])
