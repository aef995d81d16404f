"""`weft sentiment train|annotate`: the polarity of every sentence of reviews, learned mostly from their stars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, console, counted, print_json, print_table, settings
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.formats.reviews import Review
    from weft.text import Doc

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Find the polarity of sentences of reviews: positive, negative, neutral.",
)
Files = list[Path] | None


@app.callback()
def _sentiment() -> None:
    """Find the polarity of sentences of reviews: positive, negative, neutral."""


@app.command(
    "train",
    epilog="Example: weft sentiment train --ratings examples/inns/rated.tsv --sentences examples/inns/sentences.txt "
    "--positive examples/inns/good-words.txt --negative examples/inns/bad-words.txt --out inns.weft",
)
def train(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")],
    ratings: Annotated[
        Files,
        typer.Option("--ratings", metavar="FILE", help="Reviews with stars (.tsv, .csv, .jsonl); repeat."),
    ] = None,
    sentences: Annotated[
        Files,
        typer.Option("--sentences", metavar="FILE", help="Reviews with labelled sentences (.txt, .jsonl); repeat."),
    ] = None,
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Reviews with labelled sentences, to score on.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="fine, coarse, cascaded or interpolated.", show_default="interpolated; fine or coarse by what is given"
        ),
    ] = None,
    positive: Annotated[
        Files, typer.Option("--positive", metavar="FILE", help="List of positive words; repeat.")
    ] = None,
    negative: Annotated[
        Files, typer.Option("--negative", metavar="FILE", help="List of negative words; repeat.")
    ] = None,
    valence: Annotated[
        Files, typer.Option("--valence", metavar="FILE", help="Words with numbers, positive above 0 (VADER); repeat.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Setting such as share=0.1; repeat.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the model.", show_default="the file's")] = "",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the model.", show_default="not stated")] = "",
    encoding: Encoding = "utf-8",
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Learn the polarity of sentences from rated reviews, reviews with labelled sentences, or both."""
    from weft.cli.learn.train import flat
    from weft.pipeline.registry import train as train_task
    from weft.text import Corpus

    if not ratings and not sentences:
        raise ConfigError("give reviews to learn from: with stars (--ratings), with labelled sentences (--sentences)")
    options: dict[str, Any] = {"seed": seed, **settings(setting or [])}
    options["method"] = method or ("interpolated" if ratings and sentences else "coarse" if ratings else "fine")
    for key, files in (("positive", positive), ("negative", negative), ("valence", valence)):
        for path in files or ():
            if "," in str(path):
                raise ConfigError(f"the name of a list of words must not have a comma: {path}")
        options[key] = ",".join(map(str, files or ()))

    def docs() -> Iterator[Doc]:
        for review in _reviews(ratings or (), encoding):
            yield replace(review, sentences=(), labels=()).doc()
        for review in _reviews(sentences or (), encoding):
            yield review.doc()

    held_out = None if dev is None else Corpus([review.doc() for review in _reviews([dev], encoding)])
    corpora = [path.name for path in [*(ratings or ()), *(sentences or ())]]
    report = train_task("sentiment", Corpus(docs), held_out, out, options, name=name, corpora=corpora, licence=licence)
    if as_json:
        print_json(report)
        return
    print_table("Trained sentiment", ["", ""], flat(report), figures=[1])


@app.command(
    "annotate",
    epilog="Example: weft sentiment annotate examples/inns/new.tsv --model inns.weft --given",
)
def annotate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Reviews (.tsv, .csv, .jsonl, .txt, .conllu).")],
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="What `weft sentiment train` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write: .txt (label and sentence), .jsonl, .conllu or .parquet.",
            show_default="standard output, as .txt",
        ),
    ] = None,
    given: Annotated[bool, typer.Option("--given", help="Take the stars of reviews that have some as known.")] = False,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Label every sentence of reviews, and the reviews; stars need not be there."""
    from weft.formats import detect, write
    from weft.formats.reviews import Review, write_labelled
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.sentiment.sentences import SentimentAnalyser

    if as_json and out is None:
        raise ConfigError("--json says what was written; name the file with --out")
    pipeline = Pipeline.load(model)
    analyser = next((each for each in pipeline.components if isinstance(each, SentimentAnalyser)), None)
    if analyser is None:
        raise ConfigError(f"{model} holds no model of sentences' sentiment; `weft sentiment train` makes one")
    analyser.settings.given = given
    counts: Counter[str] = Counter()

    def annotated() -> Iterator[Doc]:
        from weft.text.conventions.polarity import sentence_polarities

        for doc in pipeline.pipe(review.doc() for review in _reviews(files, encoding)):
            counts.update(sentence_polarities(doc))
            counts["reviews"] += 1
            yield doc

    target = "-" if out is None else str(out)
    kind = "plain" if out is None else detect(out)
    if kind == "plain":
        write_labelled((_shown(Review.from_doc(doc), doc) for doc in annotated()), target)
    else:
        write(annotated(), target, **({"comments": "add"} if kind == "conllu" else {}))
    if as_json:
        print_json({"out": str(out), **counts})
    elif out is not None:
        found = ", ".join(f"{counts[label]:,} {label}" for label in ("pos", "neg", "neu"))
        console(stderr=True).print(f"{counted(counts['reviews'], 'review')}: {found} sentences; wrote {out}")


def _shown(review: Review, doc: Doc) -> Review:
    """A review as blocks show it: its stars where it has some, else the polarity that was found."""
    return replace(review, sentiment=str(doc.meta.get("sentiment", ""))) if review.rating is None else review


def _reviews(paths: Sequence[Path], encoding: str) -> Iterator[Review]:
    from weft.formats.reviews import read_reviews

    for path in paths:
        yield from read_reviews(path, encoding=encoding)
