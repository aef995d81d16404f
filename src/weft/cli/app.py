"""The table of commands and their shared behaviour: lazy loading, error reporting, `--config`.

A command is a plain function with Typer annotations, or a Typer app if it has subcommands. The table gives its
location, its one-line help and the example at the end of its `--help`, so that listing the commands imports none of
them. Exit codes: 0 success, 1 a `WeftError` (one plain message), 2 wrong usage, 3 success except for bad documents,
130 interrupted, 141 the reader closed the pipe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
import typer.core

from weft.cli.config import add_config_option, word_of
from weft.cli.groups import SuggestingGroup
from weft.errors import WeftError


class Place(NamedTuple):
    """The location of a command (`module:name`), a one-line description, and an example."""

    target: str
    help: str
    example: str


#: Commands by the headings of the help.
HEADINGS = {
    "Apply": {
        "annotate": Place(
            "weft.cli.apply.annotate:annotate",
            "Annotate text or documents with a model.",
            "weft annotate examples/unseen.conll --model chunker.weft --out predicted.conll",
        ),
        "convert": Place(
            "weft.cli.apply.convert:convert",
            "Convert files from one format to another.",
            "weft convert examples/story.conllu story.jsonl.gz",
        ),
        "draw": Place(
            "weft.cli.apply.draw:draw",
            "Draw trees, phrases and spans as SVG pictures or a page.",
            "weft draw examples/story.conllu --sentence 1 --out tree.svg",
        ),
        "serve": Place(
            "weft.cli.apply.serve:serve",
            "Serve a web page that shows what models predict, and a JSON API.",
            "weft serve --model tagger.weft+parser.weft --port 8000",
        ),
        "ask": Place(
            "weft.cli.apply.ask:ask",
            "Ask a knowledge graph in plain words.",
            'weft ask examples/graph/town.tsv "people who studied in Bergen" --schema examples/graph/town.toml',
        ),
        "search": Place(
            "weft.cli.images.search:search",
            "Find images by sentences, and sentences that describe an image.",
            'weft search pictures.parquet "a dog catches a frisbee"',
        ),
        "align": Place(
            "weft.cli.apply.align:align",
            "Link the words of sentences and their translations.",
            "weft align examples/bitext/garden.en.conllu examples/bitext/garden.de.txt --out garden.links",
        ),
        "project": Place(
            "weft.cli.apply.project:project",
            "Project annotation to another language over word links.",
            "weft project examples/bitext/garden.en.conllu examples/bitext/garden.de.txt --out garden.de.conllu",
        ),
        "translate": Place(
            "weft.cli.apply.translate:translate",
            "Translate text, with the k best and where each phrase comes from.",
            "weft translate examples/translation/unseen.en --model en-es.weft --trace",
        ),
        "blend": Place(
            "weft.cli.apply.blend:blend",
            "Blend the trees of several parsers into one tree per sentence.",
            "weft blend a.conllu b.conllu c.conllu --weights weights.json --out blended.conllu",
        ),
    },
    "Learn": {
        "train": Place(
            "weft.cli.learn.train:app",
            "Train a model for a task, or a whole pipeline.",
            "weft train chunker examples/chunks.conll --out chunker.weft --learner crf --seed 1",
        ),
        "lexicon": Place(
            "weft.cli.learn.lexicon:app",
            "Learn lists of names, word clusters and entities from a collection.",
            "weft lexicon grow examples/port.txt --seeds ship=examples/port-ships.txt --out grown",
        ),
        "graph": Place(
            "weft.cli.learn.graph.group:app",
            "Build a knowledge graph, and learn from it.",
            "weft graph build examples/graph/harbour.tsv --out kg",
        ),
        "lm": Place(
            "weft.cli.learn.lm:app",
            "Train, prune, constrain and apply n-gram language models.",
            "weft lm train examples/port.txt --order 3 --out port.arpa",
        ),
    },
    "Judge": {
        "evaluate": Place(
            "weft.cli.judge.evaluate:evaluate",
            "Score a system's output against gold annotation.",
            "weft evaluate examples/unseen.conll predicted.conll",
        ),
        "compare": Place(
            "weft.cli.judge.evaluate:compare",
            "Compare systems, with significance tests.",
            "weft compare examples/unseen.conll predicted.conll examples/baseline.conll",
        ),
        "diagnose": Place(
            "weft.cli.judge.diagnose:app",
            "Explain losses in other domains, learning curves, broken preferences, breaks in texts, exchanged roles.",
            "weft diagnose domains news.conllu news-parsed.conllu lab.conllu lab-parsed.conllu --train train.conllu",
        ),
        "treebank": Place(
            "weft.cli.judge.treebank:app",
            "Convert and check annotation schemes, measure transfer between languages.",
            "weft treebank convert examples/story.conllu story-universal.conllu",
        ),
    },
    "People and papers": {
        "label": Place(
            "weft.cli.people.label:app",
            "Label text with others in a browser, or by judging suggestions; plan what to check; measure a crowd.",
            "weft label new names/ examples/port.txt --task entities --labels PER,ORG,LOC",
        ),
        "reproduce": Place(
            "weft.cli.people.reproduce:reproduce",
            "Repeat the experiment of a published system.",
            "weft reproduce crf-shallow-parsing --quick",
        ),
        "data": Place(
            "weft.cli.people.data:app",
            "Find corpora, and say what is missing and where to get it; copy examples.",
            "weft data check conll2000 --data ~/corpora",
        ),
        "models": Place(
            "weft.cli.people.models:app",
            "Show what is inside model files, install models.",
            "weft models info chunker.weft",
        ),
    },
}
#: Options that turn a command into another one with options of its own, which depend on the other arguments.
VARIANTS = {
    ("annotate", "--together"): "weft.cli.apply.together:command",
    ("align", "--same-language"): "weft.cli.apply.same_language:command",
    ("search", "--clips"): "weft.cli.images.clips:command",
}
COMMANDS = {name: place for places in HEADINGS.values() for name, place in places.items()}


class LazyGroup(SuggestingGroup):
    """The commands of the table. Names and help come from the table; a command is imported only to run it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Placeholders with name and help, for lists and suggestions.
        for heading, places in HEADINGS.items():
            for name, place in places.items():
                self.commands[name] = typer.core.TyperCommand(name=name, help=place.help, rich_help_panel=heading)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, for running, help and completion."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, stand_in if name is None else load_command(name, rest), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            returned = super().invoke(ctx)
            sys.stdout.flush()  # so that a full disk or a closed pipe raises its error here, not at exit
            return returned
        except WeftError as error:
            print(f"weft: {error}", file=sys.stderr)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            print("weft: interrupted; what was finished is in place", file=sys.stderr)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader (`| head`) closed the pipe: report nothing, and keep Python from reporting it at exit.
            _close_output()
            raise typer.Exit(141) from None
        except OSError as error:
            # Disk full or no permission to write: what was finished before is in place.
            print(f"weft: {_in_words(error)}", file=sys.stderr)
            _close_output()
            raise typer.Exit(1) from None


