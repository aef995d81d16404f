"""Options of graph-based parsers, and their valid combinations."""

from __future__ import annotations

from dataclasses import dataclass

from weft.errors import ConfigError
from weft.learn.trees.model import SHAPES
from weft.pipeline.settings import Settings, clusters_option, option, template_fields_option
from weft.tasks.parsing.mst.features import FIELDS, check_clusters

#: Systems and their orders.
SYSTEMS = {"mst1": 1, "mst2": 2, "mst3": 3, "crossing": 3}
LEARNERS = ("mira", "perceptron", "crf")
#: Choose the value on held-out trees.
AUTO = "auto"


@dataclass
class MSTSettings(Settings):
    """Options of a graph-based parser."""

    system: str = option(
        "mst2",
        "Scored parts: arcs (mst1), with siblings (mst2), with grandparents (mst3), the same over crossing arcs.",
        choices=tuple(SYSTEMS),
    )
    shape: str = option("projective", "Trees to search; auto chooses on held-out trees.", choices=(*SHAPES, AUTO))
    words: str = option(
        "form",
        "What templates take for words; auto chooses on held-out trees.",
        choices=("form", "lemma", AUTO),
        flag="--words-from",
    )
    learner: str = option("mira", "Learning algorithm.", choices=LEARNERS)
    k: int = option(1, "Best trees that mira compares with the gold tree.")
    constraints: str = option(
        "auto",
        "What mira compares with the gold tree; auto takes the worst tree if k is 1.",
        choices=("auto", "worst", "trees", "heads"),
    )
    cap: float = option(0.01, "Largest step of mira; 0 sets no limit.")
    epochs: int = option(8, "Passes over the trees.")
    threshold: float = option(0.001, "Prune arcs whose probability is below this share of the best; 0 prunes none.")
    most: int = option(20, "Maximum number of candidate heads per word.")
    relations: str = option(
        "sequence",
        "How relations are labelled: in sequence, one by one, or not at all.",
        choices=("sequence", "atomic", "none"),
    )
    jackknife: int = option(
        0,
        "Learn relations from predicted trees: in so many parts, each parsed by a parser of the others; 0: gold trees.",
        metavar="PARTS",
    )
    morphology: bool = option(True, "Use morphological features and their pairs.")
    crossings: str = option(
        "lift",
        "Training trees with crossing arcs, for a projective search.",
        choices=("lift", "reorder", "keep", "skip"),
    )
    guide: str = option("", "MISC key with another parser's heads, such as Guide.", metavar="KEY")
    single_root: bool = option(True, "Give every sentence exactly one root.")
    average: bool = option(True, "Average the weights over all steps.")
    bits: int = option(22, "Hash weights into 2^N places.", metavar="N")
    clusters: str = clusters_option()
    templates: str = option("", "Feature templates; without any, the system's own.")
    fields: dict[str, str] = template_fields_option(FIELDS)
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

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
        if self.jackknife < 0 or self.jackknife == 1:
            raise ConfigError(f"jackknife needs at least two parts, or 0 for gold trees; got {self.jackknife}")
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold, a share of a probability, must be from 0 to 1, got {self.threshold}")
        if self.templates:
            check_clusters(self.clusters, self.fields)
        if self.shape == "crossing" and self.system not in ("mst1", "crossing"):
            raise ConfigError(
                f"{self.system} does not support shape=crossing; use mst1, or the system crossing, which has more parts"
            )
        if self.search in ("nonprojective", AUTO) and self.order > 2:
            raise ConfigError("mst3 predicts projective trees only; for others use mst1, mst2 or crossing")
        if self.constraints == "heads" and (self.system != "mst1" or self.learner != "mira"):
            raise ConfigError("constraints=heads needs the system mst1 and the learner mira")
        if self.crossings == "reorder" and self.guide:
            raise ConfigError("a guide needs the original word order: use crossings lift, keep or skip with it")
        if self.crossings == "keep" and self.learner == "crf" and self.search == "projective":
            raise ConfigError("crf cannot train on trees outside its search space: use crossings lift or reorder")
        if not self.sums and (self.learner == "crf" or self.k > 1):
            raise ConfigError(
                f"{self.named} has no probabilities and no k best trees; use mira with k 1, or perceptron"
            )

    @property
    def order(self) -> int:
        return SYSTEMS[self.system]

    @property
    def search(self) -> str:
        """The search space: which trees are candidates."""
        return "crossing" if self.system == "crossing" else self.shape

    @property
    def sums(self) -> bool:
        """Whether sums over trees are available: probabilities and k best trees."""
        return self.search == "projective" or (self.search != "crossing" and self.order == 1)

    @property
    def columns(self) -> dict[str, str]:
        """Fields and their columns, with lemmas in place of forms if `words` is `lemma`."""
        return {**self.fields, "w": "lemma"} if self.words == "lemma" else self.fields

    @property
    def named(self) -> str:
        return self.system if self.system == "crossing" else f"{self.shape} {self.system}"
