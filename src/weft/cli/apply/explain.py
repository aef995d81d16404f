"""`weft annotate FILE --explain`: why every word got its labels and its head, as tables or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import SETTINGS, option, print_json
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.pipeline.explanation import Explanation
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc

#: Reasons per decision in the tables; JSON has all.
SHOWN = 5

Explain = Annotated[
    bool, option("--explain", panel=SETTINGS, help="Print why words got their labels and heads, not the documents.")
]
Words = Annotated[
    list[str] | None, option("--word", metavar="WORD", panel=SETTINGS, help="With --explain, only this word; repeat.")
]


def check_explains(nlp: Pipeline, explain: bool, words: Sequence[str] | None, out: str | None) -> None:
    """Raise an error if nothing can be explained, or if options conflict."""
    if words and not explain:
        raise ConfigError("--word chooses what --explain explains; give --explain as well")
    if explain and out is not None:
        raise ConfigError("--explain prints to standard output; leave out --out")
    if explain and not any(component.explains for component in nlp.components):
        raise ConfigError("no component of this model can explain its decisions")


def print_explanations(nlp: Pipeline, docs: Iterable[Doc], words: Sequence[str] | None, as_json: bool) -> None:
    """Print the explanations of all words, or of those with the given forms."""
    if as_json:
        places = [
            {"document": doc.id, "sentence": doc[found.word].sentence.index + 1, **found.to_dict()}
            for doc, found in _explanations(nlp, docs, words)
        ]
        print_json(places)
        return
    for _, found in _explanations(nlp, docs, words):
        typer.echo(f"{found.text(SHOWN)}\n")


def _explanations(nlp: Pipeline, docs: Iterable[Doc], words: Sequence[str] | None) -> Iterator[tuple[Doc, Explanation]]:
    """The explanations of every component for every chosen word, in the order of the text."""
    chosen = 0
    for doc in docs:
        for word in doc.words:
            if words and word.form not in words:
                continue
            chosen += 1
            for component in nlp.components:
                if component.explains:
                    yield doc, component.explain(doc, word.index)
    if words and not chosen:
        raise ConfigError(f"the text has no word {' or '.join(map(repr, words))}")
