"""`weft diagnose preferences TEXT...`: verbs whose arguments break selectional preferences, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import RUNNING, JsonFlag, Models, counted, option, print_json
from weft.cli.inputs import Encoding, FromFormat, Reading, Texts
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.preferences.detector import PreferenceDetector
    from weft.tasks.preferences.resources import Resources
    from weft.text import Doc
    from weft.text.conventions.preferences import Preference

EXAMPLE = (
    "weft diagnose preferences examples/preferences/news.txt --verbnet examples/preferences/verbnet "
    "--semlink examples/preferences/semlink.json --wordnet examples/preferences/wordnet "
    "--types examples/preferences/types.tsv"
)
RESOURCES = "Resources"
OWN = "weft"
#: Models for text without semantic roles.
MODELS: tuple[str, ...] = ("en", "en-roles")

VerbNetPath = Annotated[
    Path | None,
    option(
        "--verbnet", metavar="PATH", panel=RESOURCES, help="VerbNet: a zip file or a folder of XML files.",
        shown="the corpus verbnet3",
    ),
]  # fmt: skip
SemLinkPaths = Annotated[
    list[Path] | None,
    option(
        "--semlink", metavar="FILE", panel=RESOURCES, help="SemLink as JSON; repeat to lay one file over another.",
        shown="the corpus semlink",
    ),
]  # fmt: skip
WordNetPath = Annotated[
    Path | None,
    option("--wordnet", metavar="FOLDER", panel=RESOURCES, help="Database of WordNet.", shown="of this machine"),
]
TypesPath = Annotated[
    Path | None,
    option("--types", metavar="FILE", panel=RESOURCES, help="What types of restrictions are in WordNet.", shown="ours"),
]
Patches = Annotated[
    list[str] | None,
    option(
        "--patches", metavar="FILE", panel=RESOURCES,
        help="Patches of the resources; repeat. The name weft stands for Weft's own, none for no patches.",
        shown="weft, if no resource is named",
    ),
]  # fmt: skip


def open_resources(
    verbnet: Path | None, semlink: list[Path] | None, wordnet: Path | None, types: Path | None,
    patches: list[str] | None,
) -> Resources:  # fmt: skip
    """The resources of the options, with their patches."""
    from weft.tasks.preferences.resources import Resources

    names = patches if patches is not None else [] if verbnet or semlink or types else [OWN]
    return _patched(Resources.read(verbnet, semlink or (), wordnet, types), names)


def open_verbs(verbnet: Path | None, semlink: list[Path] | None, types: Path | None, patches: list[str]) -> Resources:
    """The resources without WordNet, with their patches."""
    from weft.lexical.resources.semantic_types import TypeTable
    from weft.tasks.preferences.resources import EXCLUDED, Resources, read_excluded, read_verbs

    verbs, links = read_verbs(verbnet, semlink or ())
    return _patched(Resources(verbs, links, None, TypeTable.read(types), read_excluded(EXCLUDED)), patches)


def _patched(found: Resources, names: list[str]) -> Resources:
    from weft.lexical.resources.source import read_patches
    from weft.tasks.preferences.resources import own_patches

    for name in names:
        if name != "none":
            found = found.patched(own_patches() if name == OWN else read_patches(name))
    return found


def preferences(
    files: Texts,
    verbnet: VerbNetPath = None,
    semlink: SemLinkPaths = None,
    wordnet: WordNetPath = None,
    types: TypesPath = None,
    patches: Patches = None,
    corrections: Annotated[
        list[Path] | None,
        option("--corrections", metavar="FILE", help="Corrections of predicted roles, tags and lemmas; repeat."),
    ] = None,
    senses: Annotated[
        str, option("--senses", metavar="all|predicted", help="Readings to consider: of all senses, or the predicted.")
    ] = "all",
    every: Annotated[bool, option("--all", help="Show all verbs, not only those that break preferences.")] = False,
    model: Models = None,
    out: Annotated[
        Path | None, option("--out", "-o", metavar="FILE", panel=RUNNING, help="Write the documents with their layer.")
    ] = None,
    from_format: FromFormat = None,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Flag verbs whose arguments break selectional preferences, a cue for metaphors and for errors.

    Every flag comes with the class of VerbNet, the role, the restriction, the senses that were tried, and the patches
    that changed the judgement. Text without semantic roles is annotated first.
    """
    from weft.lexical.resources.source import read_patches
    from weft.tasks.preferences.detector import PreferenceDetector

    if senses not in ("all", "predicted"):
        raise ConfigError(f"--senses is all or predicted, not {senses!r}")
    found = open_resources(verbnet, semlink, wordnet, types, patches)
    notes = tuple(patch for path in corrections or () for patch in read_patches(path))
    detector = PreferenceDetector(found, senses == "predicted", corrections=notes)
    docs = _annotated(Reading(from_format, encoding=encoding).open(files).docs, model)
    judged = _written(_judged(docs, detector), out)
    told = [_show(doc, every, as_json) for doc in judged]
    counts = {name: sum(own[name] for own, _ in told) for name in ("verbs", "violation", "unknown")}
    if as_json:
        rows = [row for _, own in told for row in own]
        print_json({**counts, "sources": [str(source) for source in found.sources], "judgements": rows})
        return
    total = counted(counts["verbs"], "verb")
    typer.echo(f"{counts['violation']:,} of {total} break preferences; {counts['unknown']:,} cannot be judged")