def _close_output() -> None:
    """Flush standard output, or discard its buffer if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_words(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason


def load_command(name: str, words: Sequence[str] = ()) -> Any:
    """Import a command and prepare it to run with arguments that may turn it into a variant.

    >>> load_command("reproduce").name
    'reproduce'
    """
    place = COMMANDS[name]
    from weft.cli.generated import with_reading

    target = _imported(place.target)
    for (of, flag), variant in VARIANTS.items():
        if of == name and word_of(flag, [name], words) is not None:
            target = _imported(variant)(words)
    if not isinstance(target, typer.Typer):
        holder = typer.Typer(add_completion=False, rich_markup_mode="rich")
        holder.command(name, no_args_is_help=False)(with_reading(target))
        target = holder
    command = typer.main.get_command(target)
    command.name = name
    command.epilog = f"Example: {place.example}"
    add_config_option(command)
    return command


def _imported(target: str) -> Any:
    module, attribute = target.split(":")
    return getattr(import_module(module), attribute)


def _version(wanted: bool) -> None:
    if wanted:
        import weft

        typer.echo(f"weft {weft.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="weft",
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: weft train chunker examples/chunks.conll --out chunker.weft",
)


@app.callback()
def _weft(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Weft turns text into structure, on a CPU, fast."""


def run() -> None:
    """Run the command line."""
    app(prog_name="weft")
