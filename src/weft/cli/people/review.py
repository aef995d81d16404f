"""`weft label review FILE... --model MODEL --journal J --out OUT`: label by accepting or rejecting suggestions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Models, console, option, print_json, print_table
from weft.cli.inputs import Reading, ToFormat, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.annotate.journal import Journal, Question
    from weft.text import Doc


EXAMPLE = "weft label review examples/unseen.conll --model chunker.weft --journal answers.jsonl --out new.conll"


def review(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files to label.")],
    journal: Annotated[
        Path,
        option("--journal", "-j", metavar="FILE", help="File that keeps all answers; if it exists, labelling resumes."),
    ],
    model: Models = None,
    top: Annotated[int, option("--top", help="Best labellings per model that suggest spans.", min=1)] = 2,
    layer: Annotated[
        str, option("--layer", help="Span layer to write; without a model, its spans are the suggestions.")
    ] = "entities",
    overlaps: Annotated[
        str, option("--overlaps", metavar="keep|longest|votes", help="Which of overlapping accepted spans are kept.")
    ] = "longest",
    out: Annotated[
        Path | None, option("--out", "-o", metavar="FILE", help="File to write, with the accepted spans.")
    ] = None,
    questions: Annotated[
        Path | None, option("--questions", metavar="FILE", help="Write open questions as JSONL instead of asking them.")
    ] = None,
    answers: Annotated[
        Path | None, option("--answers", metavar="FILE", help="Read answers from JSONL instead of asking.")
    ] = None,
    to_format: ToFormat = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Accept or reject the suggestions of models one by one, with one key each.

    Keys: y accepts, n rejects, u undoes the last answer, s skips a question for now, q quits. Every answer is on disk
    before the next question is asked.
    """
    from weft.annotate.journal import Journal, fingerprint, questions_of
    from weft.annotate.review import progress, write_accepted
    from weft.annotate.simulate import OVERLAPS
    from weft.formats import detect, write

    if overlaps not in OVERLAPS:
        raise ConfigError(f"overlaps must be one of {', '.join(OVERLAPS)}, got {overlaps!r}")
    inputs = reading.open(files)
    docs = [doc for doc in inputs.docs if doc.text.strip()]
    report_bad(inputs)
    asked = questions_of(proposals(docs, model or [], top, layer))
    with Journal(journal, len(asked), fingerprint(asked, docs)) as kept:
        _decide(asked, kept, docs, questions, answers)
        state = progress(asked, kept.decisions)
        if out is not None:
            write_accepted(docs, asked, kept.decisions, layer, overlaps)
            write(docs, out, to_format or detect(out))
    figures: dict[str, Any] = {**state._asdict(), "seconds_a_sentence": round(state.seconds_a_sentence, 3)}
    if as_json:
        print_json(figures)
    else:
        rows = [(name.replace("_", " "), f"{value:,}") for name, value in figures.items()]
        print_table("Labelled", ["", ""], rows, figures=[1])


def _decide(
    asked: list[Question], kept: Journal, docs: list[Doc], questions: Path | None, answers: Path | None
) -> None:
    """Take answers from a file, write open questions to one, or ask on the terminal."""
    from weft.annotate.review import question_lines, read_answers
    from weft.annotate.review import review as ask_all

    if answers is not None:
        for name, accept, seconds in read_answers(answers, asked):
            kept.record(name, accept, seconds)
    if questions is not None:
        still_open = [each for each in asked if each.id not in kept.decisions]
        questions.write_text("".join(question_lines(still_open, docs)), encoding="utf-8")
    elif answers is None:
        ask_all(asked, kept, _terminal(docs))


def proposals(docs: list[Doc], models: list[Path], top: int, layer: str) -> list[list[Any]]:
    """The suggestions of models for every document and sentence; without models, the spans that a layer has."""
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
        raise ConfigError("none of the models predicts flat spans; train one with `weft train chunker`")
    return [propose(taggers, doc, top) for doc in docs]


def _terminal(docs: list[Doc]) -> Any:
    """Ask on the terminal: one key per answer, or one line if standard input is not a terminal."""
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
            key = typer.getchar(echo=True)
            screen.print()
        else:
            given = sys.stdin.readline()
            key = given.strip()[:1] if given else "q"
            screen.print(key)
        return str(key)

    return ask
