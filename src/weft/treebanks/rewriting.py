"""Rule-based rewriting of dependency trees, with a record of what each rule did.

    promote(w)     w, a dependent of h, takes the place of h, and h attaches to w:   g -> h -> w   becomes   g -> w -> h
    demote(h, w)   the inverse: w takes the place of its head h again, with the dependents that h acquired
    attach(w, h)   w attaches to another head, never to one that it dominates
    relabel(w, r), retag(w, t)

Each of them keeps a tree a tree. Promotion also keeps a projective tree projective: of the dependents of h, those that
would cross w move to w, and of those that should move, the ones between h and a dependent that stays do stay.

A rule has a name, a condition (`match`) that is tested on every word, and an action. A `Log` counts, for every rule,
the words it matched and the arcs it touched, and optionally keeps the individual changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from weft.errors import WeftError
from weft.text.doc import Doc

__all__ = ["Change", "Log", "Rule", "WorkTree", "apply_rules", "rewrite"]


class Change(NamedTuple):
    """One word changed by a rule: its head, relation and tag before and after."""

    rule: str
    sentence: str
    word: int
    before: tuple[int, str, str]
    after: tuple[int, str, str]


@dataclass
class Log:
    """What rules did: words matched, arcs touched (head or relation changed), and optionally the changes themselves.

    >>> log = Log()
    >>> tree = WorkTree([2, 0], ["det", "root"], ["DET", "NOUN"], ["the", "dog"], log=log)
    >>> apply_rules(tree, [Rule("articles", lambda tree, word: tree.tag(word) == "DET",
    ...                         lambda tree, word: tree.relabel(word, "article"))])
    >>> log.matched, log.touched
    ({'articles': 1}, {'articles': 1})
    """

    keep: bool = False
    matched: dict[str, int] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    sentences: int = 0
    words: int = 0

    def match(self, rule: str) -> None:
        """Count a match."""
        self.matched[rule] = self.matched.get(rule, 0) + 1

    def change(self, change: Change) -> None:
        """Count a change, and keep it if changes are kept."""
        if change.before[:2] != change.after[:2]:
            self.touched[change.rule] = self.touched.get(change.rule, 0) + 1
        if self.keep:
            self.changes.append(change)

    def add(self, other: Log) -> None:
        """Add the counts and changes of another log."""
        for ours, theirs in ((self.matched, other.matched), (self.touched, other.touched)):
            for rule, count in theirs.items():
                ours[rule] = ours.get(rule, 0) + count
        self.changes += other.changes
        self.sentences += other.sentences
        self.words += other.words


class WorkTree:
    """The tree of one sentence during rewriting; words count from 1, 0 is the root.

    >>> tree = WorkTree([3, 3, 4, 0], ["case", "det", "obl", "root"], ["ADP", "DET", "NOUN", "VERB"],
    ...                 ["in", "the", "house", "sleeps"])
    >>> tree.promote(1, "adpobj")
    >>> tree.heads, tree.relations
    ([4, 3, 1, 0], ['obl', 'det', 'adpobj', 'root'])
    >>> tree.demote(1, 3, "case")
    >>> tree.heads, tree.relations
    ([3, 3, 4, 0], ['case', 'det', 'obl', 'root'])
    """

    __slots__ = ("feats", "forms", "heads", "log", "name", "relations", "rule", "settled", "tags")

    def __init__(
        self,
        heads: Sequence[int],
        relations: Sequence[str],
        tags: Sequence[str],
        forms: Sequence[str],
        feats: Sequence[str] | None = None,
        name: str = "",
        log: Log | None = None,
    ) -> None:
        self.heads, self.relations, self.tags = list(heads), list(relations), list(tags)
        self.forms, self.feats = list(forms), list(feats) if feats is not None else [""] * len(forms)
        self.name = name
        self.log = log if log is not None else Log()
        self.rule = ""  #: the current rule
        self.settled: set[int] = set()  #: words whose relation is final

    def __len__(self) -> int:
        return len(self.heads)

    def head(self, word: int) -> int:
        return self.heads[word - 1]

    def relation(self, word: int) -> str:
        return self.relations[word - 1]

    def base(self, word: int) -> str:
        """The relation up to the colon."""
        return self.relations[word - 1].partition(":")[0]

    def tag(self, word: int) -> str:
        """The tag of a word, "" for the root."""
        return self.tags[word - 1] if word else ""

    def feature(self, word: int, name: str) -> str:
        """The value of a morphological feature, "" if it is not set."""
        for pair in self.feats[word - 1].split("|"):
            key, _, value = pair.partition("=")
            if key == name:
                return value
        return ""

    def children(self, word: int) -> list[int]:
        """The dependents of a word, left to right."""
        return [child for child, head in enumerate(self.heads, start=1) if head == word]

    def dominates(self, above: int, word: int) -> bool:
        """Whether a word is `above` itself or below it."""
        for _ in range(len(self.heads) + 1):
            if word == above:
                return True
            if word <= 0:
                return False
            word = self.heads[word - 1]
        return False

    def attach(self, word: int, head: int, relation: str | None = None) -> None:
        """Attach a word to another head."""
        if not 0 <= head <= len(self.heads) or self.dominates(word, head):
            raise WeftError(
                f"rule {self.rule or 'attach'!r}: word {word} of sentence {self.name or '?'} cannot attach to "
                f"word {head}, which is below it or not a word"
            )
        self._set(word, head, self.relations[word - 1] if relation is None else relation)

    def put(self, word: int, head: int, relation: str) -> None:
        """Set the head of a word without checking that the result is a tree: for changing many words at once."""
        self._set(word, head, relation)

    def relabel(self, word: int, relation: str, settle: bool = False) -> None:
        """Set the relation of a word; label tables skip a settled one."""
        self._set(word, self.heads[word - 1], relation)
        if settle:
            self.settled.add(word)

    def retag(self, word: int, tag: str) -> None:
        """Set the tag of a word."""
        before = self._state(word)
        self.tags[word - 1] = tag
        self._note(word, before)

    def promote(self, word: int, relation: str, moving: Collection[int] = ()) -> None:
        """A word takes the place of its head, which attaches to it by `relation`.

        `moving` are dependents of the old head that should attach to the word. Dependents beyond the word move in any
        case, and those nearer to the old head than one that stays do not move, so that no new arcs cross.
        """
        old = self.heads[word - 1]
        if old <= 0:
            raise WeftError(f"word {word} of sentence {self.name or '?'} has no head to take the place of")
        others = [child for child in self.children(old) if child != word]
        for child in self._moved(word, old, others, set(moving)):
            self._set(child, word, self.relations[child - 1])
        above, outer = self.heads[old - 1], self.relations[old - 1]
        self._set(old, word, relation)
        self._set(word, above, outer)

    def demote(self, word: int, child: int, relation: str, own: Collection[int] = ()) -> None:
        """A child takes the place of its head, which attaches to it by `relation`; dependents except `own` move too."""
        if self.heads[child - 1] != word:
            raise WeftError(f"word {child} of sentence {self.name or '?'} does not attach to word {word}")
        above, outer = self.heads[word - 1], self.relations[word - 1]
        for other in self.children(word):
            if other != child and other not in own:
                self._set(other, child, self.relations[other - 1])
        self._set(child, above, outer)
        self._set(word, child, relation)

    @staticmethod
    def _moved(word: int, old: int, others: Sequence[int], moving: set[int]) -> list[int]:
        """The dependents of `old` that move to `word`."""
        side = 1 if word > old else -1
        beyond = [child for child in others if (child - word) * side > 0]
        movers = list(beyond)
        for inner in (
            [child for child in others if min(word, old) < child < max(word, old)],
            [child for child in others if (child - old) * side < 0],
        ):
            stay = max((abs(child - old) for child in inner if child not in moving), default=0)
            movers += [child for child in inner if abs(child - old) > stay]
        return movers

    def _state(self, word: int) -> tuple[int, str, str]:
        return self.heads[word - 1], self.relations[word - 1], self.tags[word - 1]

    def _set(self, word: int, head: int, relation: str) -> None:
        before = self._state(word)
        self.heads[word - 1], self.relations[word - 1] = head, relation
        self._note(word, before)

    def _note(self, word: int, before: tuple[int, str, str]) -> None:
        after = self._state(word)
        if after != before:
            self.log.change(Change(self.rule, self.name, word, before, after))


class Rule(NamedTuple):
    """A name, a condition tested on every word, and an action for the words that match.

    Words are tested from right to left, so that a promoting rule handles later conjuncts first.
    """

    name: str
    match: Callable[[WorkTree, int], bool]
    action: Callable[[WorkTree, int], None]


def apply_rules(tree: WorkTree, rules: Sequence[Rule]) -> None:
    """Apply rules in order, each to every word that it matches."""
    for rule in rules:
        tree.rule = rule.name
        for word in range(len(tree), 0, -1):
            if rule.match(tree, word):
                tree.log.match(rule.name)
                rule.action(tree, word)
    tree.rule = ""


def rewrite(doc: Doc, change: Callable[[WorkTree], None], log: Log | None = None, before: int = 0) -> Doc:
    """A new document with every tree changed; tokens, ranges, empty nodes and comments are unchanged.

    Sentences are named by `# sent_id`, or by their number, which continues from `before`.

    >>> doc = Doc.from_words([["dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> rewrite(doc, lambda tree: tree.relabel(1, "subject")).column("deprel")
    ['subject', 'root']
    """
    log = log if log is not None else Log()
    new = doc.subset(range(doc.n_sentences))
    if doc.head is None or new.head is None:
        raise WeftError(f"{doc!r} has no trees to rewrite; fill the column HEAD of CoNLL-U")
    forms, tags, feats, names = (doc.column(name) for name in ("form", "upos", "feats", "deprel"))
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        name = sentence_name(doc, number, before)
        words = slice(first, end)
        tree = WorkTree(doc.head[words].tolist(), names[words], tags[words], forms[words], feats[words], name, log)
        change(tree)
        new.head[words], names[words], tags[words] = tree.heads, tree.relations, tree.tags
        log.sentences += 1
        log.words += end - first
    new.set_column("deprel", names)
    new.set_column("upos", tags)
    return new


def sentence_name(doc: Doc, number: int, before: int = 0) -> str:
    """The `# sent_id` of a sentence, or its number from 1.

    >>> sentence_name(Doc.from_words([["Yes"], ["No"]]), 1)
    '2'
    """
    for line in _comments(doc, number):
        key, sign, value = line[1:].partition("=")
        if sign and key.strip() == "sent_id":
            return value.strip()
    return str(before + number + 1)


def _comments(doc: Doc, number: int) -> Iterator[str]:
    yield from doc.comments[number] if number < len(doc.comments) else ()
