"""`weft train TASK FILE... --out MODEL`: train a model for a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, print_json, print_table, settings
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.cli.learn.train_names import read_pairs, show_transfer, transfer_settings
from weft.cli.learn.train_projected import bitext_settings
from weft.errors import ConfigError
from weft.pipeline.registry import TASKS

#: The word in the place of a task that asks for a whole pipeline.
PIPELINE = "pipeline"
#: Headings of options that belong together.
_PARSERS = "Parsers"
_DICTIONARIES = "Taggers without tagged text"
_LANGUAGES = "Parsers and names from other languages"
_BITEXTS = "Names from a bitext"
_PIPELINES = "Pipelines"
_HEADER = "The model's header"


def train(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help=f"What to learn: {', '.join(TASKS)}; pipeline: all of a CONFIG.toml.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Annotated files to learn from; of a pipeline its CONFIG.toml."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="MODEL", help="Where to write the model; only `pipeline` can do without."),
    ] = None,
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Held-out file, for early stopping.")
    ] = None,
    learner: Annotated[
        str | None, typer.Option("--learner", help="crf, perceptron, mira ...", show_default="the task's own")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            rich_help_panel=_PARSERS,
            help="Of a parser: arc-eager, easy-first, mst2 ...",
            show_default="arc-eager",
        ),
    ] = None,
    projective: Annotated[
        bool | None,
        typer.Option(
            "--projective/--nonprojective",
            rich_help_panel=_PARSERS,
            help="Trees that mst1, mst2 search.",
            show_default="projective",
        ),
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(
            "--oracle", rich_help_panel=_PARSERS, help="Of a parser: static, nondet, dynamic.", show_default="dynamic"
        ),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(
            "--beam",
            rich_help_panel=_PARSERS,
            min=1,
            metavar="N",
            help="Of parsers: states kept a step.",
            show_default="its own",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the task; may be given several times."),
    ] = None,
    gazetteer: Annotated[
        list[str] | None,
        typer.Option(
            "--gazetteer",
            metavar="NAME=FILE",
            help="Phrases, one a line, for ner; may be given several times.",
        ),
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option("--clusters", metavar="FILE", help="Word clusters, for tagger, parser, ner and disfluency."),
    ] = None,
    dictionary: Annotated[
        list[Path] | None,
        typer.Option(
            "--dict",
            rich_help_panel=_DICTIONARIES,
            metavar="FILE",
            help="Words with tags, for a tagger without tagged text; several are joined.",
        ),
    ] = None,
    projected: Annotated[
        list[Path] | None,
        typer.Option(
            "--projected",
            rich_help_panel=_DICTIONARIES,
            metavar="FILE",
            help="Text with tags projected on it, for the same.",
        ),
    ] = None,
    text: Annotated[
        list[Path] | None,
        typer.Option("--text", rich_help_panel=_DICTIONARIES, metavar="FILE", help="Text without tags, for the same."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", rich_help_panel=_DICTIONARIES, help="Of the same: crf, hmm.", show_default="crf"),
    ] = None,
    transfer: Annotated[
        str | None,
        typer.Option(
            "--transfer",
            rich_help_panel=_LANGUAGES,
            metavar="CODE=FILE,...",
            help="Treebanks of other languages, for a parser of a language that has none, in the place of FILE.",
        ),
    ] = None,
    ner_sources: Annotated[
        str | None,
        typer.Option(
            "--sources",
            rich_help_panel=_LANGUAGES,
            metavar="CODE=FILE,...",
            help="Names in other languages, for ner in a language that has none; FILE: labelled sentences of its own.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            rich_help_panel=_LANGUAGES,
            metavar="CODE=FILE",
            help="With --transfer: the language, and sentences with tags; with --sources: its text.",
        ),
    ] = None,
    self_train: Annotated[
        int | None,
        typer.Option(
            "--self-train",
            rich_help_panel=_LANGUAGES,
            metavar="ROUNDS",
            min=0,
            help="With --sources.",
            show_default="5",
        ),
    ] = None,
    labelled: Annotated[
        list[Path] | None,
        typer.Option(
            "--labelled", rich_help_panel=_LANGUAGES, metavar="FILE", help="With --sources: the same as FILE."
        ),
    ] = None,
    native_clusters: Annotated[
        Path | None,
        typer.Option(
            "--native-clusters",
            rich_help_panel=_LANGUAGES,
            metavar="FILE",
            help="Of ner: word clusters of the language alone.",
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            "--share",
            rich_help_panel=_LANGUAGES,
            help="With --transfer: delex, bare, share, similar, family.",
            show_default="family",
        ),
    ] = None,
    adapt: Annotated[
        str | None,
        typer.Option(
            "--adapt",
            rich_help_panel=_LANGUAGES,
            help="With --transfer: none, viterbi, aast, aaet.",
            show_default="none",
        ),
    ] = None,
    bitext: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--bitext",
            rich_help_panel=_BITEXTS,
            metavar="SOURCE TARGET",
            help="Sentences and their translations, for ner.",
        ),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            "--links", rich_help_panel=_BITEXTS, metavar="FILE", help="With --bitext: the links of its words."
        ),
    ] = None,
    source_model: Annotated[
        str | None,
        typer.Option(
            "--source-model", rich_help_panel=_BITEXTS, metavar="MODEL", help="With --bitext: finds names in SOURCE."
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", rich_help_panel=_BITEXTS, help="With --bitext: soft, hard, ptt.", show_default="soft"
        ),
    ] = None,
    confusion: Annotated[
        Path | None,
        typer.Option(
            "--confusion",
            rich_help_panel=_BITEXTS,
            metavar="FILE",
            help="With --bitext: what its source model confuses.",
        ),
    ] = None,
    nested: Annotated[bool, typer.Option("--nested", help="Entities inside entities, for ner.")] = False,
    name: Annotated[
        str, typer.Option("--name", rich_help_panel=_HEADER, help="Name of the model.", show_default="that of the file")
    ] = "",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            rich_help_panel=_HEADER,
            metavar="NAME",
            help="A corpus the model is trained on, for its header; may be given several times.",
            show_default="the names of the files",
        ),
    ] = None,
    licence: Annotated[
        str,
        typer.Option(
            "--licence",
            rich_help_panel=_HEADER,
            help="Licence of the model, for its header.",
            show_default="not stated",
        ),
    ] = "",
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            rich_help_panel=_PIPELINES,
            metavar="N",
            min=0,
            help="Of a pipeline: N sentences a corpus, for a trial.",
        ),
    ] = 0,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            rich_help_panel=_PIPELINES,
            metavar="FILE",
            help="Of a pipeline: where to write its scores (JSON).",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            rich_help_panel=_PIPELINES,
            metavar="FOLDER",
            help="Of a pipeline: where finished parts are kept, to go on with.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Train a model for a task on annotated files, or a whole pipeline, and write it as one file."""
    from weft.pipeline.registry import train as train_task
    from weft.text.corpus import Corpus

    if dictionary or projected or text:
        from weft.cli.learn.train_weak import train_weak_tagger

        chosen = {
            "seed": seed,
            "workers": workers,
            "model": model,
            "clusters": None if clusters is None else str(clusters),
        }
        train_weak_tagger(
            task,
            out,
            {option: value for option, value in chosen.items() if value is not None} | settings(setting or []),
            files=files or [],
            dictionaries=dictionary or [],
            projected=projected or [],
            text=text or [],
            dev=dev,
            reading={"format": from_format, "skip_bad": skip_bad, "fields": fields, "encoding": encoding},
            card={"name": name, "corpora": corpus or (), "licence": licence},
            as_json=as_json,
        )
        return
    names = transfer_settings(task, ner_sources, target, self_train, labelled, fields)
    files = [*(files or ()), *(labelled or ())]
    sources = _sources(task, transfer, {"--target": None if names else target, "--share": share, "--adapt": adapt})
    projecting = bitext_settings(task, bitext, links, source_model, {"project": project, "confusion": confusion})
    annotated = files or []
    files = [*annotated, *(bitext or ())] if projecting else annotated if names else _files(files, sources)
    if task == PIPELINE:
        from weft.cli.learn.train_pipeline import train_from_config

        train_from_config(files, out, results, keep, limit=limit, seed=seed, workers=workers, as_json=as_json)
        return
    if task not in TASKS:
        raise ConfigError(f"unknown task {task!r}; the tasks are: {', '.join([*TASKS, PIPELINE])}")
    if out is None:
        raise typer.BadParameter("say where to write the model", param_hint="'--out'")
    options: dict[str, Any] = {"seed": seed, "workers": workers, **settings(setting or [])}
    own = {
        "learner": learner,
        "system": system,
        "oracle": oracle,
        "beam": beam,
        "model": model,
        "gazetteers": dict(map(_named_file, gazetteer or ())),
        "clusters": None if clusters is None else str(clusters),
        "native_clusters": None if native_clusters is None else str(native_clusters),
        "nested": nested,
        "sources": sources,
        "target": target,
        "share": share,
        "adapt": adapt,
        "shape": None if projective is None else "projective" if projective else "nonprojective",
    }
    options.update({name: value for name, value in own.items() if value} | projecting | names)
    training = open_inputs(annotated, from_format, skip_bad, fields, encoding) if annotated else None
    held_out = open_inputs([dev], from_format, skip_bad, fields, encoding) if dev is not None else None
    report = train_task(
        task,
        Corpus([]) if training is None else training.docs,
        None if held_out is None else held_out.docs,
        out,
        options,
        name=name,
        corpora=corpus or [_corpus_name(path) for path in [*files, *map(Path, names.get("sources", {}).values())]],
        licence=licence,
    )
    for source in (training, held_out):
        if source is not None:
            report_bad(source)
    if as_json:
        print_json(report)
        return
    if names:
        show_transfer(report)
        return
    print_table(f"Trained {task}", ["", ""], flat(report), figures=[1])


