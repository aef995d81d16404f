"""`weft annotate FILE --model WORDS --style sounds`: segment utterances into words with an adaptor grammar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli.common import print_json, print_table
from weft.cli.utterances import plain_utterances, read_files, scores_of, table_rows, write_utterances
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.cli.apply.annotate import Output


def cut(files: Sequence[Path], model: Sequence[Path], style: str, best: bool, seed: int, output: Output) -> None:
    """Segment new utterances into words; the model is not trained further."""
    from weft.formats.phonemes import format_sounds, sounds_of
    from weft.tasks.segmentation.induce_words import WordModel, has_stress

    if len(model) != 1:
        raise ConfigError("utterances need one model of `weft train segmenter --method adaptor`: --model MODEL")
    learned = WordModel.load(model[0])
    gold = plain_utterances(read_files(files, style), has_stress(learned.grammar))
    found = learned.segment([sounds_of(utterance) for utterance in gold], best, seed)
    scores = scores_of(gold, found)
    if output.path is not None or not output.as_json:
        write_utterances(found, output.path or "-")
    if output.as_json:
        lines = [format_sounds(utterance) for utterance in found]
        print_json({"utterances": lines, "scores": None if scores is None else scores.as_dict()})
    elif output.path is not None and scores is not None:
        print_table("Words", ["", ""], table_rows({"utterances": len(gold), "scores": scores.as_dict()}), figures=[1])
