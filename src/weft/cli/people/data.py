"""`weft data list|path|check|schema|examples`: which corpora are here, what files hold, and the files of Weft."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import DataFolder, JsonFlag, counted, option, print_json, print_table
from weft.cli.groups import SuggestingGroup
from weft.data import CorpusEntry, catalog, entry, find, missing, root
from weft.errors import DataError, WeftError

app = typer.Typer(
    cls=SuggestingGroup,
    help="Find corpora, and say what is missing and where to get it; copy examples.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)


def known_corpora(incomplete: str) -> list[str]:
    """Names of corpora, for shell completion.

    >>> known_corpora("conll2000")
    ['conll2000']
    """
    return [corpus.name for corpus in catalog() if corpus.name.startswith(incomplete)]


Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="CORPUS", help="Corpora; all of them if none is named.", autocompletion=known_corpora),
]


@app.command("list", epilog="Example: weft data list --missing")
def list_corpora(
    only_missing: Annotated[bool, option("--missing", help="Only corpora that are not complete.")] = False,
    folder: DataFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """List the corpora that Weft knows, and which of them are here."""
    facts = [_facts(corpus, folder) for corpus in catalog()]
    facts = [fact for fact in facts if fact["missing"]] if only_missing else facts
    if as_json:
        print_json(facts)
        return
    home = root(folder)
    print_table(
        "Corpora; no data folder is known: set WEFT_DATA or give --data" if home is None else f"Corpora in {home}",
        ["corpus", "state", "what"],
        [[fact["name"], _state(fact), fact["what"]] for fact in facts],
    )
    here = sum(not fact["missing"] for fact in facts)
    typer.echo(f"{here} of {len(facts)} are here. `weft data check CORPUS` shows the licence and where to get it.")


@app.command("path", epilog="Example: weft data path conll2000")
def path(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS", help="A corpus of `weft data list`, or a file of one.", autocompletion=known_corpora
        ),
    ],
    folder: DataFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the paths of a corpus's files, one per line."""
    relatives = [name] if "/" in name else list(entry(name).paths)
    paths = [str(find(relative, folder)) for relative in relatives]
    if as_json:
        print_json(paths)
    else:
        for found in paths:
            typer.echo(found)


@app.command("check", epilog="Example: weft data check conll2000 English-EWT --read")
def check(
    names: Names = None,
    read: Annotated[bool, option("--read", help="Also read every file and count its sentences.")] = False,
    folder: DataFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Check that corpora are complete; say where to get those that are not. Exit code 1 if any is missing or bad."""
    facts = [_facts(corpus, folder) for corpus in ([entry(name) for name in names] if names else catalog())]
    if read:
        _read_all(facts, folder)
    if as_json:
        print_json(facts)
    else:
        for fact in facts:
            _report(fact)
    faulty = [fact["name"] for fact in facts if fact["missing"] or fact.get("faults")]
    if faulty:
        raise DataError(f"{len(faulty)} of {len(facts)} corpora are missing, incomplete or cannot be read")


@app.command("examples", epilog="Example: weft data examples")
def examples(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder to copy to.", show_default="this folder")
    ] = Path(),
    as_json: JsonFlag = False,
) -> None:
    """Copy the example files of the documentation, examples/, and the configurations of pipelines, configs/.

    Files that are there already stay as they are.
    """
    from weft.shipped import copy_shipped

    copied = list(copy_shipped(folder))
    new = sum(each.new for each in copied)
    if as_json:
        print_json([{"path": each.path.as_posix(), "new": each.new} for each in copied])
        return
    kept = f", {len(copied) - new:,} were there already" if new < len(copied) else ""
    typer.echo(f"{counted(new, 'file')} copied to {folder / 'examples'} and {folder / 'configs'}{kept}")


@app.command("schema", epilog="Example: weft data schema records > records.schema.json")
def schema(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="Format to describe: records.")] = "records",
) -> None:
    """Print the JSON Schema of a format: every field of what `weft annotate --to records` writes."""
    from weft.errors import ConfigError
    from weft.text.records import record_schema

    if form != "records":
        raise ConfigError(f"there is a schema of records, not of {form!r}; docs/start/files.md describes other formats")
    print_json(record_schema())


def _facts(corpus: CorpusEntry, folder: Path | None) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "files": list(corpus.paths),
        "missing": missing(corpus, folder),
        "format": corpus.format,
        "what": corpus.what,
        "licence": corpus.licence,
        "source": corpus.source,
    }


def _state(fact: dict[str, Any]) -> str:
    if not fact["missing"]:
        return "here"
    return "missing" if len(fact["missing"]) == len(fact["files"]) else "incomplete"


def _read_all(facts: list[dict[str, Any]], folder: Path | None) -> None:
    from weft.formats import read
    from weft.progress import track

    for fact in track(facts, "reading", unit="corpora"):
        fact["sentences"], fact["faults"] = {}, []
        if not fact["format"]:  # a lexicon or other plain data without documents
            continue
        for relative in fact["files"]:
            if relative in fact["missing"]:
                continue
            try:
                corpus = read(find(relative, folder), fact["format"], **entry(fact["name"]).options)
                fact["sentences"][relative] = sum(doc.n_sentences for doc in corpus)
            except WeftError as error:
                fact["faults"].append(str(error))


def _report(fact: dict[str, Any]) -> None:
    typer.echo(f"{fact['name']}: {_state(fact)}")
    for relative in fact["missing"]:
        typer.echo(f"  missing {relative}")
    if fact["missing"]:
        typer.echo(f"  get it from {fact['source']}\n  licence: {fact['licence']}")
    for relative, count in fact.get("sentences", {}).items():
        typer.echo(f"  {relative}: {count:,} sentences")
    for fault in fact.get("faults", []):
        typer.echo(f"  cannot be read: {fault}")
