"""`weft search`: images by sentences, vectors or other images; sentences by images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, RUNNING, JsonFlag, option, print_json, print_table
from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.tasks.images.collection import Hit

Images = Annotated[Path, typer.Argument(metavar="IMAGES", help="Vectors of images: .parquet, .npy or text.")]
Queries = Annotated[list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Sentences to search by.")]
Model = Annotated[
    Path | None,
    option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Model to apply, of `weft train images`.",
        shown="the one that IMAGES names",
    ),
]
Describe = Annotated[
    str, option("--describe", metavar="IMAGE", help="Rank sentences that describe an image.", shown="")
]
Captions = Annotated[
    Path | None, option("--captions", metavar="FILE", panel=DATA, help="Sentences for --describe, as for training.")
]
Like = Annotated[str, option("--like", metavar="IMAGE", help="Find the images nearest to one of them.", shown="")]
Vector = Annotated[
    Path | None,
    option(
        "--vector", metavar="FILE.npy", panel=DATA, help="Search by vectors of the images' own space, such as CLIP's."
    ),
]
Parser = Annotated[str, option("--parser", metavar="MODEL", help="Model that parses sentences.")]
Count = Annotated[int, option("--count", min=1, help="How many to show.")]
Approximate = Annotated[bool, option("--approximate", panel=RUNNING, help="Search by hnswlib, for millions of images.")]


def search(
    images: Images, sentence: Queries = None, model: Model = None, describe: Describe = "", captions: Captions = None,
    like: Like = "", vector: Vector = None, count: Count = 10, parser: Parser = "en", approximate: Approximate = False,
    as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Find images by sentences, and sentences that describe an image.

    IMAGES are the index that `weft train images --index` wrote, or vectors of any model with --model.
    """
    from weft.tasks.images.captions import read_captions
    from weft.tasks.images.collection import Collection

    asked = [bool(sentence), bool(describe), bool(like), vector is not None]
    if sum(asked) != 1:
        raise ConfigError("give sentences to search by, or one of --describe, --like and --vector")
    if describe and captions is None:
        raise ConfigError("--describe ranks the sentences of a file: --captions captions.tsv")
    if captions is not None and not describe:
        raise ConfigError("--captions belongs to --describe")
    collection = Collection.open(images, model, parser, approximate, text=bool(sentence or describe))
    found: dict[str, list[Hit]] = {}
    if describe:
        found[describe] = collection.describe(describe, read_captions(captions or ""), count)
    elif like:
        found[like] = collection.like(like, count)
    elif vector is not None:
        found = {f"vector {number}": collection.find_vector(row, count) for number, row in enumerate(_rows(vector), 1)}
    else:
        found = {text: collection.find(text, count) for text in sentence or []}
    if as_json:
        print_json([{"query": query, "hits": [hit.as_dict() for hit in hits]} for query, hits in found.items()])
        return
    for query, hits in found.items():
        _show(query, hits)


def _show(query: str, hits: list[Hit]) -> None:
    texts, paths = any(hit.text for hit in hits), any(hit.path for hit in hits)
    header = ["rank", "image", "score", *(["sentence"] if texts else []), *(["picture"] if paths else [])]
    rows = [
        [str(hit.rank), hit.image, f"{hit.score:.3f}", *([hit.text] if texts else []), *([hit.path] if paths else [])]
        for hit in hits
    ]
    print_table(query, header, rows, figures=(0, 2))


def _rows(path: Path) -> Any:
    """The vectors of a NumPy file, one or several."""
    import numpy as np

    try:
        rows = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is not a NumPy array: {error}") from None
    if rows.ndim not in (1, 2) or rows.dtype.kind not in "fiu" or not rows.size:
        raise DataError(f"{path} must hold one vector, or a matrix with one per row; found the shape {rows.shape}")
    return np.atleast_2d(rows)
