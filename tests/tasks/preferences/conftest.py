"""Small resources: those of the examples."""

from __future__ import annotations

import pytest
from places import ROOT

from weft.lexical.resources.audit import audit, repairs
from weft.tasks.preferences.resources import Resources

FOLDER = ROOT / "examples" / "preferences"


@pytest.fixture(scope="session")
def raw() -> Resources:
    """The resources of the examples as they are."""
    return Resources.read(
        FOLDER / "verbnet", [FOLDER / "semlink.json"], FOLDER / "wordnet", FOLDER / "types.tsv"
    )  # fmt: skip


@pytest.fixture(scope="session")
def repaired(raw) -> Resources:
    """The same with the class that SemLink names and VerbNet does not have."""
    return raw.patched(repairs(audit(raw.links, raw.verbs), raw.links, raw.verbs))
