"""`weft treebank convert|validate|transfer-matrix`: one annotation scheme for all treebanks, and transfer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, counted, option, print_json, print_table, short_path
from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.inputs import Encoding, Fields, FromFormat, Reading, ToFormat, report_bad, show_left_out
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.formats import Report
    from weft.tasks.parsing_transfer.matrix import TransferMatrix
    from weft.text import Doc
    from weft.treebanks import Finding, LabelUsage, Validator
    from weft.treebanks.rewriting import Log

app = typer.Typer(
    cls=SuggestingGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Convert and check annotation schemes, measure transfer between languages.",
)


@app.callback()
def _treebank() -> None:
    """Convert and check annotation schemes, measure transfer between languages."""


Source = Annotated[Path, typer.Argument(metavar="IN", help="Treebank to read; - is standard input.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="File to write; - is standard output.")]
FromScheme = Annotated[
    str, option("--from-scheme", metavar="SCHEME", help="Scheme to read: ud, universal, penn, stanford, cast3lb, own.")
]
ToScheme = Annotated[str, option("--to-scheme", metavar="SCHEME", help="Scheme to write: universal or ud.")]
Tags = Annotated[
    Path | None, option("--tags", metavar="FILE", help="Map from the treebank's own tags to universal ones (*.map).")
]
Labels = Annotated[
    Path | None,
    option("--labels", metavar="FILE", help="Table of relation, tag, tag of the head, new relation."),
]
Coordination = Annotated[
    str, option("--coordination", metavar="STYLE", help="Style of coordination: prague, where conjunctions are heads.")
]
Steps = Annotated[
    str | None,
    option("--steps", metavar="NAMES", help="Run these steps only, such as tags,adposition.", shown="all"),
]
LogFile = Annotated[
    Path | None, option("--log", metavar="FILE", help="Write every change and its rule as a line of JSON.")
]


@app.command("convert", epilog="Example: weft treebank convert examples/story.conllu story-universal.conllu")
@with_reading
def convert(
    source: Source,
    target: Target,
    from_scheme: FromScheme = "ud",
    to_scheme: ToScheme = "universal",
    tags: Tags = None,
    labels: Labels = None,
    coordination: Coordination = "",
    steps: Steps = None,
    log_file: LogFile = None,
    to_format: ToFormat = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Convert a treebank from one annotation scheme to another, and count the arcs that each rule changed.

    Ranges, empty nodes, comments and all columns but UPOS, HEAD and DEPREL do not change. A treebank with tags and
    relations of its own is converted with --from-scheme own, a map of its tags and a table of its labels.
    """
    from weft.formats import detect, write
    from weft.lexical.universal_tags import read_map
    from weft.treebanks import LabelTable, convert_docs
    from weft.treebanks.from_ud import STEPS
    from weft.treebanks.rewriting import Log

    inputs = reading.open([source])
    kind = to_format or (inputs.formats[0] if str(target) == "-" else detect(target))
    if kind not in ("conllu", "jsonl", "parquet"):
        raise ConfigError(f"{kind} cannot hold trees with relations; write conllu, jsonl or parquet (--to)")
    log = Log(keep=log_file is not None)
    new = convert_docs(
        inputs.docs,
        from_scheme,
        to_scheme,
        log,
        tags=None if tags is None else read_map(tags),
        labels=None if labels is None else LabelTable.load(labels),
        coordination=coordination,
        steps=STEPS if steps is None else [step.strip() for step in steps.split(",")],
    )
    options = {"comments": "add"} if kind == "conllu" and inputs.formats[0] != "conllu" else {}
    if log_file is None:
        write(new, target, kind, **options)
    else:
        _write_with_log(new, target, kind, options, log, log_file)
    report_bad(inputs)
    if as_json and str(target) != "-":
        print_json({"sentences": log.sentences, "words": log.words, "matched": log.matched, "touched": log.touched})
        return
    _show_log(log, str(target) == "-")
    if inputs.report.count:
        raise typer.Exit(3)


def _write_with_log(
    docs: Iterator[Doc], target: Path, kind: str, options: dict[str, str], log: Log, path: Path
) -> None:
    """Write documents, and their changes to another file; changes are discarded after each document."""
    import json

    from weft.formats import write
    from weft.formats.streams import open_output

    with open_output(str(path)) as file:

        def noted() -> Iterator[Doc]:
            for doc in docs:
                for change in log.changes:
                    file.write((json.dumps(change._asdict(), ensure_ascii=False) + "\n").encode())
                log.changes.clear()
                yield doc

        write(noted(), target, kind, **options)


