"""`weft draw FILE --out PICTURE`: trees, phrases, scopes, AMRs, relations, events, opinions, spans as SVG, or a page.

Of documents, timelines and sentence graphs are drawn, and pairs of texts side by side.

Entities across documents are drawn from the folder that `weft lexicon entities` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import counted, option
from weft.cli.inputs import Encoding, Fields, FromFormat, Reading
from weft.errors import ConfigError, DataError, did_you_mean

if TYPE_CHECKING:
    from weft.pictures import DrawnEntity, Picture
    from weft.text import Sentence


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Annotated file, such as CoNLL-U; for entities, their folder.")
]
Out = Annotated[
    Path,
    option("--out", "-o", metavar="PATH", help="File to write: .svg for one sentence, .html for a page; or a folder."),
]
Which = Annotated[
    str | None,
    option("--sentence", "-n", metavar="ID", help="Id or number of the sentence, id of the entity.", shown="all"),
]
What = Annotated[
    list[str] | None,
    option(
        "--what",
        metavar="KIND",
        help="What to draw: tree, phrases, scope, amr, relations, events, opinions, spans, timeline, coherence, "
        "entities or pairs.",
        shown="everything annotated",
    ),
]
Layers = Annotated[list[str] | None, option("--layer", metavar="NAME", help="Span layer to draw.", shown="all")]


def draw(
    file: File,
    out: Out,
    sentence: Which = None,
    what: What = None,
    layer: Layers = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Draw trees, phrases and spans: one SVG file per sentence, or one page with all of them."""
    from weft.pictures import DocPictures, sentence_id, show, stacked

    single = out.suffix == ".svg"
    if what == ["timeline"]:
        _draw_timelines(file, out, from_format, fields, encoding)
        return
    if what == ["coherence"]:
        _draw_coherence(file, out, from_format, fields, encoding)
        return
    if what == ["entities"]:
        _draw_entities(file, out, sentence)
        return
    if what == ["pairs"]:
        from weft.cli.apply.same_language import draw_pairs
        from weft.tasks.similarity.compare import read_compared

        pairs = list(read_compared(file, encoding=encoding))
        typer.echo(f"{counted(draw_pairs(pairs, out, sentence), 'pair')} in {out}")
        return
    if single and sentence is None:
        raise ConfigError(f"{out} is one picture: choose its sentence, such as --sentence 1, or give a folder")
    sentences = _sentences(file, sentence, from_format, fields, encoding)
    if out.suffix == ".html":
        picture = show((each for _, each in sentences), what, layer, limit=10_000)
        if not picture.figures:
            raise _nothing(file)
        out.parent.mkdir(parents=True, exist_ok=True)
        picture.save(out)
        typer.echo(f"{counted(picture.sentences, 'sentence')} in {out}")
        return
    drawn = 0
    pictures: DocPictures | None = None
    for number, each in sentences:
        if pictures is None or pictures.doc is not each.doc:
            pictures = DocPictures(each.doc, what, layer)
        found = pictures.svgs(each, styled=False)
        if not found:
            raise _nothing(file)
        place = out if single else out / f"{number:04d}.svg"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(stacked(found, each.text, sentence_id(each)), encoding="utf-8")
        drawn += 1
    typer.echo(f"{counted(drawn, 'picture')} in {out}")


def _draw_timelines(file: Path, out: Path, from_format: str | None, fields: str | None, encoding: str) -> None:
    """The timelines of documents that have some."""
    from weft.pictures import draw_timeline, show_timelines

    every = Reading(from_format, False, fields, encoding).open([file]).docs
    docs = [doc for doc in every if len(doc.spans.get("timeline", ()))]
    if not docs:
        raise DataError(f"{file} has no events and times to draw; annotate it first with `weft annotate`")
    _save(file, out, [draw_timeline(doc) for doc in docs], lambda: show_timelines(docs), "timeline")


def _draw_coherence(file: Path, out: Path, from_format: str | None, fields: str | None, encoding: str) -> None:
    """The sentence graphs of documents with trees."""
    from weft.pictures import draw_sentences, drawn_text, show_sentences
    from weft.tasks.coherence import SentenceGraph

    docs = Reading(from_format, False, fields, encoding).open([file]).docs
    texts = [drawn_text(SentenceGraph.of(doc)) for doc in docs if doc.n_sentences > 1]
    if not texts:
        raise DataError(f"{file} has no document of several sentences; annotate text first with `weft annotate`")
    _save(file, out, [draw_sentences(text) for text in texts], lambda: show_sentences(texts), "sentence graph")


