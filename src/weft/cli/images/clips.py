"""`weft search --clips FOLDER SENTENCE`: the clips that a sentence fits, or what a clip shows, with tracks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, counted, known_models, option, print_json, print_table
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.grounding import Clip, Grounder

Sentence = Annotated[str | None, typer.Argument(metavar="[SENTENCE]", help="A sentence; none: describe the clips.")]
ClipFolder = Annotated[
    Path, option("--clips", metavar="PATH", help="A folder of files of detections (MOT format), or one such file.")
]
Model = Annotated[
    Path, option("--model", "-m", metavar="MODEL", help="Model of `weft train grounding`.", autocompletion=known_models)
]
Count = Annotated[int, option("--count", min=1, help="Clips, or sentences per clip, to show.")]
Out = Annotated[
    Path | None,
    option("--out", "-o", metavar="PATH", help="Draw the tracks: .svg for the best clip, or a folder for all shown."),
]
Frames = Annotated[int, option("--frames", metavar="N", min=1, help="Frames to draw.")]


def command(words: Sequence[str]) -> Callable[..., None]:
    """The command."""
    return search_clips


def search_clips(
    sentence: Sentence = None,
    clips: ClipFolder = Path(),
    model: Model = Path(),
    count: Count = 5,
    out: Out = None,
    frames: Frames = 6,
    as_json: JsonFlag = False,
) -> None:
    """Rank clips by how well a sentence fits, and draw who takes part; without a sentence, describe the clips."""
    from weft.tasks.grounding import Grounder, read_clips

    if not model.name:
        raise ConfigError("give the model: --model clips.weft, from `weft train grounding`")
    grounder = Grounder.load(model)
    settings = grounder.settings
    read = read_clips(clips, settings.detections, settings.per_kind, grounder.kinds)
    if sentence is None:
        _describe(grounder, read, count, as_json)
        return
    found = grounder.search(read.values(), sentence)[:count]
    drawn = {} if out is None else _draw(grounder, [clip for _, clip in found], sentence, out, frames)
    fits = {clip.name: grounder.threshold is not None and score >= grounder.threshold for score, clip in found}
    if as_json:
        print_json(
            {
                "sentence": sentence, "threshold": grounder.threshold,
                "clips": [
                    {"clip": clip.name, "score": score, "fits": fits[clip.name], "picture": drawn.get(clip.name)}
                    for score, clip in found
                ],
            }
        )  # fmt: skip
        return
    rows: list[list[Any]] = [[clip.name, f"{score:.2f}", "yes" if fits[clip.name] else "no"] for score, clip in found]
    print_table("Clips, the best first", ["clip", "score", "fits"], rows, figures=[1])
    if drawn:
        typer.echo(f"{counted(len(drawn), 'picture')} in {out}")


def _describe(grounder: Grounder, clips: dict[str, Clip], count: int, as_json: bool) -> None:
    rows = {name: grounder.describe(clip, count) for name, clip in clips.items()}
    if as_json:
        print_json({name: [{"sentence": text, "score": score} for score, text in own] for name, own in rows.items()})
        return
    table = [[name, text, f"{score:.2f}"] for name, own in rows.items() for score, text in own]
    print_table("Descriptions", ["clip", "sentence", "score"], table, figures=[2])


def _draw(grounder: Grounder, clips: Sequence[Clip], sentence: str, out: Path, count: int) -> dict[str, str]:
    """Pictures of the tracks in the best clip, or in all."""
    import numpy as np

    from weft.pictures.tracks import draw_tracks

    single = out.suffix == ".svg"
    (out.parent if single else out).mkdir(parents=True, exist_ok=True)
    places = {}
    for clip in clips[:1] if single else clips:
        tracks = grounder.tracks(clip, sentence)
        shown = np.unique(np.linspace(0, clip.frames - 1, min(count, clip.frames)).round().astype(int)).tolist()
        picture = draw_tracks(f"{sentence} ({clip.name})", tracks.names, tracks.boxes, shown, clip.boxes, clip.first)
        place = out if single else out / f"{clip.name}.svg"
        place.write_text(picture, encoding="utf-8")
        places[clip.name] = str(place)
    return places
