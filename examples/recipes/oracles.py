"""Static and dynamic oracles on a small treebank."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.formats import read
from weft.recipes.claims import gain
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation, changed, where_run
from weft.tasks import Parser
from weft.tasks.parsing.transitions.parser import ParserSettings

#: Rows: transition system and oracle.
ROWS = {
    "eager static": ("arc-eager", "static"),
    "eager dynamic": ("arc-eager", "dynamic"),
    "hybrid static": ("arc-hybrid", "static"),
    "hybrid dynamic": ("arc-hybrid", "dynamic"),
}


@dataclass(frozen=True)
class Size:
    """The treebank, relative to the folder of --data, and how many of its sentences to hold out."""

    treebank: str = "story.conllu"
    held_out: int = 10
    epochs: int = 5


VARIATION = Variation((ParserSettings, Size), tuple(ROWS))


def run(options: RecipeOptions) -> RecipeResult:
    size = options.varied(Size())
    corpus = read(options.find(size.treebank)).load()
    learned = sum(doc.n_sentences for doc in corpus) - size.held_out
    train, test = list(corpus.slice_sentences(0, learned)), list(corpus.slice_sentences(learned))
    changes = changed(ParserSettings, options.vary)

    def scores(row: tuple[str, str]) -> dict[str, float]:
        settings = ParserSettings(system=row[0], oracle=row[1], epochs=size.epochs, seed=options.seed)
        parser = Parser(replace(settings, **changes))
        parser.fit(train)
        return parser.scores(test)

    found = options.chosen(ROWS).map(scores)
    table = Table(f"{size.held_out} sentences of {size.treebank}", ["UAS", "LAS"], digits={"UAS": 1, "LAS": 1})
    for name, ours in found.items():
        table.add(name, {metric: 100 * ours[metric] for metric in table.columns})
    result = RecipeResult("oracles", [table])
    for system in ("eager", "hybrid"):
        with where_run():
            more = 100 * (found[f"{system} dynamic"]["UAS"] - found[f"{system} static"]["UAS"])
            result.claim(
                "the dynamic oracle is at least as good as the static one", gain(more, sense=">=", where=system)
            )
    return result
