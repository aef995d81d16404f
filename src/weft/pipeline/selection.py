"""Parts of models: which components run, which layers are kept, and what two models that write one layer call it.

A component is named by its task (`--only ner`, `--without parser`), a layer by its name (`--layers entities`). What a
chosen component requires is annotated as well; of the layers, only those named are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.errors import ConfigError, did_you_mean
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.text.conventions.times import read_moment
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

#: Layers that every model shares: a second segmenter leaves words alone.
_SHARED = ("tokens", "sentences")
#: Layers by the names that users give them.
_ALIASES = {"words": "tokens", "trees": "head", "tree": "head", "heads": "head"}


@dataclass(frozen=True)
class Selection:
    """What of one or several models is used: components by task, layers to keep, new names of layers."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    layer_as: tuple[str, ...] = ()
    reference_date: str = ""  #: of time expressions, in place of the documents' dates
    next_means: str = ""  #: what "next Tuesday" means, if not what the model says

    def of(self, nlp: Pipeline) -> Pipeline:
        """The pipeline of the components that are needed.

        >>> Selection(only=("ner",)).of(Pipeline([]))
        Traceback (most recent call last):
        ...
        weft.errors.ConfigError: the model has no component 'ner'; it has none
        """
        tasks = [component.task for component in nlp.components]
        for name in (*self.only, *self.without):
            if name not in tasks:
                hint = did_you_mean(name, tasks, f"it has {', '.join(tasks) or 'none'}")
                raise ConfigError(f"the model has no component {name!r}; {hint}")
        self._set_times(nlp)
        kept = [component for component in nlp.components if component.task not in self.without]
        if self.only or self.layers:
            kept = _with_required(kept, self._wanted(kept))
        return Pipeline(kept, nlp.card) if len(kept) < len(nlp.components) else nlp

    def _set_times(self, nlp: Pipeline) -> None:
        """Tell the components that read time expressions about the reference date and the meaning of next."""
        if not self.reference_date and not self.next_means:
            return
        parts = [part.component if isinstance(part, Renamed) else part for part in nlp.components]
        found = [part for part in parts if hasattr(part, "set_next")]
        if not found:
            raise ConfigError("--reference-date and --next are for models of time expressions; this model has none")
        for part in found:
            if self.reference_date:
                read_moment(self.reference_date)
                part.reference = self.reference_date  # type: ignore[attr-defined]
            if self.next_means:
                part.set_next(self.next_means)

    def _wanted(self, components: Sequence[Component]) -> set[int]:
        """The places of the components that are named, or that provide a named layer."""
        wanted = {place for place, component in enumerate(components) if component.task in self.only}
        provided = {layer for component in components for layer in component.provides}
        for name in self.layers:
            layer = layer_called(name, provided)
            wanted |= {place for place, component in enumerate(components) if layer in component.provides}
        return wanted


def layer_called(name: str, provided: Iterable[str]) -> str:
    """The layer that a user's name means, among those that components provide.

    >>> layer_called("entities", ["tokens", "upos", "spans/entities"])
    'spans/entities'
    """
    known = [*provided, *_SHARED]
    meant = _ALIASES.get(name, name)
    for layer in known:
        if meant in (layer, layer.rpartition("/")[2]):
            return layer
    names = sorted({layer.rpartition("/")[2] for layer in known})
    hint = did_you_mean(name, names, f"it has {', '.join(names)}")
    raise ConfigError(f"the model has no layer {name!r}; {hint}")


def _with_required(components: Sequence[Component], wanted: set[int]) -> list[Component]:
    """The wanted components and those that provide what they require; words come first."""
    needed = set(wanted) | {place for place, component in enumerate(components) if "tokens" in component.provides}
    for place in sorted(wanted, reverse=True):
        needed |= _required(components, place)
    return [component for place, component in enumerate(components) if place in needed]


def _required(components: Sequence[Component], place: int) -> set[int]:
    needed: set[int] = set()
    for layer in components[place].requires:
        earlier = [other for other in range(place) if layer in components[other].provides]
        if earlier:
            needed |= {earlier[-1]} | _required(components, earlier[-1])
    return needed


def layers_read(nlp: Pipeline) -> list[str]:
    """The layers that components read from the input, because no earlier component provides them; text is no layer.

    >>> layers_read(Pipeline([]))
    []
    """
    provided = {"text", *_SHARED}
    read: dict[str, None] = {}
    for component in nlp.components:
        read |= dict.fromkeys(layer for layer in component.requires if layer not in provided)
        provided |= set(component.provides)
    return list(read)


