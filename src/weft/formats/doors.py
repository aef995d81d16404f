"""The entry points to all formats: `read(paths) -> Corpus` and `write(docs, path)`; the suffix selects the format.

| format | suffixes | content |
|---|---|---|
| conllu | .conllu | words, trees, comments; no spans |
| columns | .conll .iob .iob1 .iob2 .bio .tsv .col | words, columns, flat spans as labels |
| streusle | .conllulex .tags | words, multiword expressions with gaps |
| anafora | .completed.xml .anafora.xml | events, times and their links, beside their text |
| xmi | .xmi | text, words and spans with links, of UIMA and WebAnno |
| bioscope | .xml | sentences, cues and their scopes |
| penn | .mrg .ptb .brackets | words, tags, phrase-structure trees |
| mst | .mst | words, tags, dependency trees |
| roles | .conll08 .conll09 .propbank .up | words, trees, predicates with senses and arguments |
| penman | .amr .penman | words, Abstract Meaning Representations with their alignments |
| coref | .coref .conll12 .v4_gold_conll .v4_auto_conll .gold_conll .auto_conll | words, tags, speakers, entities \
with their mentions; LitBank and OntoGUM are read too, even as .conll |
| times | .times.tsv .times | time phrases with their types, values and reference times |
| timeml | .tml | text, time expressions, events |
| conversations | .chat.tsv .chat.csv utterances.jsonl | lines of chat with their speakers, threads and labels |
| events | .events.jsonl | text, mentions, events with arguments |
| label-studio | .label-studio.json | text, spans, relations, labels of documents; several annotators |
| doccano | .doccano.jsonl | text, entities, relations, labels of documents |
| prodigy | .prodigy.jsonl | text, words, entities, relations, labels of documents, answers |
| brat | .ann next to .txt, in a folder | text, spans, relations, events |
| records | .records.jsonl | text, words, trees, spans in characters: easy to use elsewhere |
| jsonl | .jsonl .ndjson | everything |
| parquet | .parquet | everything |
| csv | .csv, with `text_column` also .tsv | one text per row |
| plain | .txt .text .md | text |

All but Parquet may be gzipped. `-` is standard input or output.
"""

from __future__ import annotations

import glob
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from weft.errors import ConfigError, DataError, FormatError, WeftError, did_you_mean, did_you_mean_file
from weft.formats.losses import lost_layers
from weft.formats.markup import strip_html as without_tags
from weft.formats.streams import STANDARD, Faults, FilePart, raw_blocks
from weft.text.conventions.misc_frames import misc_of_frames
from weft.text.corpus import Corpus
from weft.text.doc import Doc
from weft.text.frames import LAYER as FRAMES
from weft.text.report import Report

#: Formats and their suffixes.
FORMATS: dict[str, tuple[str, ...]] = {
    "conllu": (".conllu",),
    "times": (".times.tsv", ".times"),  # before columns, whose suffix it ends in
    "timeml": (".tml",),
    "conversations": (".chat.tsv", ".chat.csv", "utterances.jsonl"),  # before columns, csv and jsonl
    "columns": (".conll", ".iob", ".iob1", ".iob2", ".bio", ".tsv", ".col"),
    "brat": (".ann",),
    "streusle": (".conllulex", ".tags"),
    "anafora": (".completed.xml", ".inprogress.xml", ".preannotation.xml", ".anafora.xml"),  # before any other .xml
    "wsd": (".data.xml",),  # before any other .xml
    "xmi": (".xmi",),
    "bioscope": (".xml",),
    "penn": (".mrg", ".ptb", ".brackets"),
    "mst": (".mst",),
    "roles": (".conll08", ".conll09", ".propbank", ".up"),
    "penman": (".amr", ".penman"),
    "coref": (".coref", ".conll12", ".v4_gold_conll", ".v4_auto_conll", ".gold_conll", ".auto_conll"),
    "events": (".events.jsonl",),  # before jsonl, whose suffix it ends in
    "tuples": (".tuples.jsonl",),  # before jsonl, whose suffix it ends in
    "opinions": (".opinions.jsonl",),  # before jsonl, whose suffix it ends in
    "nif": (".ttl", ".nif"),
    "links": (".benchmark.jsonl", ".links.jsonl"),  # before jsonl, whose suffix they end in
    "label-studio": (".label-studio.json",),
    "doccano": (".doccano.jsonl",),  # before jsonl, whose suffix it ends in
    "prodigy": (".prodigy.jsonl",),  # before jsonl, whose suffix it ends in
    "records": (".records.jsonl",),  # before jsonl, whose suffix it ends in
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet",),
    "csv": (".csv",),
    "plain": (".txt", ".text", ".md"),
}

