"""`weft lexicon clusters` and `weft lexicon cross-clusters`: word clusters from raw text, of one language or two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from weft.cli.common import (
    DATA,
    READING,
    RUNNING,
    SETTINGS,
    JsonFlag,
    OutputFile,
    Seed,
    option,
    print_json,
    print_table,
    short_path,
)
from weft.cli.inputs import Inputs, Reading, Texts, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.clusters.cross_lingual import Bitext, CrossClusters
    from weft.lexical.clusters.monolingual import WordClusters
    from weft.pipeline.pipeline import Pipeline
    from weft.text.doc import Doc


EXAMPLE = "weft lexicon clusters novels/ --out english.paths --number 256 --shards 2"
CROSS_EXAMPLE = (
    "weft lexicon cross-clusters --source en.txt --target de.txt --bitext pairs.en pairs.de --links pairs.links "
    "--out-source en.paths --out-target de.paths"
)
METHODS = ("predictive", "brown")

Number = Annotated[int, option("--number", help="Number of clusters.", min=1, panel=SETTINGS)]
MinCount = Annotated[int, option("--min-count", help="Leave out words that occur less often.", min=1, panel=SETTINGS)]
Iterations = Annotated[
    int, option("--iterations", help="Maximum number of passes over the words.", min=0, panel=SETTINGS)
]
Lower = Annotated[bool, option("--lower", help="Ignore letter case.", panel=SETTINGS)]
Shards = Annotated[
    int, option("--shards", help="Split the vocabulary into this many parts, one per thread.", min=1, panel=RUNNING)
]
Segmenter = Annotated[
    Path | None,
    option("--segmenter", metavar="MODEL", panel=READING, help="Segmenter for raw text.", shown="words by rule"),
]


def clusters(
    files: Texts,
    out: OutputFile,
    number: Number = 256,
    method: Annotated[
        str,
        option(
            "--method",
            metavar="|".join(METHODS),
            help="Clusters given the previous word (predictive), or given the previous cluster (brown).",
        ),
    ] = "predictive",
    min_count: MinCount = 3,
    iterations: Iterations = 15,
    lower: Lower = False,
    shards: Shards = 1,
    seed: Annotated[
        int | None, option("--seed", panel=RUNNING, help="Random seed.", shown="start by frequency, not at random")
    ] = None,
    segmenter: Segmenter = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Learn clusters of words that occur in the same contexts, for the option `--clusters` of `weft train`."""
    from weft.lexical.clusters.exchange import predictive_clusters
    from weft.lexical.clusters.monolingual import cluster_words

    _check_method(method, METHODS)
    if method == "brown" and (shards != 1 or seed is not None):
        raise ConfigError("--shards and --seed belong to --method predictive; brown clusters start by frequency")
    words = _Words(segmenter, reading)
    if method == "brown":
        found = cluster_words(words.of(files), number, min_count, iterations, lower)
    else:
        found = predictive_clusters(words.of(files), number, min_count, iterations, lower, shards, shards, seed)
    words.report()
    found.save(out)
    _print("Clusters", {"method": method, **_figures(found), "file": short_path(out).as_posix()}, as_json)


Source = Annotated[
    list[Path], option("--source", metavar="TEXT", panel=DATA, help="Text of the source language; repeat.")
]
Target = Annotated[
    list[Path], option("--target", metavar="TEXT", panel=DATA, help="Text of the target language; repeat.")
]
OutSource = Annotated[Path, option("--out-source", metavar="FILE", help="File of the source's clusters.")]
OutTarget = Annotated[Path, option("--out-target", metavar="FILE", help="File of the target's clusters.")]
BitextOption = Annotated[
    tuple[Path, Path] | None,
    option("--bitext", metavar="SOURCE TARGET", panel=DATA, help="Sentences and their translations."),
]
Links = Annotated[
    Path | None,
    option("--links", metavar="FILE", panel=DATA, help="Word links of the bitext, i-j.", shown="aligned here"),
]
Method = Annotated[
    str,
    option(
        "--method",
        metavar="projected|xlingual",
        help="Clusters of linked words only (projected), or of the whole text (xlingual).",
    ),
]
Threshold = Annotated[
    float, option("--threshold", help="Leave out links with a lower score.", min=0, max=1, panel=SETTINGS)
]
Alternations = Annotated[
    int, option("--alternations", help="Alternations of exchange and projection.", min=1, panel=SETTINGS)
]
Shortest = Annotated[
    int,
    option("--shortest", help="Without a bitext, link words of at least this many letters.", min=1, panel=SETTINGS),
]