def _save(file: Path, out: Path, pictures: list[str], page: Callable[[], Picture], kind: str) -> None:
    """One picture per document: a file for one, a folder for several, or a page of all."""
    if out.suffix == ".svg" and len(pictures) > 1:
        raise ConfigError(
            f"{out} is one picture, but {file} has {len(pictures)} {kind}s: give a folder, or a page (.html)"
        )
    (out if not out.suffix else out.parent).mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        page().save(out)
    else:
        for number, picture in enumerate(pictures, 1):
            place = out if out.suffix == ".svg" else out / f"{number:04d}.svg"
            place.write_text(picture, encoding="utf-8")
    typer.echo(f"{counted(len(pictures), kind)} in {out}")


def _draw_entities(folder: Path, out: Path, wanted: str | None) -> None:
    """Entities of the lowest threshold: a file for one, a folder for several, or a page of all, the largest first."""
    from weft.pictures import draw_entity, show_entities

    found = _entities(folder)
    if wanted is not None:
        ids = [each.id for each in found]
        if wanted not in ids:
            hint = did_you_mean(wanted, ids, f"it has {_counted(len(ids))}")
            raise DataError(f"there is no entity {wanted} in {folder}; {hint}")
        found = [found[ids.index(wanted)]]
    if out.suffix == ".svg" and len(found) > 1:
        raise ConfigError(
            f"{out} is one picture: choose an entity by --sentence ID, or give a folder or a page (.html)"
        )
    (out if not out.suffix else out.parent).mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        show_entities(found).save(out)
    else:
        for number, each in enumerate(found, 1):
            place = out if out.suffix == ".svg" else out / f"{number:04d}.svg"
            place.write_text(draw_entity(each), encoding="utf-8")
    typer.echo(f"{_counted(len(found))} in {out}")


def _counted(entities: int) -> str:
    return "1 entity" if entities == 1 else f"{entities:,} entities"


def _entities(folder: Path) -> list[DrawnEntity]:
    """The entities of the lowest threshold with the merges that made them."""
    from weft.pictures import DrawnEntity, Joined
    from weft.tasks.coreference.across.files import read_table

    if not folder.is_dir():
        raise DataError(
            f"{folder} is no folder: entities are drawn from the folder that `weft lexicon entities` writes"
        )
    try:
        rows = [(float(row["threshold"]), str(row["entity"]), row) for row in read_table(folder, "entities")]
        lowest = min((threshold for threshold, _, _ in rows), default=0.0)
        joined: dict[str, list[Joined]] = {}
        first: dict[str, tuple[str, int]] = {}
        for row in read_table(folder, "merges"):
            if float(row["threshold"]) == lowest:
                own = Joined(
                    str(row["names"][0]), int(row["mentions"]), float(row["similarity"]), [*map(str, row["words"])]
                )
                joined.setdefault(str(row["entity"]), []).append(own)
                first.setdefault(str(row["entity"]), (str(row["into_names"][0]), int(row["into_mentions"])))
        found = []
        for threshold, name, row in rows:
            if threshold == lowest:
                only = str(row["names"][0]["name"]), int(row["mentions"])
                found.append(DrawnEntity(name, int(row["mentions"]), *first.get(name, only), joined.get(name, [])))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"the tables in {folder} are not those of `weft lexicon entities`: {error!r}") from None
    if not found:
        raise DataError(f"{folder} has no entities to draw")
    return sorted(found, key=lambda each: -each.mentions)


def _sentences(
    file: Path, wanted: str | None, from_format: str | None, fields: str | None, encoding: str
) -> Iterator[tuple[int, Sentence]]:
    """The sentences to draw with their numbers: all, or the one with an id, or else with a number."""
    from weft.pictures import sentence_id
    from weft.text.split import with_words

    number, by_number, ids = 0, None, []
    for doc in Reading(from_format, False, fields, encoding).open([file]).docs:
        # Events, opinions and the like may be marked in text that nobody cut into words.
        if doc.spans and not doc.n_words:
            with_words([doc])
        for each in doc.sentences:
            number += 1
            ids.append(sentence_id(each))
            if wanted is None or wanted == ids[-1]:
                yield number, each
            elif wanted == str(number):
                by_number = (number, each)
    if not number:
        raise DataError(
            f"{file} has no sentences to draw, only text; annotate it first, `weft annotate {file} --out FILE.conllu`, "
            "and draw that file"
        )
    if wanted is not None and wanted not in ids:
        if by_number is None:
            hint = did_you_mean(wanted, filter(None, ids), f"it has {counted(number, 'sentence')}")
            raise DataError(f"there is no sentence {wanted} in {file}; {hint}")
        yield by_number


def _nothing(file: Path) -> DataError:
    return DataError(f"{file} has no trees, phrases, graphs or spans to draw; annotate it first with `weft annotate`")
