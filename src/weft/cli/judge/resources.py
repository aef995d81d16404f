"""`weft diagnose resources`: does SemLink fit VerbNet, and are all types of restrictions known?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, counted, option, print_json, print_table
from weft.cli.judge.preferences import (
    RESOURCES,
    Patches,
    SemLinkPaths,
    TypesPath,
    VerbNetPath,
    open_verbs,
)
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.resources.audit import Finding
    from weft.tasks.preferences.resources import Resources

EXAMPLE = (
    "weft diagnose resources --verbnet examples/preferences/verbnet --semlink examples/preferences/semlink.json "
    "--types examples/preferences/types.tsv --kind 'missing class'"
)


def resources(
    verbnet: VerbNetPath = None,
    semlink: SemLinkPaths = None,
    types: TypesPath = None,
    patches: Patches = None,
    frames: Annotated[
        Path | None,
        option("--frames", metavar="FILE", panel=RESOURCES, help="PropBank frames, to look rolesets up in."),
    ] = None,
    listed: Annotated[
        list[str] | None,
        option("--kind", metavar="KIND", help="List the findings of a kind, such as 'missing class'; repeat."),
    ] = None,
    repairs: Annotated[
        Path | None,
        option("--repairs", metavar="FILE", help="Write patches for missing classes that follow from their numbers."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Audit SemLink against VerbNet: missing classes, stale roles, empty links, types without synsets.

    No patches are applied unless they are named; with patches it audits the patched resources, so that one sees
    whether a repair works.
    """
    from weft.lexical.resources import audit
    from weft.lexical.resources.propbank import PropBank

    unknown = [kind for kind in listed or () if kind not in audit.KINDS]
    if unknown:
        raise ConfigError(f"there is no kind {unknown[0]!r}; choose from {', '.join(audit.KINDS)}")
    read = open_verbs(verbnet, semlink, types, patches or [])
    found = audit.audit(read.links, read.verbs, read.types, PropBank.read(frames) if frames is not None else None)
    proposed = audit.repairs(found, read.links, read.verbs) if repairs is not None else []
    if repairs is not None:
        lines = ["# Repairs of missing classes.", *("\t".join(patch[:4]) for patch in proposed)]
        repairs.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if as_json:
        print_json(_figures(read, found, listed))
        return
    _show(read, found)
    for finding in found:
        if finding.kind in (listed or ()):
            typer.echo(f"{finding.kind}: {finding.place}: {finding.detail}")
    if repairs is not None:
        typer.echo(f"{counted(len(proposed), 'repair')} in {repairs}")


def _figures(read: Resources, found: list[Finding], listed: list[str] | None) -> dict[str, Any]:
    """The audit as plain values."""
    from weft.lexical.resources.audit import KINDS, missing_classes
    from weft.lexical.resources.semantic_types import coverage

    return {
        "sources": [str(source) for source in read.sources], "links": len(read.links), "classes": len(read.verbs),
        "findings": dict(Counter(finding.kind for finding in found)), "missing classes": dict(missing_classes(found)),
        "types": [each._asdict() for each in coverage(read.verbs, read.types)],
        "list": [finding._asdict() for finding in found if finding.kind in (listed or KINDS)],
    }  # fmt: skip


def _show(read: Resources, found: list[Finding]) -> None:
    """The audit as tables."""
    from weft.lexical.resources.audit import KINDS, missing_classes
    from weft.lexical.resources.semantic_types import coverage

    for source in read.sources:
        typer.echo(str(source))
    counts, missing = Counter(finding.kind for finding in found), missing_classes(found)
    print_table("Findings", ["", "number"], [[kind, f"{counts[kind]:,}"] for kind in KINDS], figures=[1])
    if missing:
        rows = [[number, f"{count:,}"] for number, count in sorted(missing.items())]
        print_table("Missing classes", ["class", "links"], rows, figures=[1])
    rows = [
        [each.type, f"{each.uses:,}", " ".join(each.roots) or "no row"] for each in coverage(read.verbs, read.types)
    ]
    print_table("Types of restrictions", ["type", "uses", "synsets"], rows, figures=[1])
