"""`weft draw FILE --out PICTURE`: dependency trees as SVG pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import counted
from weft.cli.inputs import Encoding, FromFormat, open_inputs
from weft.errors import ConfigError, DataError


def draw(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File with trees, such as CoNLL-U.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PATH", help="An .svg file for one sentence, else a folder.")
    ],
    sentence: Annotated[
        int | None,
        typer.Option("--sentence", "-n", min=1, help="Number of the sentence to draw.", show_default="all of them"),
    ] = None,
    from_format: FromFormat = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Draw dependency trees: one SVG file a sentence."""
    from weft.text.drawing import draw_tree

    single = out.suffix == ".svg"
    if single and sentence is None:
        raise ConfigError(f"{out} is one picture: say which sentence it shows, as in --sentence 1, or name a folder")
    source = open_inputs([file], from_format, False, None, encoding)
    drawn = number = 0
    for doc in source.docs:
        for each in doc.sentences:
            number += 1
            if sentence is not None and number != sentence:
                continue
            if doc.head is None:
                raise DataError(f"{file} has no trees to draw; parse it first with `weft annotate`")
            place = out if single else out / f"{number:04d}.svg"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(draw_tree(each), encoding="utf-8")
            drawn += 1
    if not drawn:
        raise DataError(f"there is no sentence {sentence} in {file}; it has {counted(number, 'sentence')}")
    typer.echo(f"{counted(drawn, 'picture')} in {out}")
