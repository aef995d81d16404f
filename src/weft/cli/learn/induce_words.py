"""`weft induce words` and `weft induce segment`: words learnt from utterances without boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, print_json, print_table
from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.evaluate.labels.segmentation import SegmentationReport
    from weft.formats.phonemes import Utterance

WORDS_EXAMPLE = (
    "Example: weft induce words examples/induction/nursery.sounds --out words.weft --iterations 60 --chains 2"
)
SEGMENT_EXAMPLE = "Example: weft induce segment words.weft examples/induction/nursery-unseen.sounds"

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Utterances, one a line; boundaries in them are for scoring only."),
]
Style = Annotated[
    str,
    typer.Option(
        "--style",
        metavar="sounds|syllables|letters",
        help="How they are written: d ao * g iy | s ae * t, D.AO1|G.IY0 S.AE1.T, or dOgi s&t.",
    ),
]


def words(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where the model is written.")],
    grammar: Annotated[
        str,
        typer.Option(
            "--grammar", metavar="NAME|FILE", help="A grammar file, or colloc, colloc3-{nophon,phon}[-stress[-usc]]."
        ),
    ] = "colloc3-phon-stress",
    unit: Annotated[str, typer.Option("--unit", metavar="SYMBOL", help="The symbol whose strings are words.")] = "Word",
    style: Style = "sounds",
    vowels: Annotated[
        str | None, typer.Option("--vowels", metavar="SOUNDS", help="Vowels by blanks.", show_default="of the ARPABET")
    ] = None,
    iterations: Annotated[int, typer.Option("--iterations", help="Rounds over the utterances.", min=1)] = 1000,
    samples: Annotated[int, typer.Option("--samples", help="Samples of a chain, from the last fifth.", min=1)] = 20,
    chains: Annotated[int, typer.Option("--chains", help="Chains with seeds of their own.", min=1)] = 4,
    relabel_every: Annotated[
        int, typer.Option("--relabel-every", help="Rounds between new analyses of remembered words; 0: never.", min=0)
    ] = 1,
    checkpoints: Annotated[
        Path | None,
        typer.Option("--checkpoints", metavar="FOLDER", help="Where chains save themselves, to go on later."),
    ] = None,
    segmented: Annotated[
        Path | None, typer.Option("--segmented", metavar="FILE", help="Write the utterances with the words found.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw the log-probability of every chain.")
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Learn words from utterances without boundaries, by an adaptor grammar; chains run in `--workers` processes."""
    from weft.formats.phonemes import ARPABET_VOWELS, sounds_of
    from weft.learn.adaptor.grammar import AdaptorSettings
    from weft.learn.adaptor.mcmc import Schedule
    from weft.tasks.segmentation.induce_words import WordSettings, find_grammar, has_stress, learn_words

    chosen = tuple(vowels.split()) if vowels is not None else ARPABET_VOWELS
    said = _read(files, style)
    stressed = has_stress(find_grammar(grammar, [sounds_of(utterance) for utterance in said], chosen))
    gold = _plain(said, stressed)
    settings = WordSettings(
        grammar=grammar,
        unit=unit,
        vowels=chosen,
        chains=chains,
        schedule=Schedule.of(iterations, samples),
        sampler=AdaptorSettings(relabel_every=relabel_every),
        seed=seed,
        workers=workers,
        checkpoints=None if checkpoints is None else str(checkpoints),
    )
    model, run = learn_words([sounds_of(utterance) for utterance in gold], settings)
    model.save(out)
    found = model.training_words()
    if segmented is not None:
        _write(found, segmented)
    if plot is not None:
        from weft.pictures import draw_lines

        title = f"log joint, R-hat {run.r_hat('log joint'):.2f}"
        plot.write_text(draw_lines(title, "iteration", "log joint", run.lines("log joint")), encoding="utf-8")
    lexicon = model.lexicon()
    report: dict[str, Any] = {
        "utterances": len(gold),
        "chains": chains,
        "iterations": iterations,
        "log joint": [chain.trace[-1]["log joint"] for chain in run.chains],
        "R-hat": run.r_hat("log joint"),
        "accepted": sum(chain.trace[-1]["accepted"] for chain in run.chains) / chains,
        "distinct words": len({tuple(word) for utterance in found for word in utterance}),
        "most frequent": [" ".join(word) for word in list(lexicon)[:8]],
    }
    patterns = model.stress_patterns()
    if patterns:
        report["stress patterns"] = patterns
    scores = _scores(gold, found)
    if scores is not None:
        report["scores"] = scores.as_dict()
    if as_json:
        print_json(report)
    else:
        print_table("Words", ["", ""], _rows(report), figures=[1])


def segment(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `weft induce words`.")],
    files: Files,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where lines go.", show_default="standard output")
    ] = None,
    style: Style = "sounds",
    best: Annotated[bool, typer.Option("--best", help="Take the best parse of every sample, not one drawn.")] = False,
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Cut new utterances into words with what was learnt; nothing more is learnt from them."""
    import sys

    from weft.formats.phonemes import format_sounds, sounds_of
    from weft.tasks.segmentation.induce_words import WordModel, has_stress

    learnt = WordModel.load(model)
    gold = _plain(_read(files, style), has_stress(learnt.grammar))
    found = learnt.segment([sounds_of(utterance) for utterance in gold], best, seed)
    scores = _scores(gold, found)
    if out is not None:
        _write(found, out)
    if as_json:
        lines = [format_sounds(utterance) for utterance in found]
        print_json({"utterances": lines, "scores": None if scores is None else scores.as_dict()})
        return
    if out is None:
        sys.stdout.writelines(f"{format_sounds(utterance)}\n" for utterance in found)
    elif scores is not None:
        print_table("Words", ["", ""], _rows({"utterances": len(gold), "scores": scores.as_dict()}), figures=[1])


def _read(files: Sequence[Path], style: str) -> list[Utterance]:
    from weft.formats.phonemes import read_utterances

    found = [utterance for path in files for utterance in read_utterances(path, style)]
    if not found:
        raise DataError(f"there are no utterances in {', '.join(map(str, files))}")
    return found


def _plain(utterances: Sequence[Utterance], stressed: bool) -> list[Utterance]:
    """The utterances without marks of stress where the grammar has none."""
    from weft.formats.phonemes import STRESS

    if stressed:
        return list(utterances)
    kept = [[[sound for sound in word if sound != STRESS] for word in utterance] for utterance in utterances]
    if not all(all(utterance) for utterance in kept):
        raise ConfigError("an utterance has a word of nothing but a mark of stress")
    return kept


def _write(utterances: Sequence[Utterance], path: Path) -> None:
    from weft.formats.phonemes import format_sounds
    from weft.formats.streams import open_output

    with open_output(str(path)) as file:
        file.writelines(f"{format_sounds(utterance)}\n".encode() for utterance in utterances)


def _scores(gold: Sequence[Utterance], found: Sequence[Utterance]) -> SegmentationReport | None:
    """Scores where the utterances had boundaries."""
    from weft.evaluate.labels.segmentation import score_segmentation

    return score_segmentation(gold, found) if any(len(utterance) > 1 for utterance in gold) else None


def _rows(report: dict[str, Any]) -> list[list[str]]:
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