def _sources(task: str, transfer: str | None, others: dict[str, str | None]) -> dict[str, str]:
    """The treebanks of other languages by their codes; none where none are asked for."""
    if transfer is None:
        for option, value in others.items():
            if value is not None:
                raise ConfigError(f"{option} is for parsers that learn from other languages: give --transfer, too")
        return {}
    if task != "parser":
        raise ConfigError(f"--transfer is for the task parser, not {task}")
    if others["--target"] is None:
        raise ConfigError("--transfer needs the language that the parser is for: --target CODE=FILE, or CODE alone")
    return read_pairs("--transfer", transfer)


def _files(files: list[Path] | None, sources: dict[str, str]) -> list[Path]:
    """The files of the command: those named, or those of other languages."""
    if files and sources:
        raise ConfigError(f"--transfer names all files to learn from; leave out {', '.join(map(str, files))}")
    if not files and not sources:
        raise typer.BadParameter("name a file to learn from", param_hint="'FILE...'")
    return files or [Path(file) for file in sources.values()]


def _named_file(text: str) -> tuple[str, str]:
    name, sign, file = text.partition("=")
    if not sign or not name or not file:
        raise ConfigError(f"a gazetteer is written NAME=FILE, not {text!r}")
    return name, file


def _corpus_name(path: Path) -> str:
    """What a model's header calls a training file: its name alone, as folders are the business of its maker."""
    return "standard input" if str(path) == "-" else path.name or path.resolve().name


def flat(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures of a report, nested ones among them; lists are left to `--json`."""
    rows: list[tuple[str, str]] = []
    for name, value in report.items():
        shown = name.replace("_", " ")
        if isinstance(value, dict):
            rows += flat(value)
        elif isinstance(value, float):
            rows.append((shown, f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"))
        elif not isinstance(value, list | tuple):
            rows.append((shown, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows
