"""`weft convert IN OUT`: convert files from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, counted, option, print_json
from weft.cli.inputs import Reading, ToFormat, show_left_out
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc


Source = Annotated[str, typer.Argument(metavar="IN", help="File, folder or glob to read; - is standard input.")]
Target = Annotated[str, typer.Argument(metavar="OUT", help="File (brat: folder) to write; - is standard output.")]
Scheme = Annotated[str | None, option("--scheme", metavar="SCHEME", help="Labels to write: IO, IOB1, IOB2 or BIOES.")]
Layer = Annotated[
    str | None,
    option(
        "--layer",
        metavar="NAME",
        help="Write a table of this layer (.csv, .tsv, .parquet): words, sentences, documents, relations, or spans: "
        "entities ...",
    ),
]
Split = Annotated[bool, option("--split", help="Split raw text into words and sentences, by rule.")]


def convert(
    source: Source,
    target: Target,
    to_format: ToFormat = None,
    scheme: Scheme = None,
    split: Split = False,
    layer: Layer = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Convert between CoNLL-U, columns, brat, JSONL, Parquet and plain text, gzipped or not.

    The formats follow from the suffixes, or are named with --from and --to: conllu, columns, brat, jsonl, parquet,
    plain. A file train.txt of columns is read with:
    weft convert train.txt train.jsonl --from columns --fields "form xpos chunks"

    CoNLL-U and columns consist of words; raw text is split into words with --split. With --layer, one layer becomes a
    table for other tools: weft convert annotated/ entities.parquet --layer entities
    """
    if layer is not None:
        return _to_table(source, target, to_format, layer, reading, as_json)
    from weft.formats import Report
    from weft.formats import convert as convert_files

    kinds, fields = _formats(source, target, reading.format, to_format), reading.fields
    if "columns" not in kinds and (scheme or fields):
        raise ConfigError("--scheme and --fields belong to columns; name the format with --from or --to columns")
    of_reader, of_writer = _options(kinds, scheme, fields)
    report = Report()
    count = convert_files(
        source,
        target,
        *kinds,
        skip_bad=reading.skip_bad,
        report=report,
        change=_split if split else None,
        read_options=reading._replace(fields=None).options() | of_reader,
        write_options=of_writer,
    )
    if as_json and target != "-":
        print_json(
            {"documents": count, "left_out": report.count, "messages": report.messages, "lost": sorted(report.lost)}
        )
        return
    if report.lost:
        typer.echo(f"{kinds[1]} cannot hold, so not written: {', '.join(sorted(report.lost))}", err=True)
    show_left_out(report)
    left_out = f", {counted(report.count, 'piece')} left out" if report.count else ""
    typer.echo(f"{counted(count, 'document')} written{left_out}", err=True)
    if report.count and not count:
        raise typer.Exit(1)


def _to_table(source: str, target: str, to_format: str | None, layer: str, reading: Reading, as_json: bool) -> None:
    """Write one layer as a table."""
    from weft.formats import Report, read
    from weft.formats.csv.tables import FORMATS, write_table

    if to_format is not None and to_format not in FORMATS:
        raise ConfigError(f"a table is written as {', '.join(FORMATS)}, not as {to_format}")
    if target == "-" and to_format is None:
        raise ConfigError("give the format of the table with --to: csv or tsv")
    report = Report()
    docs = read(source, reading.format, skip_bad=reading.skip_bad, report=report, **reading.options())
    rows = write_table(docs, target, layer, to_format)
    if as_json and target != "-":
        print_json({"rows": rows, "left_out": report.count, "messages": report.messages})
        return
    show_left_out(report)
    left_out = f", {counted(report.count, 'piece')} left out" if report.count else ""
    typer.echo(f"{counted(rows, 'row')} written{left_out}", err=True)


def _formats(source: str, target: str, from_format: str | None, to_format: str | None) -> tuple[str, str]:
    """The formats to read and to write."""
    from weft.formats import FORMATS, detect
    from weft.formats.conllu.recognize import is_conllu, standard_input

    if source == "-" and from_format is None and is_conllu(standard_input()):
        from_format = "conllu"
    if source == "-" and from_format is None:
        raise ConfigError(f"give the format of standard input with --from: {', '.join(FORMATS)}")
    if to_format is None and (target == "-" or Path(target).is_dir()):
        place = "standard output" if target == "-" else f"the folder {target}"
        raise ConfigError(f"give the format to write to {place} with --to: {', '.join(FORMATS)}")
    return from_format or detect(source), to_format or detect(target)


def _options(kinds: tuple[str, str], scheme: str | None, fields: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the reader and the writer of columns."""
    reading: dict[str, Any] = {}
    writing: dict[str, Any] = {}
    if kinds[0] == "columns" and fields:
        reading["fields"] = fields
    if kinds[1] == "columns":
        writing.update({"scheme": scheme} if scheme else {})
        writing.update({"fields": fields.split() if kinds[0] != "columns" else _bare(fields)} if fields else {})
    elif scheme:
        reading["scheme"] = scheme
    return reading, writing


def _split(doc: Doc) -> None:
    from weft.text.split import split_by_rule

    if not doc.n_words:
        split_by_rule(doc)


def _bare(fields: str) -> list[str]:
    """Names of fields without their label schemes; a bare colon marks span layers."""
    return [name.partition(":")[0] + (":" if ":" in name else "") for name in fields.split()]
