"""`weft align SOURCE [TARGET]`: link the words of sentence pairs that are translations of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, Aligner, JsonFlag, counted, option, print_json, print_table, short_path
from weft.cli.generated import with_settings
from weft.cli.inputs import Encoding
from weft.errors import ConfigError
from weft.pipeline.settings import Option

if TYPE_CHECKING:
    from weft.text.bitext import Links

_CHOICES = "forward, backward, intersection, union, grow-diag, grow-diag-final, grow-diag-final-and or posterior"


First = Annotated[int, option("--first", help="Number of the first word in gold links.", min=0, max=1)]
Target = Annotated[Path | None, typer.Argument(metavar="TARGET", help="The translations, sentence by sentence.")]
SameLanguage = Annotated[
    bool,
    option(
        "--same-language",
        help="Both files are of one language; compare them line by line. "
        "`weft align --same-language --help` shows the options.",
    ),
]

#: Help of the settings of an aligner.
_HELP = {
    "model1_iterations": "Iterations of IBM model 1.",
    "hmm_iterations": "Iterations of the HMM.",
    "alpha": "Parameter of the Dirichlet prior of translations; 0 sets none.",
    "jump_pseudo": "Count added to every jump.",
    "p_null": "Probability of a word without a link.",
    "agreement": "Train both directions together, which makes fewer errors; separate directions give surer links.",
    "lower": "Ignore letter case.",
    "method": "Model: hmm, or one with fertilities that starts from it; -nd: not deficient.",
    "ibm3_iterations": "Iterations of IBM-3.",
    "ibm4_iterations": "Iterations of IBM-4 or IBM-5.",
    "classes": "Word classes of IBM-4 and IBM-5.",
    "fertility_pseudo": "Count of the mean fertilities added to those of every word.",
    "placement_pseudo": "Count of the mean displacements added to those of every class.",
    "placement": "How displacements are learned: by minorization or by projected gradients.",
}
_FLAGS = {"classes": "--word-classes"}
_FERTILITY = ("ibm3_iterations", "ibm4_iterations", "classes", "fertility_pseudo", "placement_pseudo", "placement")


def settings_options() -> list[Option]:
    """The settings of an aligner as options."""
    from weft.learn.bitext.fertility import STAGES, FertilitySettings
    from weft.learn.bitext.word_alignment import AlignmentSettings

    choices = {"method": ("hmm", *STAGES), "placement": ("minorize", "gradient")}
    defaults: dict[str, Any] = {"method": "hmm"}
    defaults |= {each.name: each.default for each in fields(AlignmentSettings)} | {"lower": True}
    defaults |= {each.name: each.default for each in fields(FertilitySettings) if each.name in _FERTILITY}
    return [
        Option(
            name,
            _FLAGS.get(name, f"--{name.replace('_', '-')}"),
            type(default),
            default,
            _HELP[name],
            choices.get(name, ()),
        )
        for name, default in defaults.items()
    ]


def align_files(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="A sentence per line, a corpus, or lines of source ||| target."),
    ],
    target: Target = None,
    out: Annotated[str, option("--out", "-o", metavar="FILE", help="File to write the links to.")] = "-",
    symmetrize: Annotated[
        str, option("--symmetrize", metavar="NAME", help=f"How links are chosen: {_CHOICES}.")
    ] = "grow-diag-final-and",
    threshold: Annotated[
        float | None, option("--threshold", help="Leave out links with a lower score.", shown="none")
    ] = None,
    combine: Annotated[
        str, option("--combine", metavar="min|product|mean", help="Score of a link, from those of both directions.")
    ] = "min",
    posteriors: Annotated[bool, option("--posteriors", help="Write links as i-j:score.")] = False,
    aligner: Aligner = None,
    save: Annotated[Path | None, option("--save", metavar="FILE", help="Save the trained aligner.")] = None,
    links: Annotated[
        tuple[Path, Path] | None,
        option(
            "--links",
            metavar="FORWARD BACKWARD",
            panel=DATA,
            help="Word links i-j of another aligner, to symmetrize; nothing is trained.",
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        option("--gold", metavar="FILE", panel=DATA, help="Gold links to score on: i-j sure, ipj possible."),
    ] = None,
    same_language: SameLanguage = False,
    first: First = 0,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
    settings: dict[str, Any] | None = None,
) -> None:
    """Link the words of sentence pairs that are translations of each other; write i-j lines (Pharaoh format).

    Without --aligner, one is trained on the sentence pairs: IBM model 1, then an HMM, in both directions, and with
    --method a model with fertilities from there. Training draws nothing at random: the same files give the same links.
    Example: weft align text.en text.fr --method ibm4-nd --out links --save en-fr.weft
    """
    _check(aligner, save, links, threshold, settings)
    facts: dict[str, Any] = {}
    if links is not None:
        batches = _symmetrized(*links, symmetrize)
    else:
        used, pairs, facts = _aligner(source, target, encoding, aligner, save, settings or {})
        batches = used.stream(pairs, symmetrize, threshold=threshold, combine=combine)
    kept: list[Links] = []
    counts = {"pairs": 0, "links": 0}
    show_links = as_json and out == "-"
    passing = _counting(batches, counts, kept if show_links or gold is not None else None)
    _write(passing, None if show_links else out, posteriors)
    facts = {**counts, **facts, "symmetrize": symmetrize} | ({} if out == "-" else {"file": out})
    if gold is not None:
        facts["scores"] = _scores(kept, gold, first)
    _tell(facts, kept, out, as_json)


align = with_settings(align_files, settings_options())


def _check(
    aligner: Path | None, save: Path | None, links: object, threshold: float | None, settings: dict[str, Any] | None
) -> None:
    """Raise an error for options that cannot be combined."""
    if aligner is not None and (save is not None or settings):
        raise ConfigError("--aligner is already trained; leave out --save and the settings of training, or --aligner")
    if links is not None and (aligner is not None or save is not None or settings or threshold is not None):
        raise ConfigError(
            "--links are only symmetrized; leave out --aligner, --save, --threshold and settings of training"
        )


def _aligner(
    source: Path, target: Path | None, encoding: str, aligner: Path | None, save: Path | None, settings: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """An aligner from a file, or trained on the sentence pairs; the pairs; and the training report."""
    from weft.formats.bitext import read_bitext
    from weft.learn.bitext.fertility import FertilitySettings
    from weft.learn.bitext.word_alignment import AlignmentSettings
    from weft.tasks.bitext import align as tasks

    read = read_bitext(source, target, encoding=encoding)
    if aligner is not None:
        return tasks.Aligner.load(aligner), read, {}
    pairs, lower = list(read), settings.pop("lower", True)
    method = settings.pop("method", "hmm")
    given = {name: settings.pop(name) for name in _FERTILITY if name in settings}
    fertility = FertilitySettings(**given) if given or method != "hmm" else None
    trained = tasks.Aligner(AlignmentSettings(**settings), lower=lower, method=method, fertility=fertility)
    facts = trained.fit([one for one, _ in pairs], [other for _, other in pairs])
    facts.pop("pairs")
    if save is not None:
        trained.save(save)
        facts["model"] = short_path(save).as_posix()
    return trained, pairs, facts


def _write(passing: Iterable[Links], out: str | None, scores: bool) -> None:
    """Write links, or only consume them."""
    from weft.formats.pharaoh import write_links

    if out is None:
        for _ in passing:
            pass
    else:
        write_links(passing, out, scores=scores)


def _tell(facts: dict[str, Any], kept: list[Links], out: str, as_json: bool) -> None:
    """Print a summary, unless it would mix with the links themselves."""
    if as_json:
        if out == "-":
            facts["links"] = [link for batch in kept for link in _rows(batch)]
        print_json(facts)
    elif out != "-":
        _show(facts)
    elif "scores" in facts:
        typer.echo("  ".join(f"{name} {value:.4g}" for name, value in facts["scores"].items()), err=True)


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
    """Score links against gold links; if these are fewer, they belong to the first sentence pairs."""
    from weft.evaluate.labels.word_alignment import score_alignment
    from weft.formats.pharaoh import read_gold_links
    from weft.text.bitext import Links

    sure, possible = read_gold_links(gold, first=first)
    found = Links.joined(kept)
    if found.n_pairs < sure.n_pairs:
        raise ConfigError(f"{gold} has links for {sure.n_pairs:,} sentence pairs; only {found.n_pairs:,} were aligned")
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
