"""brat stand-off: `NAME.txt` contains the text, `NAME.ann` lines that refer to it by character offsets.

| line | becomes |
|---|---|
| `T1⇥Type 0 5;8 12⇥text` | a span, possibly with gaps, in the layer `entities` (including event triggers) |
| `R1⇥Type Arg1:T1 Arg2:T2` | a relation in the layer `relations` |
| `E1⇥Type:T3 Role:T1 Role:E2` | a node in the graph `events`, anchored to its trigger, with one edge per role |
| `A1⇥Name T1 value`, `M1 ...` | an attribute of a span, relation or event |
| `N1⇥Reference T1 DB:7⇥text` | an item in the attribute `normalizations` |
| `#1⇥Type T1⇥note` | an item in the attribute `notes` |
| `*⇥Equiv T1 T2` | a group in the cluster layer `equivalences` |

Span layers other than `entities`, spans counted in words and dependency trees (words as T lines, arcs as R lines) are
such lines too, with a note of the type `Weft` that says what they are (`weft.formats.brat.words`), and come back so.
Relations between events go to the graph `event_relations`. T, R and E lines keep their names and are written in the
order of those names; A, N and # lines follow what they refer to and are renumbered.
Files `.a1` and `.a2` (BioNLP shared tasks) are read in place of `.ann`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from weft.errors import DataError, FormatError, WeftError
from weft.formats.brat.parser import SPANS as SPANS
from weft.formats.brat.parser import Parser
from weft.formats.brat.writer import Writer
from weft.formats.gate import admitted
from weft.formats.streams import Faults, open_output, read_text, writing_error
from weft.text.doc import Doc
from weft.text.strings import StringTable

_SUFFIXES = (".ann", ".a1", ".a2")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a folder of `.txt` and `.ann` files, or in one such pair named by either file."""
    faults = faults or Faults()
    strings = StringTable()
    for text_file in _text_files(Path(path)):
        try:
            text = read_text(str(text_file), encoding)
            stem = _stem(text_file)
            files = [partner for suffix in _SUFFIXES for partner in _partners(stem, suffix)]
            if not files:
                raise FormatError(str(text_file), None, f"annotation in {stem.name}.ann", "no such file")
            parts = [(str(file), _annotation(str(file), encoding)) for file in files]
            doc = parse(text, parts, _name(stem, path), strings)
        except FormatError as error:
            faults.meet(error)
            continue
        yield from admitted(str(files[0]), [(None, doc)], faults)


def parse(text: str, parts: Iterable[tuple[str, str]], name: str = "", strings: StringTable | None = None) -> Doc:
    """Parse a document from its text and its annotation, given as pairs (file name, content).

    >>> lines = ["T1\\tPER 0 3\\tAda", "T2\\tPER 8 11\\tBob", "R1\\tMet Arg1:T1 Arg2:T2"]
    >>> doc = parse("Ada met Bob.", [("a.ann", "\\n".join(lines))])
    >>> doc.span_views("entities"), list(doc.relations["relations"])
    ([Span('Ada', 'PER'), Span('Bob', 'PER')], [(0, 1, 'Met')])
    """
    doc = Doc(text, strings, {"id": name} if name else None)
    return Parser(doc).run(list(parts))


def write(docs: Iterable[Doc], path: str) -> int:
    """Write each document as `ID.txt` and `ID.ann` into a folder and return their number.

    All span layers go into one file, words and arcs too if there are trees.
    """
    folder = Path(path)
    if folder.suffix == ".ann" or (folder.exists() and not folder.is_dir()):
        raise DataError(f"brat is written to a folder, but {path} is not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise writing_error(path, error) from error
    count = 0
    used: set[str] = set()
    for doc in docs:
        count += 1
        name = _file_name(doc, count)
        if name in used:
            raise WeftError(f"two documents are called {name!r}, and brat has one file for each; name them differently")
        used.add(name)
        annotation = to_text(doc)
        with open_output(str(folder / f"{name}.txt")) as file:
            file.write(doc.text.encode())
        with open_output(str(folder / f"{name}.ann")) as file:
            file.write(annotation.encode())
    return count


def _file_name(doc: Doc, number: int) -> str:
    """The name of a document's files inside the folder; names that would lead out of it lose what does."""
    parts = [part for part in doc.id.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    name = "/".join(parts) or f"doc{number:05d}"
    return f"{name}.{doc.meta['part']}" if "part" in doc.meta else name


def to_text(doc: Doc) -> str:
    """The annotation of a document as lines of an `.ann` file.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc("Ada met Bob.")
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    >>> to_text(doc)
    'T1\\tPER 0 3\\tAda\\n'
    """
    return Writer(doc).run()


def _name(stem: Path, given: str) -> str:
    """The name of a document: its path in the folder that was given."""
    return stem.relative_to(given).as_posix() if Path(given).is_dir() else stem.name


def _stem(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(".gz").removesuffix(".txt"))


def _partners(stem: Path, suffix: str) -> list[Path]:
    names = (stem.with_name(stem.name + suffix + end) for end in ("", ".gz"))
    return [name for name in names if name.exists()][:1]


def _text_files(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*.txt*")) if file.name.removesuffix(".gz").endswith(".txt")]
        files = [file for file in files if any(_partners(_stem(file), suffix) for suffix in _SUFFIXES)]
        if not files:
            raise DataError(f"{path} contains no .txt file with an .ann file next to it")
        return files
    for suffix in _SUFFIXES:
        name = path.name.removesuffix(".gz")
        if name.endswith(suffix):
            partners = _partners(path.with_name(name.removesuffix(suffix)), ".txt")
            if not partners:
                raise DataError(f"{path} has no text next to it: expected {name.removesuffix(suffix)}.txt")
            return partners
    return [path]


def _annotation(path: str, encoding: str) -> str:
    """The text of an annotation file, which may be empty."""
    if Path(path).stat().st_size == 0:
        return ""
    return read_text(path, encoding)
