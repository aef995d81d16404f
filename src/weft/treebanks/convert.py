"""Documents from one annotation scheme to another, one after the other, with a log of what was done.

    ud -> universal, universal -> ud     tags, coordination, copulas, adpositions, labels (`from_ud`, `to_ud`)
    penn -> universal                    English constituents: heads and relations by rules (`from_penn`)
    stanford, cast3lb -> universal       tables of labels; tags by a `*.map` file
    own -> universal                     a table and a map of one's own

Words, ranges, empty nodes, comments and all columns but UPOS, HEAD and DEPREL stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from weft.errors import ConfigError, DataError
from weft.text.doc import Doc
from weft.treebanks.coordination import convert as restyle
from weft.treebanks.coordination import stanford_of_prague
from weft.treebanks.from_penn import convert_penn
from weft.treebanks.from_ud import STEPS, from_ud
from weft.treebanks.rewriting import Log, WorkTree, rewrite, sentence_name
from weft.treebanks.tables import TABLES, LabelTable
from weft.treebanks.to_ud import to_ud

#: Schemes that can be converted, by source: those it can become.
CONVERSIONS = {
    "ud": ("universal",),
    "universal": ("ud",),
    "penn": ("universal",),
    **dict.fromkeys(TABLES, ("universal",)),
    "own": ("universal",),
}


def convert_docs(
    docs: Iterable[Doc],
    source: str = "ud",
    target: str = "universal",
    log: Log | None = None,
    *,
    tags: Mapping[str, str] | None = None,
    labels: LabelTable | None = None,
    coordination: str = "",
    steps: Collection[str] = STEPS,
) -> Iterator[Doc]:
    """Documents of their own in another scheme.

    `tags` maps a treebank's own tags (XPOS, or UPOS where that is empty) to the twelve universal ones, `labels` is its
    table of relations, `coordination="prague"` says that conjunctions are heads there. `steps` are those of the
    conversion from Universal Dependencies that are taken.

    >>> doc = Doc.from_words([["in", "spring"]], upos=[["ADP", "NOUN"]], head=[[2, 0]], deprel=[["case", "root"]])
    >>> log = Log()
    >>> new, = convert_docs([doc], log=log)
    >>> new.head.tolist(), new.column("deprel"), log.touched["adposition"]
    ([0, 1], ['ROOT', 'adpobj'], 2)
    """
    log = log if log is not None else Log()
    if source == "penn" and target == "universal":
        return _of_constituents(docs, log)
    change = _named(_change(source, target, labels, coordination, steps))
    if tags and source in ("ud", "universal"):
        raise ConfigError(f"a map of tags is for treebanks with tags of their own; {source} has its own tags already")
    return (_converted(doc, change, log, tags) for doc in docs)


def _of_constituents(docs: Iterable[Doc], log: Log) -> Iterator[Doc]:
    return (convert_penn(doc, log) for doc in docs)


def _converted(doc: Doc, change: Callable[[WorkTree], None], log: Log, tags: Mapping[str, str] | None) -> Doc:
    if tags is not None:
        doc = _mapped(doc, tags)
    if doc.head is None and doc.n_words:
        raise DataError(f"{doc!r} has no heads; trees are converted, and they stand in the columns HEAD and DEPREL")
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        if doc.head is not None and (doc.head[first:end] < 0).any():
            raise DataError(
                f"sentence {sentence_name(doc, number)}: not every word has a head; only trees are converted"
            )
    return rewrite(doc, change, log, log.sentences)


def _named(change: Callable[[WorkTree], None]) -> Callable[[WorkTree], None]:
    """The same change; its errors name the sentence."""

    def named(tree: WorkTree) -> None:
        try:
            change(tree)
        except DataError as error:
            raise DataError(f"sentence {tree.name}: {error}") from None

    return named


def _mapped(doc: Doc, tags: Mapping[str, str]) -> Doc:
    """A document whose UPOS are the universal tags of its own tags."""
    own = doc.column("xpos" if doc.has("xpos") else "upos")
    unknown = next((tag for tag in own if tag not in tags), None)
    if unknown is not None:
        raise DataError(f"the map of tags does not have {unknown or 'the empty tag'!r}; add a line: {unknown}<TAB>TAG")
    new = doc.subset(range(doc.n_sentences))
    new.set_column("upos", [tags[tag] for tag in own])
    return new


def _change(
    source: str, target: str, labels: LabelTable | None, coordination: str, steps: Collection[str]
) -> Callable[[WorkTree], None]:
    """What is done with one tree."""
    if source not in CONVERSIONS or target not in CONVERSIONS[source]:
        known = ", ".join(f"{one} to {other}" for one, others in CONVERSIONS.items() for other in others)
        raise ConfigError(f"no conversion from {source!r} to {target!r}; there are: {known}")
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise ConfigError(f"unknown step {unknown[0]!r}; the steps are: {', '.join(STEPS)}")
    if coordination not in ("", "prague"):
        raise ConfigError(f"coordination is read as it is or from `prague`, got {coordination!r}")
    if source == "ud":
        return lambda tree: from_ud(tree, steps)
    if source == "universal":
        return to_ud
    table = labels if labels is not None else LabelTable.load(source) if source in TABLES else None
    if table is None and not coordination:
        raise ConfigError(
            "a treebank of one's own needs a table of labels (relation, tag, tag of the head, new relation)"
        )

    def change(tree: WorkTree) -> None:
        if coordination:
            tree.rule = "coordination"
            heads, relations = stanford_of_prague(tree.heads, tree.relations, tree.forms)
            set_tree(tree, heads, relations)
        if table is not None:
            table.apply(tree)

    return change


def to_other_style(tree: WorkTree) -> None:
    """A tree of Universal Dependencies in a deliberately different style: Prague coordination, adpositions as heads.

    >>> tree = WorkTree([0, 3, 1], ["root", "cc", "conj"], ["NOUN", "CCONJ", "NOUN"], ["cats", "and", "dogs"])
    >>> to_other_style(tree)
    >>> tree.heads
    [2, 0, 2]
    """
    heads, relations = restyle(tree.heads, tree.relations, tree.forms, "prague")
    tree.rule = "prague"
    set_tree(tree, heads, relations)
    from_ud(tree, ("adposition",))


def set_tree(tree: WorkTree, heads: Iterable[int], relations: Iterable[str]) -> None:
    """Give a tree all its heads and relations anew, each change noted under the rule at work."""
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True), start=1):
        if (head, relation) != (tree.head(word), tree.relation(word)):
            tree.put(word, head, relation)
