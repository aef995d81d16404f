"""`weft diagnose roles`: what share of sentences with exchanged roles an embedding tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, JsonFlag, Seed, counted, option, print_json, print_table
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.images.probe import Outcome, Pair

EXAMPLE = "weft diagnose roles --vectors vectors.parquet"
PairsFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PAIRS]", help="Anchor, sentence and sentence with exchanged roles per line; else our own."
    ),
]
Vectors = Annotated[
    Path | None,
    option(
        "--vectors", metavar="FILE", panel=DATA, help="Vectors of the sentences (and sentence anchors), by their text."
    ),
]
Model = Annotated[Path | None, option("--model", "-m", metavar="MODEL", help="Model to probe, of `weft train images`.")]
Images = Annotated[
    Path | None, option("--images", metavar="FILE", panel=DATA, help="Vectors of the images that anchors name.")
]
Write = Annotated[
    Path | None,
    option("--write", metavar="FILE", help="Write the pairs (.tsv), or sentences to embed (.txt), and stop."),
]
Count = Annotated[int, option("--count", min=1, help="How many pairs to make.")]
Parser = Annotated[str, option("--parser", metavar="MODEL", help="Model that parses sentences for --model.")]


def roles(
    pairs: PairsFile = None, vectors: Vectors = None, model: Model = None, images: Images = None, write: Write = None,
    count: Count = 200, parser: Parser = "en", seed: Seed = 0, as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Tell whether an embedding knows who does what to whom: *a man bites a dog* against *a dog bites a man*.

    Without PAIRS, sentences are made, and their passives are the anchors; write them with --write, embed them with any
    model, and give the vectors. A bag of words gets exactly half of the pairs right.
    """
    from weft.tasks.images.probe import read_pairs, standard_pairs

    own = read_pairs(pairs) if pairs is not None else standard_pairs(count, seed)
    if write is not None:
        _write(own, write)
        return
    if (vectors is None) == (model is None):
        raise ConfigError("give the embedding: --vectors FILE or --model MODEL (--write FILE writes what to embed)")
    if images is not None and model is None:
        raise ConfigError("--images needs the --model that maps them to sentences")
    outcome = _of_vectors(own, vectors) if vectors is not None else _of_model(own, model or Path(), images, parser)
    same = sum(pair.same_words for pair in own)
    low, high = outcome.interval
    report = {
        "pairs": outcome.pairs, "right": outcome.right, "ties": outcome.ties, "share": round(outcome.share, 4),
        "interval": [round(low, 4), round(high, 4)], "differ in order only": same,
    }  # fmt: skip
    if as_json:
        print_json(report)
        return
    rows = [
        ["pairs", f"{outcome.pairs:,}"], ["right", f"{outcome.right:,}"],
        ["ties, which count one half", f"{outcome.ties:,}"],
        ["share that is right", f"{100 * outcome.share:.1f} %"],
        ["95 % interval", f"{100 * low:.1f} - {100 * high:.1f} %"],
        ["pairs that differ in order only", f"{same:,}"],
    ]  # fmt: skip
    print_table("Exchanged roles", ["", ""], rows, figures=(1,))
    if low <= 0.5:
        worse = "Worse than chance: this embedding takes roles the wrong way round."
        typer.echo("No better than a bag of words, which gets half of the pairs right." if high >= 0.5 else worse)


def _write(pairs: Sequence[Pair], path: Path) -> None:
    from weft.formats.streams import open_output

    if path.suffix == ".tsv":
        lines = ["\t".join(pair) for pair in pairs]
    elif path.suffix == ".txt":
        lines = list(dict.fromkeys(text for pair in pairs for text in pair))
    else:
        raise ConfigError(f"pairs are written to .tsv, sentences to .txt, not to {path}")
    with open_output(str(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())
    typer.echo(f"{counted(len(lines), 'line')} in {path}", err=True)


def _of_vectors(pairs: Sequence[Pair], path: Path) -> Outcome:
    """The cosine of any embedding."""
    import numpy as np

    from weft.tasks.images.probe import Outcome
    from weft.tasks.images.vectors import read_image_vectors

    found = read_image_vectors(path)
    anchors, meant, swapped = (_unit(found.rows([pair[k] for pair in pairs])) for k in range(3))
    scores = [np.round((anchors * other).sum(axis=1), 12) for other in (meant, swapped)]
    return Outcome.of(*scores)


def _of_model(pairs: Sequence[Pair], model: Path, images: Path | None, parser: str) -> Outcome:
    """The inner product of a model of ours, with images or with sentences as anchors."""
    import weft
    from weft.tasks.images.finder import ImageFinder
    from weft.tasks.images.probe import Outcome
    from weft.tasks.images.vectors import read_image_vectors

    finder = next((each for each in weft.load(str(model)).components if isinstance(each, ImageFinder)), None)
    if finder is None:
        raise ConfigError(f"{model} is no model of weft train images")
    nlp = weft.load(parser)
    meant, swapped = (finder.sentence_vectors(list(nlp.pipe(pair[k] for pair in pairs))) for k in (1, 2))
    if images is not None:
        anchors = finder.image_vectors(read_image_vectors(images).rows([pair.anchor for pair in pairs]))
    else:
        anchors = _unit(finder.sentence_vectors(list(nlp.pipe(pair.anchor for pair in pairs))))
        meant, swapped = _unit(meant), _unit(swapped)
    return Outcome.of((anchors * meant).sum(axis=1), (anchors * swapped).sum(axis=1))


def _unit(rows: Any) -> Any:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
