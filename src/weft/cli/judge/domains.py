"""`weft diagnose domains SOURCE PARSED TARGET PARSED`: why a parser is worse in another domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, JsonFlag, option, print_json, print_table
from weft.cli.inputs import Encoding, Fields, FromFormat

if TYPE_CHECKING:
    from weft.evaluate.domains.diagnosis import Diagnosis
    from weft.evaluate.domains.loss_tables import LossTable
    from weft.text import Doc


EXAMPLE = (
    "weft diagnose domains examples/domains/news.conllu examples/domains/news-parsed.conllu "
    "examples/domains/lab.conllu examples/domains/lab-parsed.conllu --train examples/domains/train.conllu"
)


def domains(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Gold trees of the source domain.")],
    source_parsed: Annotated[str, typer.Argument(metavar="SOURCE-PARSED", help="The same sentences, parsed.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Gold trees of the target domain.")],
    target_parsed: Annotated[
        str, typer.Argument(metavar="TARGET-PARSED", help="The same sentences, parsed by the same parser.")
    ],
    train: Annotated[
        str | None,
        option("--train", metavar="FILE", panel=DATA, help="Training data of the parser, to identify unknown words."),
    ] = None,
    most: Annotated[int, option("--most", min=1, help="Maximum number of rows per table.")] = 12,
    source_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Explain why a parser is worse in another domain.

    The loss is the target error minus the source error. Tables break it down by tags, unknown words, arcs and nouns,
    and each adds up to the whole loss. They also show how the tags shifted, and where the two gold standards attach
    in different directions, a difference of guidelines that no unlabelled text can teach.
    """
    from weft.evaluate.domains.diagnosis import Parsed
    from weft.evaluate.domains.diagnosis import diagnose as find
    from weft.evaluate.labels.tagging import vocabulary_of

    def docs(path: str) -> list[Doc]:
        from weft.formats import read

        options: dict[str, Any] = {"fields": fields} if fields else {}
        return list(read(path, source_format, encoding=encoding, **options))

    own = Parsed.of(docs(source), docs(source_parsed), source)
    other = Parsed.of(docs(target), docs(target_parsed), target)
    found = find(own, other, None if train is None else vocabulary_of(docs(train)))
    if as_json:
        print_json(found.figures())
        return
    _show(found, most)


def _show(found: Diagnosis, most: int) -> None:
    rows = [
        ["source", f"{found.source_words:,}", f"{100 * found.source_error:.2f}"],
        ["target", f"{found.target_words:,}", f"{100 * found.target_error:.2f}"],
        ["loss", "", f"{100 * found.loss:.2f}"],
    ]
    print_table("wrong heads, per cent", ["", "words", "error"], rows, (1, 2))
    for name in ("tags", "unknown words", "fine tags", "arcs", "nouns"):
        # Without XPOS, fine tags are the same as coarse ones.
        if name in found.tables and (name != "fine tags" or found.tables[name].rows != found.tables["tags"].rows):
            _show_losses(f"loss by {name}", found.tables[name], most)
    rows = [
        [each.name, f"{100 * each.source:.2f}", f"{100 * each.target:.2f}", f"{100 * each.difference:+.2f}"]
        for each in (*found.tags[:most], *found.trigrams[:most])
    ]
    rows += [[f"divergence of {name}, bits", "", "", f"{value:.3f}"] for name, value in found.divergence.items()]
    print_table("shift of tags, per cent", ["", "source", "target", "difference"], rows, (1, 2, 3))
    rows = []
    for each in found.profiles[:most]:
        cells = [f"{100 * share:.0f} of {n:,}" for n, share in (each.source, each.target, each.parsed)]
        rows.append([each.name, *cells, f"{100 * each.contribution:+.2f}", "differs" if each.differs else ""])
    header = ["words", "source", "target", "parsed target", "points", "guideline"]
    print_table("the left word is the head, per cent of arcs", header, rows, (1, 2, 3, 4))
    rows = [[name, f"{each.dependents:.2f}", f"{each.depth:.2f}"] for name, each in found.flatness.items()]
    print_table("noun phrases", ["", "nouns below a noun", "depth"], rows, (1, 2))
    typer.echo(found.verdict)


def _show_losses(title: str, table: LossTable, most: int) -> None:
    rows = []
    for row in table.rows[:most]:
        cells = [f"{100 * share:.1f}" for share in row.shares]
        seen = zip(row.errors, (row.source, row.target), strict=True)
        cells += [f"{100 * error:.2f}" if words else "" for error, (words, _) in seen]
        rows.append([row.name, *cells, *(f"{100 * each:+.2f}" for each in (row.mix, row.rate, row.contribution))])
    rest = table.rows[most:]
    sums = [sum(getattr(row, name) for row in rest) for name in ("mix", "rate", "contribution")]
    if rest:
        rows.append([f"{len(rest)} more", "", "", "", "", *(f"{100 * each:+.2f}" for each in sums)])
    sums = [sum(getattr(row, name) for row in table) for name in ("mix", "rate", "contribution")]
    rows.append(["all", "", "", "", "", *(f"{100 * each:+.2f}" for each in sums)])
    header = [table.title, "source %", "target %", "source error", "target error", "mix", "rate", "points"]
    print_table(title, header, rows, range(1, 8))
