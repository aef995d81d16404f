"""`weft align --same-language A B`: link words of one language that mean the same, and show what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, JsonFlag, Workers, console, counted, known_models, option, print_json
from weft.cli.generated import with_settings
from weft.cli.inputs import Encoding
from weft.errors import ConfigError
from weft.pipeline.settings import Option

if TYPE_CHECKING:
    from weft.tasks.similarity.aligner import Aligned
    from weft.tasks.similarity.compare import Compared

_HELP = {
    "ppdb": "Similarity of a pair of paraphrases.",
    "similarity_weight": "Weight of similarity beside context.",
    "window": "Words to each side that are context of a content word.",
    "reach": "The same for a function word.",
    "dependencies": "Use dependency trees.",
    "neighbours": "Use common sequences and neighbours in the text.",
    "functions": "Link function words.",
    "names": "Link parts of names and acronyms.",
}

Same = Annotated[bool, option("--same-language", help="Both files are of one language; compare them line by line.")]
Model = Annotated[
    str, option("--model", "-m", metavar="MODEL", help="Model to annotate with; none: split at spaces.",
                autocompletion=known_models)
]  # fmt: skip
Pairs = Annotated[
    Path | None,
    option("--paraphrases", metavar="FILE", panel=DATA, help="Pairs of words: tab-separated lines, PPDB, or .weft."),
]
Out = Annotated[
    str | None,
    option("--out", "-o", metavar="FILE", help="File to write: .jsonl, .tsv (similarities), .html, or links i-j."),
]


def command(words: Sequence[str]) -> Callable[..., None]:
    """The command, with the settings of the aligner as options."""
    return with_settings(align_texts, settings_options())


def settings_options() -> list[Option]:
    """The settings of the aligner as options."""
    from dataclasses import fields

    from weft.tasks.similarity.aligner import SimilaritySettings

    defaults = {each.name: each.default for each in fields(SimilaritySettings) if each.name in _HELP}
    return [
        Option(name, f"--{name.replace('_', '-')}", type(default), default, _HELP[name])
        for name, default in defaults.items()
    ]


def align_texts(
    source: Annotated[Path, typer.Argument(metavar="A", help="A text per line, or a corpus with words.")],
    target: Annotated[Path, typer.Argument(metavar="B", help="The texts to compare with, line by line.")],
    settings: dict[str, Any],
    same_language: Same = True,
    model: Model = "en",
    paraphrases: Pairs = None,
    out: Out = None,
    workers: Workers = 1,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Link the words of texts of one language that mean the same; show their similarity and what differs.

    Content words are linked by similarity and context, function words by what is linked around them, the same in both
    directions (Sultan, Bethard and Sumner 2014). Text is tagged and parsed by the model first; nothing is trained.
    """
    from weft.tasks.similarity.aligner import SimilaritySettings
    from weft.tasks.similarity.compare import compared, stream_texts

    batches = stream_texts(
        source, target, model=None if model == "none" else model, paraphrases=paraphrases,
        settings=SimilaritySettings(**settings), encoding=encoding, workers=workers,
    )  # fmt: skip
    if out is not None:
        facts = _written(batches, out)
        print_json(facts) if as_json else typer.echo(
            f"{counted(facts['pairs'], 'pair')}, {counted(facts['links'], 'link')}, mean similarity "
            f"{facts['similarity']:.3f}: {out}"
        )
        return
    pairs = (pair for batch in batches for pair in compared(batch))
    for pair in pairs:
        typer.echo(pair.to_json()) if as_json else _show(pair)


def _show(pair: Compared) -> None:
    """Both texts, with the words that correspond to nothing set off."""
    from rich.text import Text

    shown = Text(f"{pair.similarity:.2f}  ")
    for number, line in enumerate(str(pair).split("\n")):
        shown.append("      " if number else "")
        for word in line.split(" "):
            differs = word.startswith("[") and word.endswith("]") and len(word) > 2
            shown.append(f"{word} ", style="bold yellow" if differs else "")
        shown.rstrip()
        shown.append("\n")
    console().print(shown, soft_wrap=True, highlight=False)


def _written(batches: Iterable[Aligned], out: str) -> dict[str, Any]:
    """Write pairs in the form that the name of the file asks for."""
    from weft.formats.pharaoh import write_links
    from weft.formats.streams import open_output
    from weft.tasks.similarity.compare import compared

    facts: dict[str, Any] = {"pairs": 0, "links": 0, "similarity": 0.0}
    passing = _counted(batches, facts)
    if out.endswith(".html"):
        draw_pairs([pair for batch in passing for pair in compared(batch)], Path(out))
    elif out.endswith((".jsonl", ".jsonl.gz", ".tsv", ".tsv.gz")):
        with open_output(out) as file:
            for batch in passing:
                for pair in compared(batch):
                    line = pair.to_json() if ".jsonl" in out else _row(pair)
                    file.write(f"{line}\n".encode())
    else:
        write_links((batch.links for batch in passing), out, scores=False)
    facts["similarity"] /= max(facts["pairs"], 1)
    return facts


def _row(pair: Compared) -> str:
    return f"{pair.similarity:.6f}\t{' '.join(pair.source)}\t{' '.join(pair.target)}"


def _counted(batches: Iterable[Aligned], facts: dict[str, Any]) -> Iterator[Aligned]:
    for batch in batches:
        facts["pairs"] += batch.links.n_pairs
        facts["links"] += len(batch.links)
        facts["similarity"] += float(batch.similarity.sum())
        yield batch


def draw_pairs(pairs: Sequence[Compared], out: Path, wanted: str | None = None) -> int:
    """Draw pairs on a page, one of them as a picture, or all as pictures in a folder."""
    from weft.pictures.pairs import DrawnPair, draw_pair, show_pairs

    drawn = [DrawnPair(pair.source, pair.target, pair.links, pair.similarity) for pair in pairs]
    numbers = range(1, len(drawn) + 1)
    if wanted is not None:
        if not wanted.isdigit() or int(wanted) not in numbers:
            raise ConfigError(f"there is no pair {wanted}; there {counted(len(drawn), 'pair')}, counted from 1")
        numbers = range(int(wanted), int(wanted) + 1)
    chosen = [drawn[number - 1] for number in numbers]
    if out.suffix == ".svg" and len(chosen) != 1:
        raise ConfigError(f"{out} is one picture: choose its pair, such as --sentence 1, or give a folder or a page")
    (out.parent if out.suffix else out).mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        if not chosen:
            raise ConfigError("there are no pairs to draw")
        show_pairs(chosen).save(out)
    else:
        for number, pair in zip(numbers, chosen, strict=True):
            place = out if out.suffix == ".svg" else out / f"{number:04d}.svg"
            place.write_text(draw_pair(pair), encoding="utf-8")
    return len(chosen)
