"""`weft diagnose resources`: does SemLink fit VerbNet, and are all types of restrictions known?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

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

EXAMPLE = (
    "weft diagnose resources --verbnet examples/preferences/verbnet --semlink examples/preferences/semlink.json "
    "--types examples/preferences/types.tsv --list 'missing class'"
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
        option("--list", metavar="KIND", help="List the findings of a kind, such as 'missing class'; repeat."),
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
    from weft.lexical.resources.semantic_types import coverage

    unknown = [kind for kind in listed or () if kind not in audit.KINDS]
    if unknown:
        raise ConfigError(f"there is no kind {unknown[0]!r}; choose from {', '.join(audit.KINDS)}")
    read = open_verbs(verbnet, semlink, types, patches or [])
    verbs, links, table = read.verbs, read.links, read.types
    found = audit.audit(links, verbs, table, PropBank.read(frames) if frames is not None else None)
    missing = audit.missing_classes(found)
    covered = coverage(verbs, table)
    if repairs is not None:
        proposed = audit.repairs(found, links, verbs)
        lines = ["\t".join(patch[:4]) for patch in proposed]
        repairs.write_text("".join(f"{line}\n" for line in ["# Repairs of missing classes.", *lines]), encoding="utf-8")
    if as_json:
        print_json(
            {
                "sources": [str(each.source) for each in (verbs, links, table)], "links": len(links),
                "classes": len(verbs), "findings": dict(Counter(finding.kind for finding in found)),
                "missing classes": dict(missing), "types": [each._asdict() for each in covered],
                "list": [finding._asdict() for finding in found if finding.kind in (listed or audit.KINDS)],
            }
        )  # fmt: skip
        return
    for each in (verbs, links, table):
        typer.echo(str(each.source))
    counts = Counter(finding.kind for finding in found)
    print_table("Findings", ["", "number"], [[kind, f"{counts[kind]:,}"] for kind in audit.KINDS], figures=[1])
    if missing:
        rows = [[number, f"{count:,}"] for number, count in sorted(missing.items())]
        print_table("Classes that SemLink names and VerbNet does not have", ["class", "links"], rows, figures=[1])
    rows = [[each.type, f"{each.uses:,}", " ".join(each.roots) or "no row"] for each in covered]
    print_table("Types of restrictions", ["type", "uses", "synsets"], rows, figures=[1])
    for finding in found:
        if finding.kind in (listed or ()):
            typer.echo(f"{finding.kind}: {finding.place}: {finding.detail}")
    if repairs is not None:
        typer.echo(f"{counted(len(proposed), 'repair')} in {repairs}")