def cross(
    source: Source,
    target: Target,
    out_source: OutSource,
    out_target: OutTarget,
    bitext: BitextOption = None,
    links: Links = None,
    method: Method = "xlingual",
    number: Number = 256,
    min_count: MinCount = 3,
    threshold: Threshold = 0.95,
    iterations: Iterations = 15,
    alternations: Alternations = 1,
    shortest: Shortest = 4,
    lower: Lower = False,
    shards: Shards = 1,
    seed: Seed = 0,
    segmenter: Segmenter = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Learn clusters that two languages share, over the links of a bitext; without one, over words spelled alike."""
    from weft.lexical.clusters.cross_lingual import METHODS, cross_clusters

    _check_method(method, METHODS)
    pairs = _bitext(bitext, links, threshold, reading.encoding)
    words = _Words(segmenter, reading)
    found = cross_clusters(
        words.of(source), words.of(target), pairs, method, number, min_count, threshold, iterations, alternations,
        lower, shards, shortest, seed,
    )  # fmt: skip
    words.report()
    found.source.save(out_source)
    found.target.save(out_target)
    about = {"method": method, "links": "of words spelled alike" if pairs is None else "of a bitext"}
    files = [short_path(path).as_posix() for path in (out_source, out_target)]
    _print("Clusters of two languages", {**about, **_cross_figures(found), "files": files}, as_json)


def _check_method(method: str, known: Sequence[str]) -> None:
    if method not in known:
        raise ConfigError(f"--method must be {' or '.join(known)}, got {method!r}")


def _cross_figures(found: CrossClusters) -> dict[str, Any]:
    return {
        "clusters": len(found.source.path_of),
        "source words": len(found.source.words),
        "target words": len(found.target.words),
        "target words with links": found.linked,
    }


class _Words:
    """Reads the words of files according to the options of a command."""

    def __init__(self, segmenter: Path | None, reading: Reading) -> None:
        from weft.pipeline.pipeline import Pipeline

        self._segmenter = None if segmenter is None else Pipeline.load(segmenter)
        self._reading = reading
        self._inputs: list[Inputs] = []

    def of(self, files: list[Path]) -> Iterator[list[str]]:
        inputs = self._reading.open(files)
        self._inputs.append(inputs)
        return sentences(inputs.docs, self._segmenter)

    def report(self) -> None:
        for inputs in self._inputs:
            report_bad(inputs)


def _bitext(sides: tuple[Path, Path] | None, links: Path | None, threshold: float, encoding: str) -> Bitext | None:
    """The bitext of the options, aligned here unless links are given."""
    from weft.formats.bitext import read_bitext
    from weft.formats.pharaoh import read_links
    from weft.lexical.clusters.cross_lingual import Bitext
    from weft.tasks.bitext.align import APART, align

    if sides is None and links is None:
        return None
    if sides is None:
        raise ConfigError("--links needs a bitext: give both of its sides, --bitext SOURCE TARGET")
    pairs = list(read_bitext(*sides, encoding=encoding))
    one, two = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = align(one, two, "intersection", settings=APART, threshold=threshold) if links is None else read_links(links)
    return Bitext(one, two, found)


def _figures(found: WordClusters) -> dict[str, Any]:
    return {
        "words": len(found.words),
        "clusters": len(found.path_of),
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
    """The words of every sentence; a segmenter, or rules, split documents that have only text.

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