#: Formats that do not mark where documents begin, so that one without words leaves nothing but a blank line.
UNMARKED = ("columns", "streusle", "mst", "penman")
#: Suffixes of notes and tables that often stand beside data: they do not decide what a folder holds.
BESIDE = (".md", ".csv")
PathLike = str | os.PathLike[str]


def detect(path: PathLike) -> str:
    """The format of a file, by its suffix, or of a folder, by its files.

    >>> detect("train.conllu.gz"), detect("notes.txt")
    ('conllu', 'plain')
    >>> detect("train.foo")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: cannot tell the format of train.foo by its suffix; name it, by --from or --to, ...
    """
    target = Path(path)
    if target.is_dir():
        files = _files_in(target)
        data = [name for name in files if not name.removesuffix(".gz").endswith(BESIDE)]
        detected = {detect(name) for name in data or files}
        if "brat" in detected:
            return "brat"
        if detected == {"anafora", "plain"}:  # the texts stand beside their annotation
            return "anafora"
        if len(detected) == 1:
            return detected.pop()
        held = f"files of several formats ({', '.join(sorted(detected))})" if detected else "no file in a known format"
        raise DataError(f"{path} contains {held}; name the format or the files: {', '.join(FORMATS)}")
    name = target.name.removesuffix(".gz")
    for format_name, suffixes in FORMATS.items():
        if name.endswith(suffixes):
            return format_name
    kind = (
        "standard input and output have no suffix"
        if name == STANDARD
        else f"cannot tell the format of {path} by its suffix"
    )
    known = [suffix.removeprefix(".") for own in FORMATS.values() for suffix in own]
    near = did_you_mean(target.suffix.removeprefix("."), known, "") if target.suffix else ""
    raise DataError(
        f"{kind}; {near + ' Or ' if near else ''}name it, by --from or --to, in Python by format=: {', '.join(FORMATS)}"
    )


def read(
    paths: PathLike | Iterable[PathLike],
    format: str | None = None,
    *,
    skip_bad: bool = False,
    report: Report | None = None,
    strip_html: bool = False,
    **options: Any,
) -> Corpus:
    """The documents in a file, several files, a folder or a glob, as a corpus that rereads them on each pass.

    Bad sentences and documents raise `FormatError`; with `skip_bad` they are skipped and counted in `corpus.report`.
    `strip_html` removes HTML tags from raw text. Other options depend on the format: `fields=` and `scheme=` for
    columns, `check_trees=` for CoNLL-U, `traces=` and `blanks=` for bracketed trees, `text_column=` for CSV and JSON
    Lines, `encoding=` for all text formats; files of formats without an option ignore it if others have it.

    A document that its file gives no name is called by its path, relative to the folder given and without the suffix.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = write([Doc.from_words([["Dogs", "bark"]])], f"{folder}/pets.conllu")
    ...     [doc.text for doc in read(f"{folder}/*.conllu")]
    ['Dogs bark']
    """
    files = named_files(paths, format)
    kinds = [kind_of(name, format, options.get("text_column")) for name in files]
    options_of = _options_by_kind(dict.fromkeys(kinds), options)
    faults = Faults(skip_bad, report)

    def stream() -> Iterator[Doc]:
        faults.report.clear()
        for name, kind in zip(files, kinds, strict=True):
            any_document = False
            for doc in _module(kind).read(name, faults, **options_of[kind]):
                any_document = True
                if strip_html and not doc.n_words and not doc.spans:
                    doc.text = without_tags(doc.text)
                yield doc
            if not any_document and not faults.report.count:
                start = b"" if name == STANDARD or os.path.isdir(name) else next(raw_blocks(str(name)), b"")
                if kind in UNMARKED and start.isspace():
                    yield Doc("", meta={"id": name.name})
                    continue
                found = "none" if start else "an empty file"
                faults.meet(FormatError(name, None, "at least one document", found))

    return Corpus(stream, faults.report)


