"""`weft translate FILE --model MODEL`: translations, k best, and where each phrase comes from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from weft.cli.common import RUNNING, SETTINGS, option
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

#: The heading of options about memories in the help.
MEMORY = "Translation memory"

if TYPE_CHECKING:
    from weft.tasks.translation.result import Translation


Source = Annotated[
    str, typer.Argument(metavar="FILE", help="A sentence per line, its words separated by spaces; - for input.")
]
Model = Annotated[
    Path | None,
    option(
        "--model", "-m", metavar="MODEL", help="Model to translate with, of `weft train translation`.", shown="none"
    ),
]
Out = Annotated[str, option("--out", "-o", metavar="FILE", help="File to write to.")]
Kbest = Annotated[int, option("--kbest", min=1, metavar="K", help="Translations per sentence.")]
Trace = Annotated[bool, option("--trace", help="Show phrases, where they come from, and scores.")]
Page = Annotated[Path | None, option("--draw", metavar="FILE.html", help="Draw which words became which, on a page.")]
Beam = Annotated[int | None, option("--beam", min=1, panel=SETTINGS, help="Hypotheses per stack.", shown="the model's")]
Memory = Annotated[
    list[Path] | None,
    option("--memory", metavar="FILE", panel=MEMORY, help="Memory: .tmx, .xlf, .po or .tsv; repeatable."),
]
Least = Annotated[
    float, option("--least", min=0.0, max=1.0, panel=MEMORY, help="Lowest fuzzy match score of matches that are used.")
]
Languages = Annotated[
    tuple[str, str] | None,
    option(
        "--languages", metavar="SOURCE TARGET", panel=MEMORY, help="Languages to read from TMX.",
        shown="those of the header",
    ),
]  # fmt: skip
AsJson = Annotated[
    bool,
    option("--json", panel=RUNNING, help="Print JSON instead of tables: a line per sentence, with phrases and scores."),
]


def translate(
    file: Source,
    model: Model = None,
    out: Out = "-",
    kbest: Kbest = 1,
    trace: Trace = False,
    picture: Page = None,
    beam: Beam = None,
    memory: Memory = None,
    least: Least = 0.5,
    languages: Languages = None,
    encoding: Encoding = "utf-8",
    as_json: AsJson = False,
) -> None:
    """Translate text sentence by sentence.

    One line per sentence; with --kbest, lines of number, score and translation, separated by tabs.

    With --memory, FILE may also be a catalogue (.po, .xlf): --out then gets a copy with suggestions, marked as fuzzy.
    Without --model the suggestions are the best matches.
    """
    if memory:
        from weft.cli.apply.memory import translate_with_memory

        if kbest > 1:
            raise ConfigError("--kbest is not for translation with a memory; there is one suggestion per segment")
        translate_with_memory(file, model, memory, out, least, languages, beam, trace, as_json)
        return
    if model is None:
        raise ConfigError("name a translator with --model, a translation memory with --memory, or both")
    from weft.tasks.translation.translator import Translator

    translator = Translator.load(model)
    if beam is not None:
        translator.set_beam(beam)
    best: list[Translation] = []
    with _opened(out) as stream:
        for number, words in enumerate(_sentences(file, encoding), start=1):
            found = translator.kbest(words, kbest)
            best += found[:1] if picture is not None else []
            for line in _lines(number, found, kbest, trace, as_json):
                stream.write(line + "\n")
    if picture is not None:
        from weft.pictures.pairs import DrawnPair, show_pairs

        show_pairs([DrawnPair(each.source, each.words, each.explained_links()) for each in best]).save(picture)


def _sentences(file: str, encoding: str) -> Iterator[Sequence[str]]:
    from weft.formats.bitext import read_sentences

    yield from read_sentences(file, encoding=encoding)


def _opened(out: str) -> AbstractContextManager[TextIO]:
    if out == "-":
        return nullcontext(sys.stdout)
    try:
        return Path(out).open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {out}: {error.strerror}") from None


def _lines(number: int, found: Sequence[Translation], kbest: int, trace: bool, as_json: bool) -> Iterator[str]:
    if as_json:
        best = {"sentence": number, **found[0].record()}
        if kbest > 1:
            best["kbest"] = [each.record() for each in found]
        yield json.dumps(best, ensure_ascii=False)
        return
    for each in found:
        yield each.text if kbest == 1 else f"{number}\t{each.score:.4f}\t{each.text}"
        if trace:
            yield from (f"    {line}" for line in each.trace().splitlines())
            if each.heads:
                yield "    heads: " + " ".join(map(str, each.heads))
            shown = ", ".join(f"{name} {value:.2f}" for name, value in each.features.items() if value)
            yield f"    {shown}"
