"""Utterances of sounds: read, written and scored by `weft train segmenter` and `weft annotate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.evaluate.labels.segmentation import SegmentationReport
    from weft.formats.phonemes import Utterance


def read_files(files: Sequence[Path], style: str) -> list[Utterance]:
    """The utterances of files, in order."""
    from weft.formats.phonemes import read_utterances

    found = [utterance for path in files for utterance in read_utterances(path, style)]
    if not found:
        raise DataError(f"there are no utterances in {', '.join(map(str, files))}")
    return found


def plain_utterances(utterances: Sequence[Utterance], stressed: bool) -> list[Utterance]:
    """Remove stress marks from utterances if the grammar has none."""
    from weft.formats.phonemes import STRESS

    if stressed:
        return list(utterances)
    kept = [[[sound for sound in word if sound != STRESS] for word in utterance] for utterance in utterances]
    if not all(all(utterance) for utterance in kept):
        raise ConfigError("an utterance has a word that consists of a stress mark only")
    return kept


def write_utterances(utterances: Sequence[Utterance], path: Path | str) -> None:
    """Write utterances, one per line; `-` is standard output."""
    from weft.formats.phonemes import format_sounds
    from weft.formats.streams import open_output

    with open_output(str(path)) as file:
        file.writelines(f"{format_sounds(utterance)}\n".encode() for utterance in utterances)


def scores_of(gold: Sequence[Utterance], found: Sequence[Utterance]) -> SegmentationReport | None:
    """Scores, if the utterances have gold boundaries."""
    from weft.evaluate.labels.segmentation import score_segmentation

    return score_segmentation(gold, found) if any(len(utterance) > 1 for utterance in gold) else None


def table_rows(report: dict[str, Any]) -> list[list[str]]:
    """A report on words as rows of a table."""
    rows = []
    for name, value in report.items():
        if name == "scores":
            rows += [[f"{kind} F1", f"{100 * score['f1']:.2f}"] for kind, score in value.items()]
        elif name == "stress patterns":
            rows += [[f"stress {kind}", f"{100 * share:.1f} %"] for kind, share in value.items()]
        elif name == "log joint":
            rows.append([name, " ".join(f"{one:,.0f}" for one in value)])
        elif isinstance(value, list):
            rows.append([name, ", ".join(value)])
        else:
            rows.append([name, f"{value:.3f}" if isinstance(value, float) else f"{value:,}"])
    return rows
