"""`weft review FILE... --model MODEL... --journal J --out OUT`: annotate by yes and no."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, console, print_json, print_table
from weft.cli.inputs import Fields, FromFormat, SkipBad, ToFormat, open_inputs, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.annotate.journal import Question
    from weft.text import Doc


def review(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files to annotate.")],
    journal: Annotated[
        Path, typer.Option("--journal", "-j", metavar="FILE", help="Where decisions are kept; resumes if it exists.")
    ],
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model", "-m", metavar="MODEL", help="A proposer or chunker; several are united.", show_default="none"
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="Best labellings of each model that propose.", min=1)] = 2,
    layer: Annotated[
        str, typer.Option("--layer", help="Span layer to write; without models, its spans are the proposals.")
    ] = "entities",
    overlaps: Annotated[
        str, typer.Option("--overlaps", help="Of accepted mentions that overlap: keep, longest, votes.")
    ] = "longest",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Documents with what is accepted.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Write open questions as JSONL and ask nothing.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="Take answers from JSONL and ask nothing.")
    ] = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    to_format: ToFormat = None,
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Show the candidates of a tagger one by one; accept or reject each with one key.

    Keys: y accepts, n rejects, u takes the last answer back, s leaves a question for later, q quits. Every answer is on
    the disk before the next question is asked.
    """
    from weft.annotate.journal import Journal, fingerprint, questions_of
    from weft.annotate.review import progress, question_lines, read_answers, write_accepted
    from weft.annotate.review import review as run
    from weft.annotate.simulate import OVERLAPS
    from weft.formats import detect, write

    if overlaps not in OVERLAPS:
        raise ConfigError(f"overlaps must be one of {', '.join(OVERLAPS)}, got {overlaps!r}")
    inputs = open_inputs(files, from_format, skip_bad, fields)
    docs = [doc for doc in inputs.docs if doc.text.strip()]
    report_bad(inputs)
    asked = questions_of(_proposals(docs, model or [], top, layer))
    with Journal(journal, len(asked), fingerprint(asked, docs)) as kept:
        if answers is not None:
            for name, accept, seconds in read_answers(answers, asked):
                kept.record(name, accept, seconds)
        if questions is not None:
            still_open = [each for each in asked if each.id not in kept.decisions]
            questions.write_text("".join(question_lines(still_open, docs)), encoding="utf-8")
        elif answers is None:
            run(asked, kept, _terminal(docs))
        state = progress(asked, kept.decisions)
        if out is not None:
            write_accepted(docs, asked, kept.decisions, layer, overlaps)
            write(docs, out, to_format or detect(out))
    figures: dict[str, Any] = {**state._asdict(), "seconds_a_sentence": round(state.seconds_a_sentence, 3)}
    if as_json:
        print_json(figures)
    else:
        rows = [(name.replace("_", " "), f"{value:,}") for name, value in figures.items()]
        print_table("Review", ["", ""], rows, figures=[1])


def _proposals(docs: list[Doc], models: list[Path], top: int, layer: str) -> list[list[Any]]:
    from weft.annotate.review import proposals_of_layer
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words:
            split_by_rule(doc)
    if not models:
        return [proposals_of_layer(doc, layer) for doc in docs]
    from weft.annotate.proposer import propose
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.spans.chunker import Chunker

    taggers = [part for path in models for part in Pipeline.load(path).components if isinstance(part, Chunker)]
    if not taggers:
        raise ConfigError("none of the models finds flat spans; train one with `weft train proposer` or `chunker`")
    return [propose(taggers, doc, top) for doc in docs]


def _terminal(docs: list[Doc]) -> Any:
    """Asks on the terminal: one key; where standard input is not a terminal, one line."""
    from rich.text import Text

    from weft.annotate.journal import words_of

    screen = console(stderr=True)

    def ask(question: Question, left: int) -> str:
        before, own, behind = (" ".join(words) for words in words_of(question, docs))
        line = Text(f"{before} " if before else "")
        line.append(f"[{own}]", style="bold reverse")
        line.append(f" {behind}" if behind else "")
        screen.print(line)
        screen.print(f"{question.proposal.label}? (y/n, u undo, s skip, q quit; {left} left)", end=" ")
        if sys.stdin.isatty():
            import click

            key = click.getchar(echo=True)
            screen.print()
        else:
            given = sys.stdin.readline()
            key = given.strip()[:1] if given else "q"
            screen.print(key)
        return str(key)

    return ask