def combined(models: Sequence[tuple[str, Pipeline]], layer_as: Sequence[str] = ()) -> Pipeline:
    """The components of several models as one pipeline; two models that write one layer need another name for it.

    `layer_as` holds new names, `NAME` or `LAYER=NAME`, for the layers of later models.
    """
    names = list(layer_as)
    owners: dict[str, str] = {}
    parts: list[Component] = []
    for model, nlp in models:
        own: dict[str, str] = {}
        for component in nlp.components:
            changed = {}
            for layer in component.provides:
                if layer in owners and layer not in (*component.requires, *component.rewrites, *_SHARED):
                    changed[layer] = _new_name(layer, names, model, owners[layer])
                own[changed.get(layer, layer)] = model
            parts.append(Renamed(component, changed) if changed else component)
        owners |= own
    if names:
        raise ConfigError(f"--layer-as {names[0]}: no two models write one layer that could be called so")
    languages = {nlp.card.get("language") for _, nlp in models}
    card = {"language": languages.pop()} if len(languages) == 1 and None not in languages else {}
    return Pipeline(parts, card)


def _new_name(layer: str, names: list[str], model: str, owner: str) -> str:
    """Take the new name of a layer from the list."""
    kind, _, short = layer.rpartition("/")
    for place, name in enumerate(names):
        of, _, new = name.rpartition("=")
        if of in ("", short, layer):
            del names[place]
            return f"{kind}/{new}" if kind else new
    raise ConfigError(
        f"{model} writes the layer {short}, which {owner} writes too; keep both with --layer-as NAME, which names that "
        f"of {model}, or leave a component out with --without TASK"
    )


class Renamed(Component):
    """A component whose layers go by other names, so that those of an earlier one stay."""

    def __init__(self, component: Component, names: dict[str, str]) -> None:
        fixed = [layer for layer in names if layer in ("head", "constituents")]
        if fixed:
            raise ConfigError(f"a document has one layer {fixed[0]}; leave out one of the components with --without")
        self.component, self.names = component, names
        self.task = component.task  # type: ignore[misc]
        self.requires = component.requires
        self.provides = tuple(names.get(layer, layer) for layer in component.provides)
        self.gives_probabilities = component.gives_probabilities  # type: ignore[misc]
        self.gives_kbest = component.gives_kbest  # type: ignore[misc]

    def __call__(self, docs: Sequence[Doc], *, probabilities: bool = False, kbest: int = 0) -> None:
        before = [self._take(doc) for doc in docs]
        self.component(docs, probabilities=probabilities, kbest=kbest)
        for doc, held in zip(docs, before, strict=True):
            for layer, new in self.names.items():
                for holder, name, new_name in _places(doc, layer, new):
                    if name in holder:
                        holder[new_name] = holder.pop(name)
            for holder, name, value in held:
                holder[name] = value

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self(docs, probabilities=asked.probabilities, kbest=asked.kbest)

    def state(self) -> State:
        raise ConfigError("a component with --layer-as cannot be saved; save the models one by one")

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Any) -> Renamed:
        raise ConfigError("a component with --layer-as cannot be stored")

    def _take(self, doc: Doc) -> list[tuple[dict[str, Any], str, Any]]:
        """Take the layers of earlier components away, to be put back."""
        held = []
        for layer, new in self.names.items():
            for holder, name, _ in _places(doc, layer, new):
                if name in holder:
                    held.append((holder, name, holder.pop(name)))
        return held


def _places(doc: Doc, layer: str, new: str) -> list[tuple[dict[str, Any], str, str]]:
    """Where a document holds a layer: dictionaries with the old and the new name."""
    kind, _, name = layer.rpartition("/")
    if kind:
        return [(getattr(doc, kind), name, new.rpartition("/")[2])]
    return [(doc.columns, layer, new), (doc.confidence, layer, new)]


def keep_layers(doc: Doc, layers: Sequence[str], words: bool) -> None:
    """Remove all layers but those named, in place; without words, spans are counted in characters.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "left"]], upos=[["PROPN", "VERB"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> keep_layers(doc, ["entities"], words=False)
    >>> doc.n_words, doc.entities
    (0, [Span('Ada', 'PER')])
    """
    named = {_ALIASES.get(name, name).rpartition("/")[2] for name in layers}
    trees = bool(named & {"head", "deprel"})
    doc.columns = {
        name: ids
        for name, ids in doc.columns.items()
        if name == "form" or name in named or (trees and name == "deprel")
    }
    doc.head = doc.head if trees else None
    doc.confidence = {name: values for name, values in doc.confidence.items() if name in {*doc.columns, "head"} & named}
    doc.constituents = doc.constituents if "constituents" in named else None
    for holder in (doc.spans, doc.relations, doc.clusters, doc.graphs):
        for name in [name for name in holder if name not in named]:
            del holder[name]
    if not words and not trees and len(doc.columns) == 1 and not named & {"tokens", "sentences", "constituents"}:
        _drop_words(doc)


def _drop_words(doc: Doc) -> None:
    for name, layer in doc.spans.items():
        doc.spans[name] = chars_of_words(doc, layer)
    none = np.zeros(0, dtype=np.int32)
    doc.token_start = doc.token_end = doc.word_token = none
    doc.columns = {"form": none}
    doc.multiwords, doc.empty_nodes = [], []
    doc.set_sentences([0])
