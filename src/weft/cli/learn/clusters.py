"""`weft clusters mono TEXT... --out FILE` and `weft clusters cross`: learn classes of words from plain text.

`weft lexicon clusters` is the older command for Brown clusters of one language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, print_json, print_table, short_path
from weft.cli.inputs import Encoding, Fields, FromFormat, Inputs, SkipBad, open_inputs, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.clusters.cross_lingual import Bitext
    from weft.lexical.clusters.monolingual import WordClusters
    from weft.pipeline.pipeline import Pipeline
    from weft.text.doc import Doc


app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode="rich", help="Learn classes of words from plain text."
)

Texts = Annotated[list[Path], typer.Argument(metavar="TEXT...", help="Text or corpora: files, folders, - for input.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the clusters are written.")]
MinCount = Annotated[int, typer.Option("--min-count", help="Words met less often are left out.", min=1)]
Lower = Annotated[bool, typer.Option("--lower", help="Letter case makes no difference.")]
Shards = Annotated[
    int, typer.Option("--shards", help="Cut the vocabulary into so many parts, each on a thread.", min=1)
]
Model = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="Segmenter for plain text.", show_default="words by rule"),
]


@app.callback()
def _clusters() -> None:
    """Learn classes of words from plain text, for one language or shared by two."""


def clusters(
    files: Texts,
    out: Out,
    classes: Annotated[int, typer.Option("--classes", help="How many classes.", min=1)] = 400,
    min_count: MinCount = 3,
    rounds: Annotated[int, typer.Option("--rounds", help="Most passes over the words.", min=0)] = 15,
    lower: Lower = False,
    model: Model = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn classes of words that stand in the same places, for `weft train tagger` and `ner` (`--clusters`)."""
    from weft.lexical.clusters.monolingual import cluster_words

    words = _Words(model, from_format, fields, encoding, skip_bad)
    found = cluster_words(words.of(files), classes, min_count, rounds, lower)
    words.report()
    found.save(out)
    _print("Clusters", {**_figures(found), "file": short_path(out).as_posix()}, as_json)


@app.command("mono", epilog="Example: weft clusters mono novels/ --out english.paths --classes 256 --shards 2")
def mono(
    files: Texts,
    out: Out,
    classes: Annotated[int, typer.Option("--classes", help="How many classes.", min=1)] = 256,
    min_count: MinCount = 3,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="predictive|brown",
            help="predictive: classes given the word before; brown: given the class before.",
        ),
    ] = "predictive",
    sweeps: Annotated[int, typer.Option("--sweeps", help="Most passes over the words.", min=0)] = 15,
    lower: Lower = False,
    shards: Shards = 1,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Begin with random classes.", show_default="in turns, by frequency")
    ] = None,
    model: Model = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn classes of words that stand in the same places, for the option `--clusters` of `weft train`."""
    from weft.lexical.clusters.exchange import predictive_clusters
    from weft.lexical.clusters.monolingual import cluster_words

    if method not in ("predictive", "brown"):
        raise ConfigError(f"--method is predictive or brown, not {method!r}")
    if method == "brown" and (shards != 1 or seed is not None):
        raise ConfigError("--shards and --seed belong to --method predictive; the classes of brown begin by frequency")
    words = _Words(model, from_format, fields, encoding, skip_bad)
    if method == "brown":
        found = cluster_words(words.of(files), classes, min_count, sweeps, lower)
    else:
        found = predictive_clusters(words.of(files), classes, min_count, sweeps, lower, shards, shards, seed)
    words.report()
    found.save(out)
    _print("Clusters", {"method": method, **_figures(found), "file": short_path(out).as_posix()}, as_json)


@app.command(
    "cross",
    epilog="Example: weft clusters cross --source en.txt --target de.txt --bitext-source pairs.en --bitext-target "
    "pairs.de --links pairs.links --out-source en.paths --out-target de.paths",
)
def cross(
    source: Annotated[list[Path], typer.Option("--source", metavar="TEXT", help="Text of the source; repeat.")],
    target: Annotated[list[Path], typer.Option("--target", metavar="TEXT", help="Text of the target; repeat.")],
    out_source: Annotated[Path, typer.Option("--out-source", metavar="FILE", help="Clusters of the source words.")],
    out_target: Annotated[Path, typer.Option("--out-target", metavar="FILE", help="Clusters of the target words.")],
    bitext_source: Annotated[
        Path | None, typer.Option("--bitext-source", metavar="FILE", help="Source side of a bitext, a sentence a line.")
    ] = None,
    bitext_target: Annotated[
        Path | None, typer.Option("--bitext-target", metavar="FILE", help="Its target side, line by line.")
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option("--links", metavar="FILE", help="Its word links (i-j or i-j:score).", show_default="aligned here"),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="projected|xlingual", help="projected: linked words only; xlingual: the whole text."
        ),
    ] = "xlingual",
    classes: Annotated[int, typer.Option("--classes", help="How many classes.", min=1)] = 256,
    min_count: MinCount = 3,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Links with a lower score are left out.", min=0, max=1)
    ] = 0.95,
    sweeps: Annotated[int, typer.Option("--sweeps", help="Most passes over the words.", min=0)] = 15,
    rounds: Annotated[int, typer.Option("--rounds", help="Turns of exchange and projection.", min=1)] = 1,
    shortest: Annotated[
        int, typer.Option("--shortest", help="Without a bitext: letters of words that are linked to themselves.", min=1)
    ] = 4,
    lower: Lower = False,
    shards: Shards = 1,
    seed: Seed = 0,
    model: Model = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn classes that two languages share, over the links of a bitext; without one, over words spelt alike."""
    from weft.lexical.clusters.cross_lingual import METHODS, cross_clusters

    if method not in METHODS:
        raise ConfigError(f"--method is {' or '.join(METHODS)}, not {method!r}")
    bitext = _bitext(bitext_source, bitext_target, links, threshold, encoding)
    words = _Words(model, from_format, fields, encoding, skip_bad)
    found = cross_clusters(
        words.of(source), words.of(target), bitext, method, classes, min_count, threshold, sweeps, rounds, lower,
        shards, shortest, seed,
    )  # fmt: skip
    words.report()
    found.source.save(out_source)
    found.target.save(out_target)
    figures = {
        "method": method,
        "links": "of words spelt alike" if bitext is None else "of a bitext",
        "classes": len(found.source.path_of),
        "source words": len(found.source.words),
        "target words": len(found.target.words),
        "target words with links": found.linked,
        "files": [short_path(path).as_posix() for path in (out_source, out_target)],
    }
    _print("Clusters of two languages", figures, as_json)


