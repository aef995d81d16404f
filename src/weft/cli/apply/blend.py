"""`weft blend A B C --out TREES`: one tree per sentence from the trees of several parsers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, counted, option, print_json, print_table
from weft.cli.inputs import Encoding
from weft.errors import ConfigError


def blend(
    parses: Annotated[
        list[str], typer.Argument(metavar="PARSES", help="Files with the trees of the parsers over the same text.")
    ],
    gold: Annotated[
        str | None, option("--gold", metavar="FILE", help="Gold trees of these files, to learn weights on.")
    ] = None,
    weights: Annotated[
        str | None,
        option(
            "--weights", metavar="FILE", help="Weights to write with --gold, else to use.", show_default="all equal"
        ),
    ] = None,
    out: Annotated[
        str | None, option("--out", metavar="FILE", help="File for the blended trees; - is standard output.")
    ] = None,
    layer: Annotated[
        str | None,
        option("--layer", metavar="NAME", help="Vote on frames of this layer, from role labellers, instead of trees."),
    ] = None,
    by: Annotated[str, option("--by", metavar="COLUMN", help="Tags to weigh by: upos or xpos.")] = "upos",
    iterations: Annotated[
        int, option("--iterations", min=0, help="Passes over the gold trees; with 0, accuracies are the weights.")
    ] = 20,
    step: Annotated[float, option("--step", help="Step size of a weight.")] = 0.002,
    single_root: Annotated[
        bool, option("--single-root/--several-roots", help="Whether one word or several may attach to the root.")
    ] = True,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Blend the trees of several parsers into one tree per sentence.

    Every parser votes for the head of every word, with a weight for the word's tag; the tree with most votes wins.
    With --layer, the frames of role labellers are put to the vote: what most labellers of a predicate say stays.
    First learn weights on files with gold trees (--gold, --weights), then blend others with them (--weights, --out).
    """
    from weft.formats import read, write

    if len(parses) < 2:
        raise ConfigError("give the files of at least two parsers to blend")
    if gold is None and out is None:
        raise ConfigError("use --out to say where to write the trees, or --gold and --weights to train weights")
    docs = [list(read(path, encoding=encoding)) for path in parses]
    if layer is not None:
        _vote(docs, layer, gold, out, as_json)
        return
    blender = _blender(docs, parses, gold, weights, encoding, by, iterations, step, single_root)
    if out is not None:
        write(blender.blend(docs, single_root, parses), out, "conllu" if out == "-" else None)
    report: dict[str, Any] = {"parsers": parses, "others": blender.others, "weights": blender.weights}
    if gold is not None:
        report["LAS"] = list(blender.history)
    if as_json and out != "-":
        print_json(report)
        return
    if gold is not None:
        _show(blender, parses)
    if out is not None and out != "-":
        typer.echo(f"{counted(sum(doc.n_sentences for doc in docs[0]), 'tree')} written", err=True)


def _blender(
    docs: list[Any], parses: list[str], gold: str | None, weights: str | None, encoding: str, by: str, iterations: int,
    step: float, single_root: bool,
) -> Any:  # fmt: skip
    """The weights: learned on gold trees and saved, or read, or all equal."""
    from weft.formats import read
    from weft.tasks.parsing.blend import Blender

    if gold is None:
        return Blender.equal(len(parses)) if weights is None else Blender.load(weights)
    right = list(read(gold, encoding=encoding))
    blender = Blender.learn(right, docs, by, iterations, step, single_root, parses)
    if weights is not None:
        blender.save(weights)
    return blender


def _vote(docs: list[Any], layer: str, gold: str | None, out: str | None, as_json: bool) -> None:
    """Write the frames that a majority of role labellers agrees on."""
    from weft.formats import write
    from weft.tasks.roles.votes import vote_documents

    if gold is not None or out is None:
        raise ConfigError("a vote on frames learns no weights: use --out, without --gold")
    if not all(any(layer in doc.spans for doc in own) for own in docs):
        raise ConfigError(f"one of the files has no layer {layer!r}: label it with `weft annotate --model` first")
    voted = vote_documents(docs, layer)
    write(voted, out, "jsonl" if out == "-" else None)
    frames = sum(len(doc.relations[layer]) for doc in voted)
    if as_json and out != "-":
        print_json({"documents": len(voted), "arguments": frames})
    elif out != "-":
        typer.echo(f"{counted(frames, 'argument')} written", err=True)


def _show(blender: Any, parses: list[str]) -> None:
    """Print the weights and the training result."""
    rows = [[tag, *(f"{weight:.3f}" for weight in weights)] for tag, weights in sorted(blender.weights.items())]
    rows.append(["others", *(f"{weight:.3f}" for weight in blender.others)])
    print_table("weights by tag", ["tag", *(Path(name).name for name in parses)], rows, range(1, len(parses) + 1))
    first, best = blender.history[0], max(blender.history)
    typer.echo(f"LAS on the gold trees: accuracies as weights {100 * first:.2f}, learned {100 * best:.2f}", err=True)
