"""`weft project SOURCE TARGET --links LINKS --out FILE`: carry annotation to another language over links of words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, print_json, print_table, short_path
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.text.bitext import Links
    from weft.text.doc import Doc


def project(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="An annotated corpus.")],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Its translation: a corpus, or words of a sentence a line.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Documents by the suffix, or a dictionary or clusters.")
    ],
    links: Annotated[
        Path | None,
        typer.Option("--links", metavar="FILE", help="Links i-j, a line a sentence pair.", show_default="aligned here"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Align with this aligner.", show_default="learned here"),
    ] = None,
    layer: Annotated[
        str,
        typer.Option(
            "--layer", metavar="NAME", help="A column (upos, xpos, feats ...) or a layer of spans (entities)."
        ),
    ] = "upos",
    dictionary: Annotated[
        bool, typer.Option("--dictionary", help="Write a dictionary of the column: lines of a word and a tag.")
    ] = False,
    clusters: Annotated[
        Path | None, typer.Option("--clusters", metavar="FILE", help="Project these classes of source words instead.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Use links with at least this score.", min=0.0, max=1.0)
    ] = 0.5,
    share: Annotated[
        float, typer.Option("--share", help="Least part of the votes of a word for a tag of the dictionary.")
    ] = 0.2,
    universal: Annotated[
        bool, typer.Option("--universal", help="Turn UD parts of speech into the twelve universal tags.")
    ] = False,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Carry annotation from one language to another over the links of a bitext.

    Without --links the two texts are aligned first, by an aligner learned from them or by --model: links of both
    directions (intersection) with a score of at least --threshold. In CoNLL-U, a projected tag has its score in MISC
    (UPOSProb), a projected name stands there as NER with NERProb at its first word.
    """
    from weft.formats.bitext import read_side

    if links is not None and model is not None:
        raise ConfigError("--links are there already, --model would make them; give one of the two")
    if clusters is not None and dictionary:
        raise ConfigError("--clusters and --dictionary are two things to write; give one of them")
    docs, others = read_side(source, encoding=encoding), read_side(target, encoding=encoding)
    found = _links(docs, others, links, model, threshold)
    facts: dict[str, Any] = {
        "sentence pairs": found.n_pairs,
        "links": len(found),
        "target words": sum(doc.n_words for doc in others),
    }
    facts |= _write(docs, others, found, out, layer, dictionary, clusters, share, universal)
    facts["file"] = short_path(out).as_posix()
    if as_json:
        print_json(facts)
        return
    rows = [[name, f"{value:,}" if isinstance(value, int) else f"{value:.1%}" if isinstance(value, float) else value]
            for name, value in facts.items()]  # fmt: skip
    print_table("Projected", ["", ""], rows, figures=[1])


def _links(
    source: Sequence[Doc], target: Sequence[Doc], links: Path | None, model: Path | None, threshold: float
) -> Links:
    """The links of a file, or of an aligner."""
    from weft.cli.learn.clusters import sentences

    if links is not None:
        from weft.formats.pharaoh import read_links

        return read_links(links).above(threshold)
    from weft.tasks.bitext.align import APART, Aligner

    one, other = list(sentences(source)), list(sentences(target))
    if model is not None:
        aligner = Aligner.load(model)
    else:
        aligner = Aligner(APART)
        aligner.fit(one, other)
    return aligner.align(one, other, "intersection", threshold=threshold)


def _write(
    source: Sequence[Doc],
    target: Sequence[Doc],
    links: Links,
    out: Path,
    layer: str,
    dictionary: bool,
    clusters: Path | None,
    share: float,
    universal: bool,
) -> dict[str, Any]:
    """Project, write, and say what came of it."""
    from weft.formats import detect, write
    from weft.lexical.clusters.monolingual import load_clusters
    from weft.lexical.universal_tags import universal_tag
    from weft.tasks.bitext.project import project_clusters, project_column, project_dictionary, project_spans
    from weft.text.conventions.misc_spans import misc_of_confidence, misc_of_layers, spans_of_misc
    from weft.text.layers import SpanLayer

    if clusters is not None:
        classes = project_clusters(source, target, links, load_clusters(clusters))
        classes.save(out)
        return {"words with a class": len(classes.words)}
    if dictionary:
        rename = universal_tag if universal else None
        tags = project_dictionary(source, target, links, layer, share=share, rename=rename)
        tags.save(out)
        return {"words": len(tags), "tags": len(tags.tags)}
    if universal:
        for doc in source:
            doc.set_column(layer, [universal_tag(tag) for tag in doc.column(layer)])
    spans = any(layer in doc.spans for doc in source)
    if layer == "entities" and not spans:  # those that CoNLL-U keeps in MISC
        for doc in source:
            doc.spans[layer] = spans_of_misc(doc) or SpanLayer(doc.strings)
        spans = True
    covered = (project_spans if spans else project_column)(source, target, links, layer)
    if detect(out) == "conllu":
        for doc in target:
            misc_of_layers(doc)
            misc_of_confidence(doc)
    write(target, str(out))
    facts: dict[str, Any] = {"words with a link" if spans else "words with a value": covered}
    if spans:
        facts[layer] = sum(len(doc.spans[layer]) for doc in target)
    return facts