def named_files(paths: PathLike | Iterable[PathLike], format: str | None = None) -> list[FilePart]:
    """The files that paths refer to, as `expand` lists them, with the names of their documents."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = expand(given, format)
    base = shared_folder(given)
    parts: list[FilePart] = []
    for file in files:
        part = file if isinstance(file, FilePart) else FilePart(file)
        part.name = part.name or ("" if file == STANDARD else relative_name(file, base))
        parts.append(part)
    return parts


def kind_of(path: PathLike, format: str | None = None, text_column: str | None = None) -> str:
    """The format of a file, as named or by its suffix; a table of tabs that has a text column holds documents.

    >>> kind_of("mails.tsv"), kind_of("mails.tsv", text_column="body")
    ('columns', 'csv')
    """
    kind = check_format(format) if format else detect(path)
    table = kind == "columns" and text_column is not None and os.fspath(path).removesuffix(".gz").endswith(".tsv")
    return "csv" if table else kind


def relative_name(path: PathLike, folder: PathLike) -> str:
    """What a document is called: its path in a folder, without the suffix, with `/` between the parts.

    >>> relative_name("mail/a/x.txt.gz", "mail")
    'a/x'
    """
    return Path(without_suffix(os.path.relpath(os.path.abspath(path), os.path.abspath(folder)))).as_posix()


def without_suffix(name: str) -> str:
    """A file name without the suffix of its format."""
    name = name.removesuffix(".gz")
    for suffixes in FORMATS.values():
        for suffix in suffixes:
            if name.endswith(suffix):
                return name.removesuffix(suffix)
    return name


def shared_folder(paths: Iterable[PathLike]) -> str:
    """The folder that contains all inputs: a given folder, or that of a file."""
    folders = []
    for path in (os.fspath(path) for path in paths if os.fspath(path) != STANDARD):
        if os.path.isdir(path):
            folders.append(os.path.abspath(path))
        else:
            fixed = Path(os.path.abspath(path))
            while any(letter in str(fixed) for letter in "*?[") and not fixed.exists():
                fixed = fixed.parent
            folders.append(str(fixed if fixed.is_dir() else fixed.parent))
    return os.path.commonpath(folders) if folders else os.curdir


def unread_files(paths: Iterable[PathLike]) -> list[str]:
    """The files in given folders that are not read, because of their suffix; hidden ones do not count.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = [Path(folder, name).touch() for name in ("a.txt", "photo.jpg", ".cache", "_weft.manifest")]
    ...     [Path(name).name for name in unread_files([folder])]
    ['photo.jpg']
    """
    unread: list[str] = []
    for folder in (os.fspath(path) for path in paths if os.path.isdir(path)):
        read = set(expand(folder))
        unread += [str(path) for path in _visible(Path(folder)) if folder not in read and str(path) not in read]
    return unread


def write(docs: Iterable[Doc], path: PathLike, format: str | None = None, **options: Any) -> int:
    """Write documents to a file in the format of its suffix (brat: to a folder) and return their number.

    The file appears under its name only once it is complete. Other options depend on the format: `fields=`, `scheme=`
    and `separator=` for columns, `comments="add"` for CoNLL-U.
    """
    kind = check_format(format) if format else detect(path)
    _check_options(kind, "write", options)
    return int(_module(kind).write(docs, os.fspath(path), **options))


def convert(
    source: PathLike | Iterable[PathLike],
    target: PathLike,
    source_format: str | None = None,
    target_format: str | None = None,
    *,
    skip_bad: bool = False,
    report: Report | None = None,
    change: Callable[[Doc], None] | None = None,
    read_options: dict[str, Any] | None = None,
    write_options: dict[str, Any] | None = None,
) -> int:
    """Read files in one format, write them as one file in another, and return the number of documents.

    `change` is applied to each document in between, to add what the target format needs. `report.lost` names the layers
    that the target format cannot represent. CoNLL-U made from another format gets its customary comments
    (`# newdoc`, `# sent_id`, `# text`).
    """
    report = report if report is not None else Report()
    kind = check_format(target_format) if target_format else detect(target)
    writing = dict(write_options or {})
    sources = {check_format(source_format) if source_format else detect(name) for name in expand(source, source_format)}
    if kind == "conllu" and sources != {"conllu"}:
        writing.setdefault("comments", "add")
    corpus = read(source, source_format, skip_bad=skip_bad, report=report, **(read_options or {}))

    def watched() -> Iterator[Doc]:
        for doc in corpus:
            if change is not None:
                change(doc)
            lost = lost_layers(doc, kind, writing.get("fields"))
            if kind == "conllu" and f"spans/{FRAMES}" in lost and _frames_in_misc(doc):
                lost -= {f"spans/{FRAMES}", f"relations/{FRAMES}"}
            report.lost |= lost
            yield doc

    return write(watched(), target, kind, **writing)


def _frames_in_misc(doc: Doc) -> bool:
    """Write the frames of a document into MISC, unless they stand there; False if MISC cannot represent them."""
    if any("Frame=" in misc for misc in doc.column("misc")):
        return True
    try:
        misc_of_frames(doc)
    except WeftError:
        return False
    return True


def expand(paths: PathLike | Iterable[PathLike], format: str | None = None) -> list[str]:
    """The files that a path, a glob, a folder or a list of these refers to, sorted within folders and globs."""
    if isinstance(paths, str | os.PathLike):
        return _expand_one(os.fspath(paths), format)
    files = [name for path in paths for name in _expand_one(os.fspath(path), format)]
    if not files:
        raise DataError("no files were given")
    return files


def check_format(name: str) -> str:
    """Check that a format exists."""
    if name not in FORMATS:
        near = did_you_mean(name, FORMATS, "")
        choice = f"choose from {', '.join(FORMATS)}"
        raise ConfigError(f"there is no format {name!r}; {near + ' Or ' if near else ''}{choice}")
    return name


def _expand_one(path: str, format: str | None) -> list[str]:
    if path == STANDARD:
        return [path]
    if os.path.isdir(path):
        kind = check_format(format) if format else detect(path)
        if kind == "brat":
            return [path]
        every = format is not None and kind != "anafora"
        files = [name for name in _files_in(Path(path)) if every or detect(name) == kind]
        if not files:
            raise DataError(f"{path} contains no {kind} files")
        return files
    if os.path.exists(path):
        return [path]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        if glob.has_magic(path):
            raise DataError(f"no file matches {path}")
        raise DataError(f"no file {path}{did_you_mean_file(path)}")
    return [name for match in matches for name in _expand_one(match, format)]


def _visible(folder: Path) -> list[Path]:
    """The files in a folder and below it; names that begin with `.` or `_` are those of tools."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith((".", "_"))]


def _files_in(folder: Path) -> list[str]:
    known = tuple(suffix for suffixes in FORMATS.values() for suffix in suffixes)
    return [str(path) for path in _visible(folder) if path.name.removesuffix(".gz").endswith(known)]


def _module(kind: str) -> Any:
    return import_module(f"weft.formats.{kind.replace('-', '_')}")


def _check_options(kind: str, verb: str, options: dict[str, Any]) -> None:
    allowed = _allowed(kind, verb)
    for name in options:
        if name not in allowed:
            raise ConfigError(f"{verb} of {kind} has no option {name!r}; it has {', '.join(allowed) or 'none'}")


def _options_by_kind(kinds: Iterable[str], options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The reading options of each format; one that none of them has is an error."""
    allowed = {kind: _allowed(kind, "read") for kind in kinds}
    for name in options:
        if not any(name in names for names in allowed.values()):
            _check_options(next(iter(allowed)), "read", options)
    return {kind: {name: value for name, value in options.items() if name in names} for kind, names in allowed.items()}


def _allowed(kind: str, verb: str) -> list[str]:
    parameters = inspect.signature(getattr(_module(kind), verb)).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
