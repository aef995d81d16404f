"""Convert documents from one annotation scheme to another, with a log of the changes.

    ud -> universal, universal -> ud     tags, coordination, copulas, adpositions, labels (`from_ud`, `to_ud`)
    penn -> universal                    English constituents: heads and relations by rule (`from_penn`)
    stanford, cast3lb -> universal       label tables; tags by a `*.map` file
    own -> universal                     a user's own table and map

Words, ranges, empty nodes, comments and all columns except UPOS, HEAD and DEPREL are unchanged.
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

#: The target schemes for each source scheme.
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
    """New documents in another scheme.

    `tags` maps a treebank's tags (XPOS, or UPOS if that is empty) to the twelve universal ones, `labels` is its
    relation table, and `coordination="prague"` says that conjunctions are heads. `steps` selects steps of the
    conversion from Universal Dependencies.

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
        raise ConfigError(f"a tag map is only for treebanks with their own tags; the tags of {source} are built in")
    return (_converted(doc, change, log, tags) for doc in docs)


def _of_constituents(docs: Iterable[Doc], log: Log) -> Iterator[Doc]:
    return (convert_penn(doc, log) for doc in docs)


def _converted(doc: Doc, change: Callable[[WorkTree], None], log: Log, tags: Mapping[str, str] | None) -> Doc:
    if tags is not None:
        doc = _mapped(doc, tags)
    if doc.head is None and doc.n_words:
        raise DataError(f"{doc!r} has no heads; conversion needs trees in the columns HEAD and DEPREL")
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        if doc.head is not None and (doc.head[first:end] < 0).any():
            raise DataError(
                f"sentence {sentence_name(doc, number)}: some words have no head; only complete trees can be converted"
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
    """A document whose UPOS are the universal tags for its own tags."""
    tags_given = doc.column("xpos" if doc.has("xpos") else "upos")
    unknown = next((tag for tag in tags_given if tag not in tags), None)
    if unknown is not None:
        raise DataError(f"the tag map does not contain {unknown or 'the empty tag'!r}; add a line: {unknown}<TAB>TAG")
    new = doc.subset(range(doc.n_sentences))
    new.set_column("upos", [tags[tag] for tag in tags_given])
    return new


def _change(
    source: str, target: str, labels: LabelTable | None, coordination: str, steps: Collection[str]
) -> Callable[[WorkTree], None]:
    """The function that converts one tree."""
    if source not in CONVERSIONS or target not in CONVERSIONS[source]:
        known = ", ".join(f"{one} to {other}" for one, others in CONVERSIONS.items() for other in others)
        raise ConfigError(f"there is no conversion from {source!r} to {target!r}; choose from {known}")
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise ConfigError(f"unknown step {unknown[0]!r}; choose from {', '.join(STEPS)}")
    if coordination not in ("", "prague"):
        raise ConfigError(f"coordination must be None or 'prague', but is {coordination!r}")
    if source == "ud":
        return lambda tree: from_ud(tree, steps)
    if source == "universal":
        return to_ud
    table = labels if labels is not None else LabelTable.load(source) if source in TABLES else None
    if table is None and not coordination:
        raise ConfigError(
            "a treebank with its own scheme needs a label table (relation, tag, tag of the head, new relation)"
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
    """A UD tree in a deliberately different style: Prague coordination, adpositions as heads.

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
    """Replace all heads and relations of a tree, recording each change under the current rule."""
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True), start=1):
        if (head, relation) != (tree.head(word), tree.relation(word)):
            tree.put(word, head, relation)
