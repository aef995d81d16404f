"""The detector as a component: resources in a model file, applied after a model with semantic roles.

Nothing is learned: training reads the resources, applies patches and stores what judgements need. The method is that of
Dunietz, Levin and Carbonell (2013); see `weft.tasks.preferences.judge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.deadline import check
from weft.errors import ConfigError
from weft.headers import Table
from weft.lexical.resources.source import read_patches
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.preferences.detector import PreferenceDetector
from weft.tasks.preferences.resources import Resources, own_patches
from weft.tasks.preferences.stored import restored, stored
from weft.text.conventions.preferences import LAYER
from weft.text.doc import Doc

OWN, NONE = "weft", "none"


@dataclass
class PreferenceSettings(Settings):
    """Options of a checker of preferences."""

    verbnet: str = option("", "VerbNet: a zip file or a folder of XML files; by default the corpus verbnet3.")
    semlink: str = option("", "SemLink as JSON, files separated by commas; by default the corpus semlink.")
    wordnet: str = option("", "Folder of a WordNet database; by default that of this machine.")
    types: str = option("", "What types of restrictions are in WordNet; by default Weft's own table.")
    patches: str = option("", "Patches, files separated by commas; weft are Weft's own, the default without files.")
    senses: str = option("all", "Readings to consider: of all senses of a verb, or the predicted one.",
                         choices=("all", "predicted"))  # fmt: skip
    layer: str = option(LAYER, "Span and relation layer to write.")

    def check(self) -> None:
        if self.senses not in ("all", "predicted"):
            raise ConfigError(f"senses must be all or predicted, got {self.senses!r}")


def read_resources(settings: PreferenceSettings) -> Resources:
    """The resources that settings name, with their patches."""
    found = Resources.read(
        settings.verbnet or None, [path for path in settings.semlink.split(",") if path], settings.wordnet or None,
        settings.types or None,
    )  # fmt: skip
    named = settings.verbnet or settings.semlink or settings.types
    for name in (settings.patches or (NONE if named else OWN)).split(","):
        if name and name != NONE:
            found = found.patched(own_patches() if name == OWN else read_patches(name))
    return found


class PreferenceChecker(Trainable):
    """Flags verbs whose arguments break the preferences of all their readings."""

    task = "preferences"
    settings_class = PreferenceSettings
    settings: PreferenceSettings
    requires = ("tokens", "upos", "head", "spans/frames")
    unsaved = ("verbnet", "semlink", "wordnet", "types", "patches")

    def __init__(self, settings: PreferenceSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.resources: Resources | None = None
        self._detector: PreferenceDetector | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Read the resources that the settings name; documents are not looked at."""
        watch = Stopwatch()
        header, arrays = stored(read_resources(self.settings))
        self._use(restored(header, arrays))
        resources = self.trained(self.resources)
        return {
            "training": {
                "classes": len(resources.verbs), "links": len(resources.links), "patches": len(resources.patches),
                "nouns": len(arrays["nouns/starts"]) - 1, **watch.seconds(),
            }
        }  # fmt: skip

    def _use(self, resources: Resources) -> None:
        self.resources = resources
        self._detector = PreferenceDetector(resources, self.settings.senses == "predicted", self.settings.layer)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        detector = self.trained(self._detector)
        for doc in docs:
            check()
            detector([doc])

    def state(self) -> State:
        header, arrays = stored(self.trained(self.resources))
        return {"settings": self.saved_settings(), "resources": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> PreferenceChecker:
        checker = cls(PreferenceSettings.from_saved(header["settings"]))
        Table().check(header.get("resources"), "resources")
        checker._use(restored(header["resources"], arrays))
        return checker
