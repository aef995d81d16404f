"""Damaged files of every format: what the readers accept must be valid, and what they refuse is refused in plain words.

`hostile_inputs(count, seed)` generates small documents, writes them in every format, damages the files and reads them
through the public door, once strictly and once skipping bad pieces. Damage is done to bytes (flipped, cut, repeated,
inserted), to lines and fields, and to the values of JSON and Parquet (numbers, nulls, nesting, names). Every accepted
document is checked (`weft.text.validity`), written as JSON Lines and read again, and tagged. Anything but a `WeftError`
is a failure, reported with the seed that makes the file again.

`python bench/fuzz/inputs.py --count 20000 --seed 1` works in processes of their own, so that a crash is a failure too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.errors import WeftError
from weft.formats import read, write
from weft.formats.bitext import read_bitext
from weft.formats.pharaoh import read_gold_links
from weft.formats.phonemes import read_utterances
from weft.formats.reviews import Review, read_reviews, write_labelled
from weft.formats.vectors import read_vectors
from weft.recipes.extraction.thyme_clinical_time.notes import notes
from weft.text.conventions.expressions import Expressions, set_expressions
from weft.text.conventions.hedges import Hedge, set_hedges
from weft.text.doc import Doc, EmptyNode, Multiword
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer
from weft.text.validity import check_doc

Random = random.Random
WORDS = ("the", "a", "dog", "cat", "Ada", "Köln", "東京", "e\u0301", "don't", "U.S.", "3.14", "(", ")", '"', "&", "<",
         ";", "|", "=", "_", "-LRB-", "𝔘", "http://a.b/c")  # fmt: skip
NUMBERS = ("-1", "0", "1", "7", "99", "2147483647", "2147483648", "-2147483649", "9" * 30, "1e309", "NaN", "1.5", "²",
           "٣", "", "1_0", "0x1", "+1", "9" * 5000)  # fmt: skip
SNIPPETS = (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\r\n", b"\r", b"\n\n", b"\n\n\n", b"\t", b"\t\t", b"#",
            b"# newdoc\n", b"_", b"(", b")", b"{", b"[", b'"', b"\\ud800", b"\xef\xbb\xbf", b"\x1f\x8b", b"&x;",
            b"<cue>", b"|||", b"\xe2\x80\xa8", b"\x85", b"-DOCSTART- O\n", b"1.1" + b"\t_" * 9 + b"\n",
            b"1-2\ta" + b"\t_" * 8 + b"\n",
            b"SpacesAfter=\\uD800", b"SpacesBefore=\\n", b"[" * 3000, b"<xcope id='X'>" * 200)  # fmt: skip
VALUES: tuple[Any, ...] = (None, True, -1, 0, 1, 2**31 - 1, 2**31, -(2**63), 10**40, 1.5, float("nan"), 1e308, "", "x",
                           "1", [], {}, [[]], [None], [1, 2], [["a"]], {"a": {}}, "\ud800")  # fmt: skip


def a_document(random: Random) -> Doc:
    """A small document with all layers."""
    sizes = [random.randint(1, 6) for _ in range(random.randint(1, 4))]
    forms = [[random.choice(WORDS) for _ in range(size)] for size in sizes]
    doc = Doc.from_words(
        forms,
        [[random.random() < 0.8 for _ in range(size)] for size in sizes],
        upos=[[random.choice(("NOUN", "VERB", "X")) for _ in range(size)] for size in sizes],
        xpos=[[random.choice(("NN", "VB", "FW")) for _ in range(size)] for size in sizes],
        lemma=[[form.lower() for form in row] for row in forms],
        head=[[0, *(random.randint(1, word) for word in range(1, size))] for size in sizes],
        deprel=[["root", *["dep"] * (size - 1)] for size in sizes],
    )
    doc.meta["id"] = f"d{random.randint(0, 9)}"
    doc.comments = [(f"# sent_id = s{number}",) for number in range(len(sizes))]
    doc.comments[0] = (f"# newdoc id = {doc.id}", *doc.comments[0])
    return doc


def _with_layers(random: Random, doc: Doc) -> Doc:
    """The document with spans, relations, clusters, a graph, confidences and a multiword token."""
    n_words = doc.n_words
    spans = doc.spans["entities"] = SpanLayer(doc.strings)
    for _ in range(random.randint(1, 3)):
        start = random.randrange(n_words)
        spans.add([(start, random.randint(start + 1, n_words))], "PER", f"T{len(spans) + 1}", sure=True)
    doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    doc.relations["relations"].add(0, len(spans) - 1, "Met")
    doc.clusters["coref"] = ClusterLayer("entities", [0] * len(spans))
    graph = doc.graphs["events"] = GraphLayer(doc.strings, "entities")
    graph.edge(graph.node("Meet", 0), graph.node("PER", len(spans) - 1), "Theme")
    doc.confidence["upos"] = np.full(n_words, 0.5, dtype=np.float32)
    doc.empty_nodes = [EmptyNode(0, 1, 1, ("x", *[""] * 8))]
    if doc.sentence_offsets[1] > 1:
        doc.multiwords = [Multiword(0, 2, (doc.text[: int(doc.token_end[1])], *[""] * 8))]
        doc.word_token = np.concatenate([[0], np.arange(n_words - 1)]).astype(np.int32)
        doc.token_start = np.delete(doc.token_start, 1)
        doc.token_end = np.delete(doc.token_end, 0)
    return doc


def _brat(random: Random, folder: Path) -> Path:
    doc = a_document(random)
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (0, doc.n_words, "ORG")])
    doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    doc.relations["relations"].add(0, 1, "In")
    graph = doc.graphs["events"] = GraphLayer(doc.strings, "entities")
    graph.edge(graph.node("Meet", 0, "E1"), graph.node("ORG", 1), "Theme")
    doc.meta["id"] = "a"
    write([doc], folder / "brat", "brat")
    with (folder / "brat" / "a.ann").open("a") as file:
        file.write("A1\tNegation E1\n#1\tNote T1\tsee\nN1\tReference T1 DB:1\tx\n*\tEquiv T1 T2\n")
    return folder / "brat" / random.choice(["a.ann", "a.ann", "a.txt"])


def _of_docs(name: str, layers: bool = False, **options: Any) -> Callable[[Random, Path], Path]:
    def make(random: Random, folder: Path) -> Path:
        docs = [a_document(random) for _ in range(random.randint(1, 3))]
        if layers:
            docs = [_with_layers(random, doc) for doc in docs]
        if ".iob2" in name:
            for doc in docs:
                doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
        if ".xml" in name:
            for doc in docs:
                set_hedges(doc, [[Hedge((0,), (0, len(sentence)))] for sentence in doc.sentences])
        if ".tags" in name:
            for doc in docs:
                set_expressions(doc, [Expressions.of(strong=[(0, 1)] if len(s) > 1 else []) for s in doc.sentences])
        write(docs, folder / name, **options)
        return folder / name

    return make


def _tasks(random: Random, folder: Path) -> Path:
    """Tasks of annotators and of models in one line, as Label Studio exports them."""
    path = _of_docs("a.label-studio.json", layers=True)(random, folder)
    tasks = json.loads(path.read_text())
    for task in tasks[::2]:
        task["annotations"] = [{**answer, "completed_by": 1, "lead_time": 2.5} for answer in task.pop("predictions")]
        task["annotations"][0]["result"].append({"type": "choices", "from_name": "tone", "value": {"choices": ["a"]}})
    path.write_text(json.dumps(tasks))
    return path


def _lex(random: Random, folder: Path) -> Path:
    path = _of_docs("a.conllu")(random, folder)
    lines = [f"{line}\t1:1" + "\t_" * 8 if "\t" in line else line for line in path.read_text().split("\n")]
    (folder / "a.conllulex").write_text("\n".join(lines))
    return folder / "a.conllulex"


def _reviews(suffix: str) -> Callable[[Random, Path], Path]:
    def make(random: Random, folder: Path) -> Path:
        path = folder / f"a.{suffix}"
        texts = [" ".join(random.choices(WORDS[:6], k=4)) for _ in range(3)]
        if suffix == "txt":
            write_labelled([Review(" ".join(texts), 4, sentences=tuple(texts), labels=("pos", "neg", "neu"))], path)
        elif suffix == "jsonl":
            rows = [{"text": text, "rating": 4, "sentences": [{"text": text, "label": "pos"}]} for text in texts]
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            mark = "," if suffix == "csv" else "\t"
            path.write_text("".join(f"{mark.join(row)}\n" for row in [("text", "rating"), *((t, "4") for t in texts)]))
        return path

    return make


def _lines(name: str, *lines: str) -> Callable[[Random, Path], Path]:
    def make(random: Random, folder: Path) -> Path:
        chosen = random.choices(lines, k=4)
        (folder / name).write_text("".join(f"{line}\n" for line in chosen))
        return folder / name

    return make


def _timeline(name: str) -> Callable[[Random, Path], Path]:
    """A generated note with events, times and links."""

    def make(random: Random, folder: Path) -> Path:
        write(notes(1, random.randrange(1000)), folder / name)
        return folder / name

    return make


#: Every format: how a valid file is made, and how it is read (None: `weft.formats.read`).
KINDS: dict[str, tuple[Callable[[Random, Path], Path], Callable[[Path], Any] | None]] = {
    "conllu": (_of_docs("a.conllu", layers=True), None),
    "columns": (_of_docs("a.iob2"), None),
    "columns, spaces": (_of_docs("a.col", fields="form xpos"), None),
    "jsonl": (_of_docs("a.jsonl", layers=True), None),
    "parquet": (_of_docs("a.parquet", layers=True), None),
    "brat": (_brat, None),
    "streusle": (_of_docs("a.tags"), None),
    "conllulex": (_lex, None),
    "bioscope": (_of_docs("a.xml"), None),
    "wsd": (_of_docs("a.data.xml"), None),
    "links": (_of_docs("a.links.jsonl"), None),
    "nif": (_of_docs("a.ttl"), None),
    "label-studio, as jsonl": (_tasks, None),
    "doccano, jsonl": (_of_docs("a.doccano.jsonl", layers=True), None),
    "prodigy, jsonl": (_of_docs("a.prodigy.jsonl", layers=True), None),
    "anafora": (_timeline("a.anafora.xml"), None),
    "xmi": (_timeline("a.xmi"), None),
    "penn": (_of_docs("a.mrg"), None),
    "mst": (_of_docs("a.mst"), None),
    "plain": (_of_docs("a.txt"), None),
    "pharaoh": (_lines("a.links", "0-0 1-2:0.5", "", "1p1 2?0"), read_gold_links),
    "bitext": (_lines("both", "the house ||| das Haus", "a ||| b"), lambda path: list(read_bitext(path))),
    "vectors": (_lines("vectors.txt", "dog 1 0 0", "cat 0 1 0.5"), read_vectors),
    "phonemes": (_lines("sounds.txt", "D AO1 G , K AE1 T", "AH0 , B"), read_utterances),
    **{
        f"reviews, {suffix}": (_reviews(suffix), lambda path: [review.doc() for review in read_reviews(path)])
        for suffix in ("tsv", "csv", "jsonl", "txt")
    },
}


def damage_bytes(random: Random, data: bytes) -> bytes:
    """Flip, cut, repeat or insert."""
    if not data:
        return random.choice(SNIPPETS)
    start = random.randrange(len(data))
    end = min(len(data), start + random.randint(1, 30))
    kind = random.randrange(6)
    if kind == 0:
        return data[:start] + bytes([data[start] ^ (1 << random.randrange(8))]) + data[start + 1 :]
    if kind == 1:
        return data[:start]
    if kind == 2:
        return data[:start] + data[end:]
    if kind == 3:
        return data[:end] + data[start:end] * random.randint(1, 3) + data[end:]
    if kind == 4:
        return data[:start] + random.choice(SNIPPETS) + data[start:]
    return data[:start] + bytes(random.choices(range(256), k=random.randint(1, 5))) + data[end:]


def damage_lines(random: Random, data: bytes) -> bytes:
    """Drop, repeat or move lines; drop, repeat, empty or exchange fields; change numbers."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    kind = random.randrange(5)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(random.randrange(len(lines) + 1), lines[place])
    elif kind == 2:
        other = random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 3:
        mark = b"\t" if b"\t" in lines[place] else b" "
        fields = lines[place].split(mark)
        field = random.randrange(len(fields))
        change = random.randrange(4)
        if change == 0:
            del fields[field]
        elif change == 1:
            fields.insert(field, fields[field])
        elif change == 2:
            fields[field] = random.choice([b"", b"_", random.choice(NUMBERS).encode(), random.choice(SNIPPETS)])
        else:
            other = random.randrange(len(fields))
            fields[field], fields[other] = fields[other], fields[field]
        lines[place] = mark.join(fields)
    else:
        numbers = list(re.finditer(rb"\d+", data))
        if numbers:
            match = random.choice(numbers)
            return data[: match.start()] + random.choice(NUMBERS).encode() + data[match.end() :]
    return b"\n".join(lines)


