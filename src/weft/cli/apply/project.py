"""`weft project SOURCE TARGET --links LINKS --out FILE`: project annotation to another language over word links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, Aligner, JsonFlag, option, print_json, print_table, short_path
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.text.bitext import Links
    from weft.text.doc import Doc


Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="An annotated corpus.")]
Target = Annotated[Path, typer.Argument(metavar="TARGET", help="Its translation: a corpus, or a sentence per line.")]
Out = Annotated[Path, option("--out", "-o", metavar="FILE", help="File to write: documents, a dictionary or clusters.")]
LinksOption = Annotated[
    Path | None,
    option(
        "--links",
        metavar="FILE",
        panel=DATA,
        help="Word links i-j, a line per sentence pair.",
        shown="aligned here",
    ),
]
Layer = Annotated[
    str,
    option("--layer", metavar="NAME", help="A column (upos, xpos, feats ...) or a layer of spans (entities)."),
]
Dictionary = Annotated[
    bool, option("--dictionary", help="Write a tag dictionary of the column: a word and a tag per line.")
]
Clusters = Annotated[
    Path | None,
    option("--clusters", metavar="FILE", panel=DATA, help="File of word clusters of the source, to project instead."),
]
Threshold = Annotated[float, option("--threshold", help="Leave out links with a lower score.", min=0.0, max=1.0)]
Share = Annotated[float, option("--min-share", help="Smallest share of a word's votes for a tag of the dictionary.")]
Universal = Annotated[bool, option("--universal", help="Map UD parts of speech to the twelve universal tags.")]


def project(
    source: Source,
    target: Target,
    out: Out,
    links: LinksOption = None,
    aligner: Aligner = None,
    layer: Layer = "upos",
    dictionary: Dictionary = False,
    clusters: Clusters = None,
    threshold: Threshold = 0.5,
    share: Share = 0.2,
    universal: Universal = False,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Project annotation from one language to another over the word links of a bitext.

    Without --links the two texts are aligned first, by an aligner trained on them or by --aligner: links of both
    directions (intersection) with a score of at least --threshold. In CoNLL-U, a projected tag has its score in MISC
    (UPOSProb), a projected name is written there as NER, with NERProb at its first word.
    """
    from weft.formats.bitext import read_side

    if links is not None and aligner is not None:
        raise ConfigError("--links and --aligner exclude each other: give word links, or an aligner to create them")
    if clusters is not None and dictionary:
        raise ConfigError("--clusters and --dictionary exclude each other: only one of them can be written")
    docs, others = read_side(source, encoding=encoding), read_side(target, encoding=encoding)
    found = _links(docs, others, links, aligner, threshold)
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
    source: Sequence[Doc], target: Sequence[Doc], links: Path | None, file: Path | None, threshold: float
) -> Links:
    """The links of a file, or of an aligner."""
    from weft.cli.learn.clusters import sentences

    if links is not None:
        from weft.formats.pharaoh import read_links

        return read_links(links).above(threshold)
    from weft.tasks.bitext import align

    one, other = list(sentences(source)), list(sentences(target))
    if file is not None:
        aligner = align.Aligner.load(file)
    else:
        aligner = align.Aligner(align.APART)
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
    """Project, write, and return a summary."""
    from weft.formats import detect, write
    from weft.lexical.clusters.monolingual import load_clusters
    from weft.lexical.universal_tags import universal_tag
    from weft.tasks.bitext.project import project_clusters, project_column, project_dictionary, project_spans
    from weft.text.conventions.misc_spans import misc_of_confidence, misc_of_layers, spans_of_misc
    from weft.text.layers import SpanLayer

    if clusters is not None:
        classes = project_clusters(source, target, links, load_clusters(clusters))
        classes.save(out)
        return {"words in clusters": len(classes.words)}
    if dictionary:
        rename = universal_tag if universal else None
        tags = project_dictionary(source, target, links, layer, share=share, rename=rename)
        tags.save(out)
        return {"words": len(tags), "tags": len(tags.tags)}
    if universal:
        for doc in source:
            doc.set_column(layer, [universal_tag(tag) for tag in doc.column(layer)])
    spans = any(layer in doc.spans for doc in source)
    if layer == "entities" and not spans:  # CoNLL-U stores them in MISC
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
