"""A parser that blends others: every member parses, and their trees are combined (`weft.tasks.parsing.blend`).

    tree = argmax over trees y of  sum over members k of  sum over words d of  omega(k, tag of d) [k attaches d to y_d]

With dev data omega(k, tag) is the labelled accuracy of member k on words with that tag, otherwise all votes are equal.
Members that err differently correct each other: a parser from left to right, one from right to left, one that takes
easy arcs first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from weft.declared import Stored
from weft.errors import ConfigError
from weft.headers import Many, Named, Real, Record, Table, Text
from weft.pipeline.component import Asked, Component, State, Stopwatch, Trainable
from weft.pipeline.registry import GRAPH_SYSTEMS
from weft.pipeline.settings import Settings, clusters_option, native_clusters_option, option
from weft.storage import Arrays
from weft.tasks.parsing.blend import Blender
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.parsing.tree_columns import check_trees
from weft.text.doc import Doc

SYSTEM = "blend"
#: Names and systems of the members, unless others are given.
MEMBERS = {"forwards": "arc-eager", "backwards": "arc-eager+reverse:true", "easy": "easy-first"}
#: Classes of members by their kinds in model files.
KINDS: dict[str, type[Parser] | type[MSTParser]] = {"parser": Parser, "graph-parser": MSTParser}
HEADER = Record(
    members=Many(Record(kind=Text(tuple(KINDS)), state=Table())),
    weights=Named(Many(Real())),
    others=Many(Real()),
    requires=Many(Text()),
)


@dataclass
class BlendedSettings(Settings):
    """Options of a blend of parsers."""

    system: str = option(SYSTEM, "A blend of several parsers.", choices=(SYSTEM,))
    parsers: dict[str, str] = option(
        MEMBERS, "Parsers to blend: their systems, and settings after them.", metavar="NAME=SYSTEM+SETTING:VALUE,..."
    )
    clusters: str = clusters_option()
    native_clusters: str = native_clusters_option()
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.system != SYSTEM:
            raise ConfigError(f"system must be {SYSTEM}, got {self.system!r}")
        if len(self.parsers) < 2:
            raise ConfigError(f"a blend needs two parsers or more, got {len(self.parsers)}")
        for name in self.parsers:
            self.member(name)

    def member(self, name: str) -> ParserSettings | MSTSettings:
        """The settings of a parser to blend.

        >>> BlendedSettings().member("backwards").reverse
        True
        """
        system, *rest = self.parsers[name].split("+")
        kind: type[ParserSettings] | type[MSTSettings] = MSTSettings if system in GRAPH_SYSTEMS else ParserSettings
        given = {each.name for each in fields(kind)}
        names: tuple[str, ...] = ("clusters", "native_clusters", "seed", "workers")
        shared = {key: getattr(self, key) for key in names if key in given}
        own = [item.partition(":") for item in rest]
        if not all(middle for _, middle, _ in own):
            raise ConfigError(f"parsers must be written as NAME=SYSTEM+SETTING:VALUE, got {self.parsers[name]!r}")
        try:
            return kind.from_options({**shared, "system": system, **{key: value for key, _, value in own}})
        except ConfigError as error:
            raise ConfigError(f"the parser {name} of the blend: {error}") from None


class BlendedParser(Trainable):
    """Predicts heads and relations by the votes of several parsers.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> parser = BlendedParser()
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]])
    >>> parser([new])
    >>> new.head.tolist(), new.column("deprel")
    ([2, 0], ['nsubj', 'root'])
    """

    task = "blended-parser"
    settings_class = BlendedSettings
    settings: BlendedSettings
    unsaved = ("workers", "clusters", "native_clusters")
    provides = ("head", "deprel")

    def __init__(self, settings: BlendedSettings | None = None) -> None:
        super().__init__(settings)
        self.requires: tuple[str, ...] = ("tokens", "upos")
        self.members: list[Parser | MSTParser] | None = None
        self.blender: Blender | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train every parser on documents with trees; with dev data, weigh them by their accuracy there."""
        watch = Stopwatch()
        docs, held_out = list(train), [doc for doc in dev or () if doc.n_words]
        self.members, training = [], {}
        for name in self.settings.parsers:
            chosen = self.settings.member(name)
            member = Parser(chosen) if isinstance(chosen, ParserSettings) else MSTParser(chosen)
            report = member.fit(docs)
            training = {key: report["training"][key] for key in ("sentences", "words") if key in report["training"]}
            self.members.append(member)
        layers = dict.fromkeys(layer for member in self.members for layer in member.requires)
        self.requires = tuple(layers)
        self.blender = Blender.equal(len(self.members))
        told: dict[str, Any] = {"training": {**training, "parsers": len(self.members), **watch.seconds()}}
        if held_out:
            check_trees(held_out)
            parses = [_parsed(member, held_out) for member in self.members]
            self.blender = Blender.learn(held_out, parses, rounds=0)
            told["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return told

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        members, blender = self.trained(self.members), self.trained(self.blender)
        filled = [doc for doc in docs if doc.n_words]
        if not filled:
            return
        for doc, blended in zip(filled, blender.blend([_parsed(each, filled) for each in members]), strict=True):
            doc.head = blended.head
            doc.set_column("deprel", blended.column("deprel"))

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """UAS and LAS on documents with gold words and trees; subtypes of relations are ignored."""
        check_trees(docs)
        found = [copy.copy(doc) for doc in docs]
        for doc in found:
            doc.columns = dict(doc.columns)
        self.annotate(found, Asked())
        words = attached = labelled = 0
        for doc, own in zip(docs, found, strict=True):
            if doc.head is None or own.head is None:
                continue
            right = doc.head == own.head
            names = zip(doc.column("deprel"), own.column("deprel"), strict=True)
            same = [gold.split(":")[0] == predicted.split(":")[0] for gold, predicted in names]
            words, attached = words + len(right), attached + int(right.sum())
            labelled += int((right & same).sum())
        return {"UAS": attached / words, "LAS": labelled / words}

    def state(self) -> State:
        blender, members = self.trained(self.blender), []
        arrays: Arrays = {}
        for number, member in enumerate(self.trained(self.members)):
            state, own = member.state()
            members.append({"kind": member.task, "state": state})
            arrays |= {f"members/{number}/{name}": array for name, array in own.items()}
        return {
            "settings": self.saved_settings(),
            "members": members,
            "weights": blender.weights,
            "others": blender.others,
            "requires": list(self.requires),
        }, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Component:
        HEADER.check(header)
        component = cls(BlendedSettings.from_saved(header["settings"]))
        stored = Stored.of(arrays)
        component.members = [
            KINDS[each["kind"]].from_state(each["state"], stored.under(f"members/{number}/"))
            for number, each in enumerate(header["members"])
        ]
        component.blender = Blender(header["weights"], header["others"])
        component.blender.check(len(component.members))
        component.requires = tuple(header["requires"])
        return component


def _parsed(member: Component, docs: Sequence[Doc]) -> list[Doc]:
    """Documents that share everything but the trees, which are those of a parser."""
    found = [copy.copy(doc) for doc in docs]
    for doc in found:
        doc.columns = dict(doc.columns)
    member(found)
    return found