class _Words:
    """Reads the words of files as the options of a command say."""

    def __init__(
        self, model: Path | None, format: str | None, fields: str | None, encoding: str, skip_bad: bool
    ) -> None:
        from weft.pipeline.pipeline import Pipeline

        self._segmenter = None if model is None else Pipeline.load(model)
        self._options = format, skip_bad, fields, encoding
        self._inputs: list[Inputs] = []

    def of(self, files: list[Path]) -> Iterator[list[str]]:
        inputs = open_inputs(files, *self._options)
        self._inputs.append(inputs)
        return sentences(inputs.docs, self._segmenter)

    def report(self) -> None:
        for inputs in self._inputs:
            report_bad(inputs)


def _bitext(
    source: Path | None, target: Path | None, links: Path | None, threshold: float, encoding: str
) -> Bitext | None:
    """The bitext of the options, aligned here where no links are given."""
    from weft.formats.bitext import read_bitext
    from weft.formats.pharaoh import read_links
    from weft.lexical.clusters.cross_lingual import Bitext
    from weft.tasks.bitext.align import APART, align

    if source is None and target is None and links is None:
        return None
    if source is None or target is None:
        raise ConfigError(
            "a bitext has two sides: give both --bitext-source and --bitext-target (or none of them and no --links, to "
            "link words spelt alike)"
        )
    pairs = list(read_bitext(source, target, encoding=encoding))
    one, two = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = align(one, two, "intersection", settings=APART, threshold=threshold) if links is None else read_links(links)
    return Bitext(one, two, found)


def _figures(found: WordClusters) -> dict[str, Any]:
    return {
        "words": len(found.words),
        "classes": len(found.path_of),
        "running words": int(found.counts.sum()),
    }


def _print(title: str, figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return

    def shown(value: Any) -> str:
        return f"{value:,}" if isinstance(value, int) else " ".join(value) if isinstance(value, list) else value

    print_table(title, ["", ""], [[name, shown(value)] for name, value in figures.items()], figures=[1])


def sentences(docs: Iterable[Doc], segmenter: Pipeline | None = None) -> Iterator[list[str]]:
    """The words of every sentence; documents that have only text are split by a segmenter, or by rule.

    >>> from weft.text.doc import Doc
    >>> list(sentences([Doc("He came. She left."), Doc.from_words([["Why", "?"]])]))
    [['He', 'came', '.'], ['She', 'left', '.'], ['Why', '?']]
    """
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words:
            if segmenter is None:
                split_by_rule(doc)
            else:
                for component in segmenter.components:
                    component([doc])
        forms = doc.column("form")
        yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))
