"""Options of graph-based parsers, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.errors import ConfigError
from weft.learn.trees.model import SHAPES
from weft.pipeline.settings import Settings
from weft.tasks.parsing.mst.features import FIELDS, check_clusters

#: Systems and their orders.
SYSTEMS = {"mst1": 1, "mst2": 2, "mst3": 3, "crossing": 3}
LEARNERS = ("mira", "perceptron", "crf")
#: Leaves a choice to held-out trees.
AUTO = "auto"


@dataclass
class GraphParserSettings(Settings):
    """Options of a graph-based parser."""

    system: str = (
        "mst2"  # mst1 (arcs), mst2 (and siblings), mst3 (and grandparents), crossing (the same, crossing arcs)
    )
    # projective, nonprojective, auto: the better on held-out trees; crossing (mst1; the system crossing has its own)
    shape: str = "projective"
    words: str = "form"  # what templates take for words: form, lemma, auto
    learner: str = "mira"  # mira, perceptron, crf
    k: int = 1  # trees that mira keeps below the right one
    constraints: str = "auto"  # what mira compares with the right tree: worst, trees, heads; auto: worst if k is 1
    cap: float = 0.01  # largest step of mira; 0: none
    epochs: int = 8  # passes over the trees
    threshold: float = 0.001  # arcs less probable than the best of their word by this factor are left out; 0: none are
    most: int = 20  # heads kept for a word
    relations: str = "sequence"  # sequence, atomic, none
    morphology: bool = True  # single morphological features and their pairs
    crossings: str = "lift"  # training trees that cross, where trees are projective: lift, reorder, keep, skip
    guide: str = ""  # key of MISC with another parser's heads, such as Guide; empty: none
    single_root: bool = True  # give every sentence exactly one root
    average: bool = True  # weights averaged over all steps
    bits: int = 22  # two to this many weights
    clusters: str = ""  # file of word clusters: `path word` or `word class` a line; the system's templates read them
    templates: str = ""  # feature templates; empty: those of the system
    fields: dict[str, str] = field(default_factory=lambda: dict(FIELDS))  # fields of templates and their columns
    seed: int = 0
    workers: int = 1  # not used in training

    def check(self) -> None:
        choices = {"system": tuple(SYSTEMS), "shape": (*SHAPES, AUTO), "words": ("form", "lemma", AUTO),
                   "learner": LEARNERS, "constraints": ("auto", "worst", "trees", "heads"),
                   "crossings": ("lift", "reorder", "keep", "skip"),
                   "relations": ("sequence", "atomic", "none")}  # fmt: skip
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("epochs", "k", "most"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.templates:
            check_clusters(self.clusters, self.fields)
        if self.shape == "crossing" and self.system not in ("mst1", "crossing"):
            raise ConfigError(f"{self.system} has no shape crossing; mst1 has, and the system crossing has more parts")
        if self.search in ("nonprojective", AUTO) and self.order > 2:
            raise ConfigError("mst3 finds projective trees only; mst1, mst2 and crossing find others")
        if self.constraints == "heads" and (self.system != "mst1" or self.learner != "mira"):
            raise ConfigError("constraints on single heads are for the system mst1 and the learner mira")
        if self.crossings == "reorder" and self.guide:
            raise ConfigError("a guide speaks of words as they stand: use crossings lift, keep or skip with it")
        if self.crossings == "keep" and self.learner == "crf" and self.search == "projective":
            raise ConfigError("crf cannot learn trees that it does not search through: use crossings lift or reorder")
        if not self.sums and (self.learner == "crf" or self.k > 1):
            raise ConfigError(
                f"{self.named} has no probabilities and no k best trees; use mira with k 1, or perceptron"
            )

    @property
    def order(self) -> int:
        return SYSTEMS[self.system]

    @property
    def search(self) -> str:
        """The trees that are searched through."""
        return "crossing" if self.system == "crossing" else self.shape

    @property
    def sums(self) -> bool:
        """Whether there are sums over trees: probabilities, and k best trees."""
        return self.search == "projective" or (self.search != "crossing" and self.order == 1)

    @property
    def columns(self) -> dict[str, str]:
        """Fields and their columns, with lemmas in the place of forms if they are asked for."""
        return {**self.fields, "w": "lemma"} if self.words == "lemma" else self.fields

    @property
    def named(self) -> str:
        return self.system if self.system == "crossing" else f"{self.shape} {self.system}"
