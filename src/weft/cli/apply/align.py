"""`weft align SOURCE [TARGET]`: link the words of sentence pairs that are translations of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, counted, print_json, print_table, settings, short_path
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.bitext.align import Aligner
    from weft.text.bitext import Links

_CHOICES = "forward, backward, intersection, union, grow-diag, grow-diag-final, grow-diag-final-and or posterior"


def align(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Words of a sentence a line, a corpus, or source ||| target lines.")
    ],
    target: Annotated[
        Path | None, typer.Argument(metavar="TARGET", help="The translations, sentence by sentence.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the links are written.")] = "-",
    symmetrize: Annotated[
        str, typer.Option("--symmetrize", metavar="WAY", help=f"How links are chosen: {_CHOICES}.")
    ] = ("grow-diag-final-and"),
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Keep links with at least this score.", show_default="none")
    ] = None,
    combine: Annotated[
        str, typer.Option("--combine", metavar="HOW", help="Score of a link: min, product or mean of both directions.")
    ] = "min",
    posteriors: Annotated[bool, typer.Option("--posteriors", help="Write links as i-j:score.")] = False,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="Align with this aligner; learn nothing.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Keep the aligner that is learned.")
    ] = None,
    links: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--links", metavar="FORWARD BACKWARD", help="Symmetrize these links of another aligner; learn nothing."
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="Score the links by gold ones: i-j sure, ipj possible."),
    ] = None,
    first: Annotated[
        int, typer.Option("--first", help="The number of the first word in gold links.", min=0, max=1)
    ] = 0,
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="How to learn: model1_rounds, hmm_rounds, alpha, jump_pseudo, p_null, agreement.",
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Link the words of sentence pairs that are translations of each other; write i-j lines (Pharaoh format).

    Without --model, an aligner is first learned from the sentence pairs: IBM model 1, then an HMM, in both directions.
    Learning draws nothing by chance: the same files give the same links.
    """
    from weft.formats.bitext import read_bitext
    from weft.formats.pharaoh import write_links

    if model is not None and (save is not None or chosen):
        raise ConfigError("--save and --set are for learning, --model for aligning with what was learned; give one")
    if links is not None and (model is not None or save is not None or chosen or threshold is not None):
        raise ConfigError(
            "--links are symmetrized as they are; --model, --save, --set and --threshold do not go with it"
        )
    facts: dict[str, Any] = {}
    if links is not None:
        batches = _symmetrized(*links, symmetrize)
    elif model is not None:
        from weft.tasks.bitext.align import Aligner

        aligner = Aligner.load(model)
        batches = aligner.stream(
            read_bitext(source, target, encoding=encoding), symmetrize, threshold=threshold, combine=combine
        )
    else:
        pairs = list(read_bitext(source, target, encoding=encoding))
        aligner, facts = _learned(pairs, settings(chosen or []))
        if save is not None:
            aligner.save(save)
            facts["model"] = short_path(save).as_posix()
        batches = aligner.stream(pairs, symmetrize, threshold=threshold, combine=combine)
    kept: list[Links] = []
    counts = {"pairs": 0, "links": 0}
    show_links = as_json and out == "-"
    passing = _counting(batches, counts, kept if show_links or gold is not None else None)
    if show_links:
        for _ in passing:
            pass
    else:
        write_links(passing, out, scores=posteriors)
    facts = {**counts, **facts, "symmetrize": symmetrize}
    if out != "-":
        facts["file"] = out
    if gold is not None:
        facts["scores"] = _scores(kept, gold, first)
    if as_json:
        if show_links:
            facts["links"] = [link for batch in kept for link in _rows(batch)]
        if show_links or out != "-":
            print_json(facts)
    elif out != "-":
        _show(facts)
    elif gold is not None:
        typer.echo("  ".join(f"{name} {value:.4g}" for name, value in facts["scores"].items()), err=True)


def _learned(pairs: list[tuple[list[str], list[str]]], options: dict[str, Any]) -> tuple[Aligner, dict[str, Any]]:
    """An aligner learned from sentence pairs, and how it went."""
    from weft.learn.bitext.word_alignment import AlignmentSettings
    from weft.tasks.bitext.align import Aligner

    lower = bool(options.pop("lower", True))
    try:
        chosen = AlignmentSettings(**options)
    except TypeError:
        known = ", ".join([*AlignmentSettings.__dataclass_fields__, "lower"])
        raise ConfigError(f"an aligner has no such setting: {', '.join(options)}; it has {known}") from None
    aligner = Aligner(chosen, lower=lower)
    facts = aligner.fit([source for source, _ in pairs], [target for _, target in pairs])
    facts.pop("pairs")
    return aligner, facts


def _symmetrized(forward: Path, backward: Path, method: str) -> Iterator[Links]:
    from weft.formats.pharaoh import read_links
    from weft.tasks.bitext.symmetrize import symmetrize

    yield symmetrize(read_links(forward), read_links(backward), method)


def _counting(batches: Iterable[Links], counts: dict[str, int], kept: list[Links] | None) -> Iterator[Links]:
    for batch in batches:
        counts["pairs"] += batch.n_pairs
        counts["links"] += len(batch)
        if kept is not None:
            kept.append(batch)
        yield batch


def _scores(kept: list[Links], gold: Path, first: int) -> dict[str, Any]:
    """The links against gold ones; where there are fewer of these, they belong to the first sentence pairs."""
    from weft.evaluate.labels.word_alignment import score_alignment
    from weft.formats.pharaoh import read_gold_links
    from weft.text.bitext import Links

    sure, possible = read_gold_links(gold, first=first)
    found = Links.joined(kept)
    if found.n_pairs < sure.n_pairs:
        raise ConfigError(f"{gold} holds links of {sure.n_pairs:,} sentence pairs; only {found.n_pairs:,} were aligned")
    score = score_alignment(found.take(0, sure.n_pairs), sure, possible)
    low, high = score.interval()
    return {**score.figures(), "aer low": low, "aer high": high}


def _rows(links: Links) -> Iterator[list[list[float]]]:
    scores = iter(links.score.tolist())
    for pair in links:
        yield [[i, j, round(next(scores), 6)] for i, j in pair]


def _show(facts: dict[str, Any]) -> None:
    rows = [[name, f"{value:,}" if isinstance(value, int) else str(value)]
            for name, value in facts.items() if not isinstance(value, dict)]  # fmt: skip
    rows += [[name, f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"]
             for name, value in facts.get("scores", {}).items()]  # fmt: skip
    print_table(f"{counted(facts['links'], 'link')}", ["", ""], rows, figures=[1])
