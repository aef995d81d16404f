"""The resources that preferences are read from, and the patches of all of them in one order.

| place of a patch | resource |
|---|---|
| `verbnet:seek-35.6/Agent` | VerbNet; see `weft.lexical.resources.verbnet` |
| `semlink:seek.01/35.6/A0` | SemLink; see `weft.lexical.resources.semlink` |
| `types:animate` | what the types of restrictions are in WordNet |
| `excluded:seem` | the verbs that are never flagged; the cell holds the kind of the verb |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from weft import data
from weft.errors import DataError
from weft.lexical.resources.semantic_types import Nouns, NounSource, TypeTable, WordNetNouns
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import MISSING, Patch, Source, contents, mismatch, read_patches
from weft.lexical.resources.synsets import open_wordnet
from weft.lexical.resources.verbnet import VerbNet

VERBNET = "lexicons/verbnet3/verbnet3.zip"
SEMLINK = ("lexicons/semlink/pb-vn2.json.gz", "lexicons/semlink/pb-vn3.4.json")
EXCLUDED = Path(__file__).with_name("excluded.tsv")
#: Weft's own patches of VerbNet 3 and SemLink 2: repairs as `weft diagnose resources` proposes them, and others.
REPAIRS, PATCHES = Path(__file__).with_name("repairs.tsv"), Path(__file__).with_name("patches.tsv")
_NAMES = {"verbnet": "verbs", "semlink": "links", "types": "types"}


@dataclass(frozen=True)
class Resources:
    """VerbNet, SemLink, WordNet with a table of types, and the verbs that are left out, with patches on top.

    Nothing is changed by a patch: `patched` gives other resources, `reverted` and `before` those of earlier.
    """

    verbs: VerbNet
    links: SemLink
    words: NounSource | None
    types: TypeTable
    excluded: dict[str, str]
    patches: tuple[Patch, ...] = ()
    base: Resources | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(
        cls,
        verbnet: str | os.PathLike[str] | None = None,
        semlink: Sequence[str | os.PathLike[str]] = (),
        wordnet: str | os.PathLike[str] | None = None,
        types: str | os.PathLike[str] | None = None,
    ) -> Resources:
        """Read the resources; those that are not named come from the folder of corpora and from this machine.

        Of several files of SemLink each is laid over those before it.
        """
        verbs, links = read_verbs(verbnet, semlink)
        words = WordNetNouns(open_wordnet(wordnet))
        return cls(verbs, links, words, TypeTable.read(types), read_excluded(EXCLUDED))

    @cached_property
    def nouns(self) -> Nouns:
        """The senses of nouns and their types; shared by all resources with the same table of types."""
        first = self
        while first.base is not None and first.base.types is self.types:
            first = first.base
        if first is not self:
            return first.nouns
        if self.words is None:
            raise DataError("these resources were read without WordNet: there are no senses of nouns")
        return self.words.nouns(self.types)

    def patched(self, patches: Iterable[Patch]) -> Resources:
        """The resources with patches, which name their resource first: `verbnet:...`."""
        found = self
        for patch in patches:
            found = found._with(patch)
        return found

    def _with(self, patch: Patch) -> Resources:
        name, sign, place = patch.place.partition(":")
        own = patch._replace(place=place)
        changed: dict[str, Any]
        if sign and name in _NAMES:
            field = _NAMES[name]
            changed = {field: getattr(self, field).patched([own])}
        elif sign and name == "excluded":
            changed = {"excluded": _excluded(self.excluded, own)}
        else:
            known = ", ".join(f"{each}:" for each in (*_NAMES, "excluded"))
            raise DataError(
                f"{patch.origin or patch.place}: expected a place that begins with one of {known} got {patch.place!r}"
            )
        return replace(self, **changed, patches=(*self.patches, patch), base=self)

    def reverted(self, count: int | None = None) -> Resources:
        """The resources without their last patches, or without all of them."""
        found = self
        for _ in range(len(self.patches) if count is None else count):
            if found.base is None:
                break
            found = found.base
        return found

    def steps(self) -> list[tuple[Resources, Patch]]:
        """The resources as they were before each patch, in order, and the patch."""
        found, steps = self, []
        while found.base is not None:
            steps.append((found.base, found.patches[-1]))
            found = found.base
        return steps[::-1]

    @property
    def sources(self) -> list[Source]:
        words = [self.words.source] if self.words is not None else []
        return [self.verbs.source, self.links.source, *words, self.types.source]


def read_verbs(
    verbnet: str | os.PathLike[str] | None = None, semlink: Sequence[str | os.PathLike[str]] = ()
) -> tuple[VerbNet, SemLink]:
    """VerbNet and SemLink; those that are not named come from the folder of corpora."""
    paths = [Path(path) for path in semlink] or [data.find(path) for path in SEMLINK]
    links = SemLink.read(paths[0])
    for path in paths[1:]:
        links = links.overlaid(SemLink.read(path))
    return VerbNet.read(verbnet if verbnet is not None else data.find(VERBNET)), links


def read_excluded(path: str | os.PathLike[str]) -> dict[str, str]:
    """The verbs that are never flagged, and of which kind they are.

    >>> read_excluded(EXCLUDED)["seem"]
    'seeming'
    """
    found = {}
    for number, line in enumerate(contents(path, "the list of excluded verbs").decode("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        verb, tab, kind = line.partition("\t")
        if not verb or not tab or not kind.strip():
            raise DataError(f"{path}, line {number}: expected a verb and its kind, separated by a tab, got {line!r}")
        found[verb] = kind.strip()
    return found


def own_patches() -> list[Patch]:
    """Weft's own patches, repairs of corrupt files first.

    >>> own_patches()[-1].origin.partition(",")[0]
    'patches.tsv'
    """
    return [*read_patches(REPAIRS), *read_patches(PATCHES)]


def _excluded(verbs: dict[str, str], patch: Patch) -> dict[str, str]:
    found = verbs.get(patch.place, MISSING)
    if found != patch.before:
        raise mismatch("the list of excluded verbs", patch, found if found != MISSING else None)
    kept = {verb: kind for verb, kind in verbs.items() if verb != patch.place}
    return kept if patch.after == MISSING else {**kept, patch.place: patch.after}