def _show_log(log: Log, to_stderr: bool) -> None:
    if to_stderr:
        touched = sum(log.touched.values())
        typer.echo(f"{counted(log.sentences, 'sentence')} converted, {counted(touched, 'arc')} touched", err=True)
        return
    rules = sorted(log.matched | log.touched, key=lambda rule: -log.touched.get(rule, 0))
    rows = [[rule, f"{log.touched.get(rule, 0):,}"] for rule in rules]
    print_table(
        f"{counted(log.sentences, 'sentence')}, {counted(log.words, 'word')}", ["rule", "arcs touched"], rows, [1]
    )


@app.command("validate", epilog="Example: weft treebank validate examples/story.conllu --most 5")
def validate(
    files: Annotated[list[str], typer.Argument(metavar="[NAME=]FILE", help="Treebanks, with names for tables.")],
    scheme: Annotated[str, option("--scheme", metavar="NAME", help="Annotation scheme: ud or universal.")] = "ud",
    most: Annotated[int, option("--most", min=0, help="Maximum number of findings to print per treebank.")] = 20,
    suspects: Annotated[
        int, option("--suspects", min=0, help="Maximum number of suspects to print per treebank.")
    ] = 10,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Check that trees are trees of an annotation scheme, and list words that are annotated in two ways.

    With several treebanks a table shows the use of relations in each, and those that only one or two of them use.
    The exit code is 3 where there are errors; warnings and suspects do not count.
    """
    from weft.formats import Report, detect, read
    from weft.treebanks import LabelUsage, Validator

    usage = LabelUsage()
    found: dict[str, dict[str, Any]] = {}
    for name, path in named_files(files):
        report, validator = Report(), Validator(scheme, suspects=suspects > 0)
        options: dict[str, Any] = {"fields": fields} if fields else {}
        if (from_format or detect(path)) == "conllu":
            options["check_trees"] = False
        first: list[Finding] = []
        for doc in read(path, from_format, skip_bad=True, report=report, encoding=encoding, **options):
            usage.add(name, doc)
            for finding in validator.check(doc):
                if len(first) < most:
                    first.append(finding)
        found[name] = _findings(validator, report, [finding._asdict() for finding in first], suspects)
        if not as_json:
            _show_findings(name, found[name], report)
    if as_json:
        print_json({"treebanks": found, "usage": usage.to_json()})
    elif len(found) > 1:
        _show_usage(usage)
    if any(each["errors"] for each in found.values()):
        raise typer.Exit(3)


def named_files(files: list[str]) -> list[tuple[str, str]]:
    """Parse NAME=FILE; a file without a name is named after itself.

    >>> named_files(["de=a/train.conllu", "b/story.conllu.gz"])
    [('de', 'a/train.conllu'), ('story', 'b/story.conllu.gz')]
    """
    found = []
    for each in files:
        name, sign, path = each.partition("=")
        if not sign or "/" in name:
            name, path = Path(each).name.partition(".")[0] or each, each
        found.append((name, path))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"two treebanks are named {twice!r}; give them names: {twice}1=FILE {twice}2=FILE")
    return found


def _findings(validator: Validator, report: Report, first: list[dict[str, Any]], suspects: int) -> dict[str, Any]:
    from weft.treebanks.validate import ERRORS

    errors = sum(count for kind, count in validator.counts.items() if kind in ERRORS) + report.count
    return {
        "sentences": validator.sentences,
        "words": validator.words,
        "errors": errors,
        "warnings": validator.counts.total() - errors + report.count,
        "kinds": dict(validator.counts.most_common()),
        "unreadable": report.messages,
        "findings": first,
        "suspects": [suspect._asdict() for suspect in validator.suspects(suspects)] if suspects else [],
    }


def _show_findings(name: str, found: dict[str, Any], report: Report) -> None:
    show_left_out(report)
    kinds = "".join(f", {kind} {count:,}" for kind, count in found["kinds"].items())
    typer.echo(
        f"{name}: {counted(found['sentences'], 'sentence')}, {counted(found['errors'], 'error')}, "
        f"{counted(found['warnings'], 'warning')}{kinds}"
    )
    for each in found["findings"]:
        word = f", word {each['word']}" if each["word"] else ""
        typer.echo(f"  sentence {each['sentence']}{word} {each['message']}")
    if found["suspects"]:
        rows = [
            [
                each["form"],
                each["tag"],
                each["head_tag"],
                ", ".join(f"{relation or '_'} {count:,}" for relation, count in each["relations"].items()),
                " ".join(f"{sentence}:{word}" for sentence, word in each["places"][:3]),
            ]
            for each in found["suspects"]
        ]
        print_table(f"{name}: annotated in two ways", ["form", "tag", "head", "relations", "the rare ones"], rows)


def _show_usage(usage: LabelUsage) -> None:
    rows = [
        [relation or "_", *(f"{100 * usage.share(relation, name):.2f}" for name in usage.treebanks)]
        for relation in usage.relations
    ]
    print_table("", ["% of words", *usage.treebanks], rows, range(1, len(usage.treebanks) + 1))
    rare = usage.rare()
    if rare:
        rows = [[relation or "_", " ".join(users)] for relation, users in rare.items()]
        print_table("", ["rare relation", "used in"], rows)


Files = Annotated[
    list[str],
    typer.Argument(metavar="NAME=TRAIN[,TEST]", help="Treebanks; without TEST a fifth of TRAIN is held out."),
]
Out = Annotated[Path, option("--out", "-o", metavar="FILE", help="File to write the scores to (JSON).")]
Figure = Annotated[
    Path | None, option("--figure", metavar="FILE", help="File to draw a heat map of the scores to (SVG).")
]
Metric = Annotated[str, option("--metric", help="Metric to show: UAS, LAS, or without punctuation UAS*, LAS*.")]
Words = Annotated[int, option("--words", min=0, help="Words per source; 0 takes all.")]
Runs = Annotated[int, option("--runs", min=1, help="Trainings with different seeds.")]
Beam = Annotated[int, option("--beam", min=1, help="Configurations kept per step.")]
Epochs = Annotated[int, option("--epochs", min=1, help="Passes over the trees.")]
Scheme = Annotated[
    str, option("--scheme", metavar="NAME", help="Annotation scheme: as-is, or universal, converted from UD first.")
]


@app.command(
    "transfer-matrix",
    epilog="Example: weft treebank transfer-matrix de=de.conllu sv=sv.conllu --out matrix.json --figure heat.svg",
)
@with_reading
def transfer_matrix(
    files: Files,
    out: Out,
    figure: Figure = None,
    metric: Metric = "LAS",
    words: Words = 0,
    runs: Runs = 1,
    beam: Beam = 8,
    epochs: Epochs = 5,
    scheme: Scheme = "as-is",
    reading: Reading = Reading(),
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Train a delexicalized parser on every treebank and score it on every other one."""
    from weft.progress import progress
    from weft.tasks.parsing_transfer.matrix import METRICS, TransferSettings
    from weft.tasks.parsing_transfer.matrix import transfer_matrix as find

    if metric not in METRICS:
        raise ConfigError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    sources: dict[str, list[Doc]] = {}
    targets: dict[str, list[Doc]] = {}
    for name, paths in named_files(files):
        train, _, test = paths.partition(",")
        inputs = reading.open([Path(train)])
        sources[name] = list(inputs.docs)
        report_bad(inputs)
        if test:
            inputs = reading.open([Path(test)])
            targets[name] = list(inputs.docs)
            report_bad(inputs)
        else:
            sources[name], targets[name] = held_out(name, sources[name])
    settings = TransferSettings(words, runs, beam, epochs, scheme=scheme, seed=seed)
    with progress("training and parsing", len(sources), "languages") as bar:
        matrix = find(sources, targets, settings, workers, lambda source: bar.advance())
    _write_matrix(matrix, out, figure, metric)
    if as_json:
        print_json(matrix.to_json())
        return
    for each in dict.fromkeys(("UAS", metric)):
        rows = [
            [source, *(f"{score:.1f}" for score in row)]
            for source, row in zip(matrix.sources, matrix.scores(each), strict=True)
        ]
        print_table(
            "",
            [f"{each}, trained on", *(f"on {target}" for target in matrix.targets)],
            rows,
            range(1, len(matrix.targets) + 1),
        )


def held_out(name: str, docs: list[Doc]) -> tuple[list[Doc], list[Doc]]:
    """Hold out the last fifth of the sentences of documents."""
    places = [(d, s) for d, doc in enumerate(docs) for s in range(doc.n_sentences)]
    if len(places) < 5:
        raise ConfigError(
            f"{name} has {counted(len(places), 'sentence')}, too few to hold some out; name a test file: "
            f"{name}=TRAIN,TEST"
        )
    cut = len(places) - len(places) // 5
    parts: list[list[Doc]] = []
    for chosen in (places[:cut], places[cut:]):
        numbers: dict[int, list[int]] = {}
        for d, s in chosen:
            numbers.setdefault(d, []).append(s)
        parts.append([docs[d].subset(own) for d, own in numbers.items()])
    return parts[0], parts[1]


def _write_matrix(matrix: TransferMatrix, out: Path, figure: Path | None, metric: str) -> None:
    import json

    from weft.formats.streams import open_output
    from weft.pictures import draw_heat

    with open_output(str(out)) as file:
        file.write((json.dumps(matrix.to_json(), indent=1, ensure_ascii=False) + "\n").encode())
    if figure is not None:
        best = [(ranked[0], target) for target in matrix.targets if (ranked := matrix.ranking(target, metric))]
        title = f"{metric}: source (row) by target; framed: the best other language"
        with open_output(str(figure)) as file:
            file.write(draw_heat(matrix.sources, matrix.targets, matrix.scores(metric), title, best).encode())
    typer.echo(f"written: {short_path(out)}{'' if figure is None else f', {short_path(figure)}'}", err=True)