def damage_json(random: Random, data: bytes) -> bytes:
    """Replace, drop, repeat or rename a value at any depth of a line of JSON."""
    lines = data.decode().splitlines()
    place = random.randrange(len(lines))
    values = json.loads(lines[place])
    lines[place] = json.dumps(_damaged_value(random, values), ensure_ascii=random.random() < 0.5)
    return "\n".join(lines).encode(errors="surrogatepass")


def _damaged_value(random: Random, value: Any) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice(list(value))
        kind = random.randrange(10)
        if kind == 0:
            return {name: item for name, item in value.items() if name != key}
        if kind == 1:
            return {**value, random.choice(["text", "tokens", "words", "", "head", key.upper()]): value[key]}
        return {**value, key: _damaged_value(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        kind = random.randrange(10)
        if kind == 0:
            return value[:place] + value[place + 1 :]
        if kind == 1:
            return [*value[: place + 1], *value[place:]]
        if kind == 2:
            return value[::-1]
        return [*value[:place], _damaged_value(random, value[place]), *value[place + 1 :]]
    if isinstance(value, int) and random.random() < 0.5:
        return value + random.choice([-1, 1, 2, 100])
    if random.random() < 0.03:
        return _nested(random.choice([60, 400]))
    return random.choice(VALUES)


def _nested(depth: int) -> Any:
    deep: Any = []
    for _ in range(depth):
        deep = [deep]
    return deep


def damage_parquet(random: Random, path: Path) -> None:
    """Change values, lengths, nulls, kinds or names of columns."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    name = random.choice(table.column_names)
    values = table[name].to_pylist()
    row = random.randrange(len(values))
    kind = random.randrange(8)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        table = table.rename_columns(
            [random.choice([name, "x", "text"]) if n == name else n for n in table.column_names]
        )
    elif kind == 2:
        values[row] = None
        table = _with_column(pyarrow, table, name, values, table.schema.field(name).type)
    elif kind == 3:
        item = random.choice([1.5, "x", [1.5], [2**40], [["a"]], b"\xff"])
        wrong = pyarrow.array([item] * len(values))
        table = table.set_column(table.column_names.index(name), name, wrong)
    elif name == "rest" and values[row]:
        values[row] = damage_json(random, values[row].encode()).decode(errors="replace")
        table = _with_column(pyarrow, table, name, values, pyarrow.string())
    elif isinstance(values[row], list) and values[row]:
        items = values[row]
        place = random.randrange(len(items))
        fresh: Any = random.choice([None, -1, 0, 1, 5, 2**31 - 1, -(2**31)])
        if isinstance(items[0], str):
            fresh = random.choice([None, "", "x"])
        change = random.randrange(4)
        values[row] = (
            items[:place] if change == 0 else items[:place] + items[place + 1 :] if change == 1
            else [*items, fresh] if change == 2 else [*items[:place], fresh, *items[place + 1 :]]
        )  # fmt: skip
        table = _with_column(pyarrow, table, name, values, table.schema.field(name).type)
    elif isinstance(values[row], str):
        values[row] = values[row][: random.randrange(len(values[row]) + 1)]
        table = _with_column(pyarrow, table, name, values, pyarrow.string())
    pyarrow.parquet.write_table(table, path)


def _with_column(pyarrow: Any, table: Any, name: str, values: list[Any], kind: Any) -> Any:
    if pyarrow.types.is_list(kind) and pyarrow.types.is_dictionary(kind.value_type):
        kind = pyarrow.list_(pyarrow.string())
    return table.set_column(table.column_names.index(name), name, pyarrow.array(values, kind))


def damage(random: Random, kind: str, path: Path) -> Path:
    """Damage a file once to three times; text files may get gzipped and that damaged too."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if kind == "parquet" and random.random() < 0.7:
            try:
                damage_parquet(random, path)
            except Exception:  # damaged before, and not to be read any more
                return path
            continue
        data = path.read_bytes()
        changed: bytes | None = None
        if "jsonl" in kind and random.random() < 0.6:
            try:
                changed = damage_json(random, data)
            except (ValueError, IndexError, RecursionError):
                changed = None
        if changed is None:
            changed = damage_lines(random, data) if random.random() < 0.5 else damage_bytes(random, data)
        path.write_bytes(changed)
    if kind not in ("parquet", "brat", "bitext", "pharaoh") and random.random() < 0.1:
        packed = gzip.compress(path.read_bytes(), mtime=0)
        path.unlink()
        path = path.with_name(f"{path.name}.gz")
        path.write_bytes(damage_bytes(random, packed) if random.random() < 0.5 else packed)
    return path


def attempt(kind: str, seed: int, tagger: Any) -> str:
    """Make, damage and read one file; `refused`, `accepted` or `skipped`. Failures raise."""
    source = Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as name:
        make, reader = KINDS[kind]
        path = damage(source, kind, make(source, Path(name)))
        if reader is not None:
            try:
                result = reader(path)
            except WeftError:
                return "refused"
            if isinstance(result, list) and result and isinstance(result[0], Doc):
                _use(result, Path(name), tagger)
            return "accepted"
        outcome = "accepted"
        try:
            docs = list(read(path.parent if kind == "brat" else path))
        except WeftError:
            outcome = "refused"
            corpus = read(path.parent if kind == "brat" else path, skip_bad=True)
            try:
                docs = list(corpus)
            except WeftError:  # nothing in the file is good
                return outcome
            outcome = "skipped"
            if corpus.report is None or not corpus.report.count:
                raise AssertionError("what is refused is not counted when it is skipped") from None
        _use(docs, Path(name), tagger)
        return outcome


def _use(docs: list[Doc], folder: Path, tagger: Any) -> None:
    """Check documents, write and read them again, and tag them."""
    for doc in docs:
        check_doc(doc, strict=False)
    write(docs, folder / "again.jsonl")
    for doc, again in zip(docs, read(folder / "again.jsonl") if docs else (), strict=True):
        if not doc.same(again):
            raise AssertionError("JSON Lines lose something")
    for suffix in ("conllu", "parquet"):
        try:
            write(docs, folder / f"again.{suffix}")
        except WeftError:
            continue
        if docs and any(doc.n_words for doc in docs):
            list(read(folder / f"again.{suffix}", **({"check_trees": False} if suffix == "conllu" else {})))
    if tagger is not None:
        list(tagger.pipe(docs))


def hostile_inputs(count: int, seed: int = 1, tagger: Any = None) -> dict[str, Any]:
    """Make and read `count` damaged files, the formats in turn; the outcomes by format, and the failures."""
    kinds = list(KINDS)
    outcomes: Counter[tuple[str, str]] = Counter()
    failures: list[dict[str, Any]] = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        try:
            outcomes[kind, attempt(kind, seed + number, tagger)] += 1
        except Exception as error:
            outcomes[kind, "failed"] += 1
            trace = "".join(traceback.format_exception(error)[-3:])
            failures.append({"kind": kind, "seed": seed + number, "error": repr(error)[:300], "trace": trace[-1500:]})
    rows = [
        {"format": kind, **{name: outcomes[kind, name] for name in ("accepted", "skipped", "refused", "failed")}}
        for kind in kinds
    ]
    return {"attempts": count, "seed": seed, "rows": rows, "failures": failures}


def a_tagger(folder: Path) -> Any:
    """A small tagger for accepted documents."""
    from weft.pipeline.registry import train

    examples = Path(__file__).resolve().parents[2] / "examples" / "story.conllu"
    train("tagger", weft.read(examples), None, folder / "tagger.weft", {})
    return weft.load(folder / "tagger.weft")


def in_processes(count: int, seed: int, chunk: int = 2000) -> dict[str, Any]:
    """The same in processes of their own; one that crashes is a failure."""
    total: dict[str, Any] = {"attempts": 0, "seed": seed, "rows": [], "failures": []}
    sums: dict[str, Counter[str]] = {}
    for start in range(0, count, chunk):
        size = min(chunk, count - start)
        command = [sys.executable, __file__, "--count", str(size), "--seed", str(seed + start), "--inside"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        total["attempts"] += size
        if done.returncode not in (0, 1) or not done.stdout.strip():
            error = f"exit code {done.returncode}: {done.stderr[-300:]}"
            total["failures"].append({"kind": "process", "seed": seed + start, "error": error})
            continue
        part = json.loads(done.stdout.strip().split("\n")[-1])
        total["failures"] += part["failures"]
        for row in part["rows"]:
            name = row.pop("format")
            sums.setdefault(name, Counter()).update(row)
    total["rows"] = [{"format": name, **counts} for name, counts in sums.items()]
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help="work in this process and print JSON")
    options = parser.parse_args()
    if options.inside:
        with tempfile.TemporaryDirectory() as folder:
            result = hostile_inputs(options.count, options.seed, a_tagger(Path(folder)))
        print(json.dumps(result))
    else:
        result = in_processes(options.count, options.seed)
        for row in result["rows"]:
            print(row)
        print(f"{result['attempts']:,} files, {len(result['failures'])} failures")
        for failure in result["failures"][:20]:
            print(f"{failure['kind']}, seed {failure['seed']}: {failure['error']}")
    sys.exit(bool(result["failures"]))


if __name__ == "__main__":
    main()