def _judged(docs: Iterable[Doc], detector: PreferenceDetector) -> Iterator[Doc]:
    for doc in docs:
        detector([doc])
        yield doc


def _written(docs: Iterator[Doc], out: Path | None) -> Iterable[Doc]:
    """Documents, which are also written if there is a file for them."""
    if out is None:
        return docs
    from weft.formats import write

    found = list(docs)
    write(found, out)
    return found


def _show(doc: Doc, every: bool, as_json: bool) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Print the verbs of a document, or return them as rows for JSON; and their counts."""
    rows: list[dict[str, Any]] = []
    verbs = doc.preferences
    for each in verbs:
        if not every and each.outcome != "violation":
            continue
        if as_json:
            rows.append({"document": doc.id, "sentence": each.verb.sentence.index + 1, **_row(each)})
        else:
            typer.echo("\n".join(_lines(doc, each)))
    outcomes = [each.outcome for each in verbs]
    counts = {"violation": outcomes.count("violation"), "unknown": outcomes.count("unknown")}
    return {"verbs": len(verbs), **counts}, rows


def _annotated(docs: Iterable[Doc], models: list[Path] | None) -> Iterator[Doc]:
    """Documents with semantic roles: as they are, or from models."""
    import weft

    nlp = None
    for doc in docs:
        if doc.has("spans/frames") and doc.has("head") and not models:
            yield doc
            continue
        if nlp is None:
            nlp = weft.load(*(models or MODELS))
        yield from nlp.pipe([doc])


def _row(each: Preference) -> dict[str, Any]:
    return {"word": each.verb.number, "form": each.verb.form, **each.explanation}


def _lines(doc: Doc, each: Preference) -> Iterator[str]:
    """One verb as text."""
    sentence = each.verb.sentence
    name = f"{doc.id}, sentence {sentence.index + 1}" if doc.id else f"sentence {sentence.index + 1}"
    yield f"{name}: {sentence.text}"
    why = f" ({each.why})" if each.why else ""
    yield f"  {each.verb.form}: {each.outcome}{why}"
    for reading in each.readings:
        if "ruled_out" in reading:
            yield f"    {reading['roleset']} in {reading['class']}: ruled out, {reading['ruled_out']}"
            continue
        for check in reading["checks"]:
            asks = check["restriction"] or "anything"
            senses = ", ".join(check["senses"]) or "none known"
            verdict = "fits" if check["holds"] else "breaks it"
            stated = f", stated by {check['class']}" if check["class"] != reading["class"] else ""
            yield (
                f"    {reading['roleset']} in {reading['class']}: {check['argument']} {check['head']!r} {verdict}: "
                f"{check['role']} asks for {asks}{stated}; senses: {senses}"
            )
    for change in each.patches:
        turned = f" ({change['before']} became {change['after']})" if change["before"] != change["after"] else ""
        yield f"    patch {change['patch']}{turned}"
