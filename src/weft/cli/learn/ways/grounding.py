"""`weft train grounding CLIPS --sentences FILE`: what words mean in videos, from clips and sentences about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import print_json, print_table
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.grounding import Grounder


def train(training: Training) -> None:
    """Read clips and sentences, learn the words, and show what nouns mean."""
    from weft.formats.detections import read_mot
    from weft.pipeline.registry import check_place, keep, new_component
    from weft.tasks.grounding.clips import Clip, clip_files, read_clip

    sentences: list[Path] = training.data["sentences"] or []
    if not sentences:
        raise ConfigError("give the sentences about the clips: --sentences FILE, a clip, a tab and a sentence per line")
    check_place(training.out)
    component: Any = new_component(training.task, training.options, training.method)
    settings = component.settings
    files = [file for path in training.files for file in clip_files(path) if file not in sentences]
    names = sorted({kind for file in files for kind in read_mot(file).kinds})
    clips: dict[str, Clip] = {}
    for file in files:
        if file.stem in clips:
            raise ConfigError(f"two clips have the name {file.stem}: {file} and one before it")
        clips[file.stem] = read_clip(file, settings.detections, settings.per_kind, names)
    pairs = [pair for path in sentences for pair in _pairs(path, component, clips)]
    client = None
    if training.data["scheduler"]:
        from weft.scale.cluster import connected_client

        client = connected_client(training.data["scheduler"])
    try:
        report = component.learn(clips, pairs, client=client)
    finally:
        if client is not None:
            client.close()
    keep(component, report, training.out, **training.card([*training.files, *sentences]))
    if training.as_json:
        print_json(report)
        return
    rows = [[f"{part}: {name}", value] for part in ("training", "scores") for name, value in report[part].items()]
    print_table("Trained grounding", ["", ""], [*rows, ["model", report["model"]]], figures=[1])
    nouns = [[word, *meaning.rsplit(" ", 1)] for word, meaning in report["words"].items()]
    print_table("What nouns mean", ["noun", "kind of detection", "share"], nouns, figures=[2])


def _pairs(path: Path, component: Grounder, clips: dict[str, Any]) -> list[tuple[str, str]]:
    """The sentences, checked line by line."""
    from weft.errors import DataError, did_you_mean
    from weft.tasks.grounding.sentences import read_sentences

    pairs = []
    for number, clip, sentence in read_sentences(path):
        if clip not in clips:
            raise DataError(f"{path}, line {number}: there is no clip {clip!r}; {did_you_mean(clip, clips, 'no file')}")
        try:
            component.grammar.parse(sentence)
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
        pairs.append((clip, sentence))
    return pairs
