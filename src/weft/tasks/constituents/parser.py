"""Shift-reduce constituent parsing with a beam: over characters, jointly with words and tags (Zhang et al. 2013), or
over tagged words (Zhang & Clark 2009).

Over characters the parser works on text without spaces, such as Chinese. Words are trees over characters too: as
annotated in the column `structure` (`weft.text.word_structures`), otherwise left-branching. Without phrases it is a
joint segmenter and tagger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.deadline import check
from weft.declared import Array, Stored
from weft.errors import ConfigError, InferenceError, ModelError, WeftError
from weft.evaluate.trees.parseval import evaluate_constituents
from weft.headers import Many, Record, Table, Text
from weft.infer.constituents.beam import ConstituentModel, action_sequence, new_room, search
from weft.infer.constituents.system import ALL_DIRECTIONS, DONE, NODE, Subwords, Units, new_pool
from weft.infer.constituents.templates import compile_templates
from weft.infer.transitions.beam import WIDEST_BEAM
from weft.infer.transitions.weights import LARGEST, WIDEST, largest_mean, new_narrow, new_wide, pack_wide, unpack_wide
from weft.learn.transitions.constituents import ConstituentTrainer
from weft.pipeline.component import Asked, State, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.constituents.actions import actions_of, closed, compile_actions, tree_of_actions
from weft.tasks.constituents.data import CLOSED, WordRules, subwords_of, units_of
from weft.tasks.constituents.templates import templates_of
from weft.text.binarize import CHINESE, HeadRules, binarize, plain, unbinarize
from weft.text.constituents import doc_of_trees, set_trees, tree_of
from weft.text.doc import Doc
from weft.text.trees import Tree, rebuild
from weft.text.word_structures import COLUMN, collapse, expand, flat

HEADS = {"chinese": CHINESE, "left": HeadRules({}, "l"), "right": HeadRules({}, "r")}
#: Uninformative labels above a whole sentence.
TOP = ("", "ROOT", "TOP", "S1", "VROOT")
#: Weights of a trained model are multiples of 1 / FINEST, or of a coarser step if they would not fit.
FINEST = 256.0
#: Longer sentences are parsed in parts: a search keeps all its states, some 100 KB per character.
LONGEST = 400
_SENTENCE = re.compile(r"[^。！？\n]*[。！？]+[”’」』）]*|[^。！？\n]+")

HEADER = Record(rules=Table(), actions=Many(Text(), least=1, distinct=True))
SUBWORDS = (
    Array("keys", "uint64", ("strings",), rising=True),
    Array("bits", "uint8", ("strings",)),
    Array("tagged", "uint64", ("tagged",), rising=True),
)


@dataclass
class ConstituentSettings(Settings):
    """Settings of the constituent parser."""

    units: str = option("characters", "What the parser reads.", choices=("characters", "words"))
    beam: int = option(16, "Configurations kept per step.")
    epochs: int = option(15, "Passes over the trees.")
    structures: str = option(
        "annotated", "Structures of words: as annotated, or flat, joined from the left.", choices=("annotated", "flat")
    )
    head_characters: bool = option(True, "Use the head characters of words as features.")
    phrases: bool = option(True, "Predict phrases; without them, words and tags only.")
    heads: str = option("chinese", "Head rules.", choices=tuple(HEADS))
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads for parsing.")

    def check(self) -> None:
        """Raise an error for invalid values."""
        choices = {"units": ("characters", "words"), "structures": ("annotated", "flat"), "heads": tuple(HEADS)}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.units == "words" and not self.phrases:
            raise ConfigError("a parser over words predicts only phrases; phrases=false needs units=characters")
        for name in ("beam", "epochs", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name, most in (("beam", WIDEST_BEAM), ("workers", 1024)):
            if getattr(self, name) > most:
                raise ConfigError(f"{name} must be at most {most}, got {getattr(self, name)}")


class Sentence(NamedTuple):
    """A sentence of a treebank: a tree over words, and the structures of its words."""

    tree: Tree
    structures: tuple[str, ...]

    def words(self) -> list[tuple[str, str]]:
        """Words with their tags."""
        return [(leaf.word, leaf.label) for leaf in self.tree.leaves()]


def sentences_of(docs: Iterable[Doc], phrases: bool = True) -> list[Sentence]:
    """The trees of documents, without function tags and without uninformative labels at the top.

    Without `phrases`, tagged words suffice.
    """
    found = []
    for doc in docs:
        if phrases and doc.constituents is None and doc.n_words:
            raise WeftError(f"{doc!r} has no constituents; read a file of bracketed trees")
        structures = doc.column(COLUMN)
        for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
            if first < end:
                tree = _simple(tree_of(doc, number))
                own = [s or flat(len(leaf.word)) for s, leaf in zip(structures[first:end], tree.leaves(), strict=True)]
                found.append(Sentence(tree, tuple(own)))
    return found


def _simple(tree: Tree) -> Tree:
    while tree.label in TOP and len(tree.children) == 1:
        (tree,) = tree.children
    made = rebuild(tree, lambda leaf: leaf, lambda label, children: Tree(plain(label) or TOP[1], children))
    assert made is not None
    return made


def binary_tree(sentence: Sentence, settings: ConstituentSettings) -> Tree:
    """The gold tree for a parser with these settings: binary, down to characters (or words)."""
    words = [leaf.word for leaf in sentence.tree.leaves()]
    if settings.units == "words":
        whole = _over_words(sentence.tree)
    else:
        # A tagger has no features that tell the structures of a word apart.
        annotated = settings.structures == "annotated" and settings.phrases
        own = sentence.structures if annotated else [flat(len(word)) for word in words]
        whole = expand(sentence.tree, own)
    return binarize(whole, HEADS[settings.heads])


def _over_words(tree: Tree) -> Tree:
    made = rebuild(tree, lambda leaf: Tree(f"{leaf.label}#t", (Tree(f"{leaf.label}#b", (), leaf.word),)), Tree)
    assert made is not None
    return made


class ConstituentParser(Trainable):
    """Predicts phrase-structure trees, and over characters also words and tags."""

    task = "constituents"
    settings_class = ConstituentSettings
    settings: ConstituentSettings

    def __init__(self, settings: ConstituentSettings | None = None) -> None:
        super().__init__(settings)
        self.rules = WordRules([])
        self.names: list[str] = []
        self.labels: list[str] = []
        self.model: ConstituentModel | None = None
        self._packed: Arrays = {}
        if self.settings.units == "characters":
            phrases = ("constituents",) if self.settings.phrases else ()
            self.provides: tuple[str, ...] = ("tokens", "sentences", "xpos", COLUMN, *phrases)
        else:
            self.requires, self.provides = ("tokens", "sentences", "xpos"), ("constituents",)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with constituents; with `dev`, keep the weights of the best epoch."""
        phrases = self.settings.phrases
        return self.learn(sentences_of(train, phrases), sentences_of(dev, phrases) if dev is not None else ())

    def learn(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] = (),
        watch: Callable[[int, float], None] | None = None,
        tags: Sequence[Sequence[str]] | None = None,
    ) -> dict[str, Any]:
        """Train on sentences; `watch` receives epochs and dev scores, `tags` replace the gold tags as input of a parser
        over words."""
        if not train:
            raise WeftError("there are no sentences to train on")
        settings = self.settings
        trees = [binary_tree(sentence, settings) for sentence in train]
        gold_names = [self._gold(tree) for tree in trees]
        words = [sentence.words() for sentence in train]
        pairs = [pair for sentence in words for pair in sentence]
        if tags is not None:
            pairs += [(word, tag) for own, given in zip(words, tags, strict=True)
                      for (word, _), tag in zip(own, given, strict=True)]  # fmt: skip
        self.rules = WordRules(pairs, CLOSED if settings.heads == "chinese" else ())
        self.names = closed(name for names in gold_names for name in names)
        self.names = closed([*self.names, *(f"separate {tag}" for tag in self.rules.tags)])
        self.labels = sorted({name.split(" ")[1] for name in self.names if name.startswith(("binary", "unary"))})
        parts = (node for tree in trees for node in tree.nodes() if node.label.endswith("#t"))
        self.model = self._new_model(subwords_of(parts, self.rules.tags))
        number = {name: k for k, name in enumerate(self.names)}
        if settings.units == "words":
            given = tags if tags is not None else [[tag for _, tag in sentence] for sentence in words]
            gold_names = [_retagged(names, own) for names, own in zip(gold_names, given, strict=True)]
            units, offsets = units_of([[word for word, _ in sentence] for sentence in words], self.rules, given)
        else:
            texts = ["".join(word for word, _ in sentence) for sentence in words]
            cuts = [np.cumsum([len(word) for word, _ in sentence]).tolist() for sentence in words]
            units, offsets = units_of(texts, self.rules, cuts=cuts)
        gold = [np.array([number[name] for name in names], dtype=np.int32) for names in gold_names]
        trainer = ConstituentTrainer(self.model, units, offsets, gold, settings.beam)
        random = np.random.default_rng(settings.seed)
        best, chosen = -1.0, 0
        history: list[dict[str, float]] = []
        for epoch in range(1, settings.epochs + 1):
            told = trainer.epoch(random.permutation(len(train)).tolist())
            history.append({"epoch": epoch, "wrong": told.wrong, "early": told.early})
            if dev or epoch == settings.epochs:
                self._take(trainer)
                score = self.score(dev) if dev else 0.0
                history[-1]["dev"] = score
                if watch is not None:
                    watch(epoch, score)
                if score > best:
                    best, chosen, kept = score, epoch, self._packed
        self._load(kept)
        scores = {"brackets" if settings.phrases else "tags": best} if dev else {}
        return {"scores": scores, "training": {"sentences": len(train), "epoch": chosen, "history": history}}

    def _gold(self, tree: Tree) -> list[str]:
        names = actions_of(tree)
        return names if self.settings.phrases else [n for n in names if not n.startswith(("binary", "unary"))]

    def _new_model(self, subwords: Subwords) -> ConstituentModel:
        settings = self.settings
        program = compile_templates(templates_of(settings.units, settings.phrases, settings.head_characters))
        actions = compile_actions(self.names, self.rules.tags, self.labels)
        return ConstituentModel(
            actions, program, new_wide(len(self.names)), subwords, settings.structures == "flat" or not settings.phrases
        )

    def _take(self, trainer: ConstituentTrainer) -> None:
        """Use the averaged weights of the training so far."""
        table, clock = trainer.model.weights, trainer.clock
        scale = min(FINEST, LARGEST / max(largest_mean(new_narrow(), table, clock), 1e-9))
        self._load(pack_wide(table, clock, scale))

    def _load(self, packed: Arrays) -> None:
        assert self.model is not None
        self._packed = packed
        self.model = self.model._replace(weights=unpack_wide(packed, len(self.names)))

    def score(self, gold: Sequence[Sentence]) -> float:
        """Bracket F1 in percent (without phrases: F1 of tagged words), given the characters of gold sentences."""
        found = self.parse_like(gold)
        report = evaluate_constituents([document_of(gold)], [document_of(found)])
        return 100 * (report.brackets if self.settings.phrases else report.tags).total().f1

    def parse_like(self, gold: Sequence[Sentence], tags: Sequence[Sequence[str]] | None = None) -> list[Sentence]:
        """Parse the characters (or tagged words) of given sentences."""
        words = [sentence.words() for sentence in gold]
        if self.settings.units == "words":
            given = tags if tags is not None else [[tag for _, tag in sentence] for sentence in words]
            return self.parse([[word for word, _ in sentence] for sentence in words], given)
        return self.parse(["".join(word for word, _ in sentence) for sentence in words])

    def parse(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None, beam: int | None = None
    ) -> list[Sentence]:
        """Parse sentences of characters or, with their `tags`, of words; `beam` may differ from training."""
        found = []
        for names, sentence in zip(self.actions(sentences, tags, beam), sentences, strict=True):
            stack = tree_of_actions(names, sentence)
            if self.settings.phrases and stack:
                tree, structures = collapse(unbinarize(stack[0]))
            else:
                tree, structures = collapse(Tree(TOP[1], tuple(stack))) if stack else (Tree(TOP[1]), [])
            found.append(Sentence(tree, tuple(structures)))
        return found

    def actions(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None, beam: int | None = None
    ) -> list[list[str]]:
        """Predict the actions that build the trees."""
        self.trained(self.model)
        units, offsets = units_of(sentences, self.rules, tags)
        return self._search_all(units, offsets, self.settings.beam if beam is None else beam)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tag sentences of given words with a parser over characters.

        >>> from weft.text.trees import parse_tree
        >>> tagger = ConstituentParser(ConstituentSettings(phrases=False, epochs=2, beam=2))
        >>> _ = tagger.learn([Sentence(parse_tree("(NP (JJ 新) (NN 书))"), (".", "."))])
        >>> tagger.tag([["新", "书"]])
        [['JJ', 'NN']]
        """
        texts = ["".join(words) for words in sentences]
        cuts = [np.cumsum([len(word) for word in words]).tolist() for words in sentences]
        units, offsets = units_of(texts, self.rules, cuts=cuts, exact=True)
        found = self._search_all(units, offsets, self.settings.beam)
        return [[name.split(" ")[1] for name in names if name.startswith("separate")] for names in found]

    def _search_all(self, units: Units, offsets: NDArray[np.int64], width: int) -> list[list[str]]:
        numbers = range(len(offsets) - 1)
        workers = min(self.settings.workers, max(1, len(numbers)))
        if workers == 1:
            return self._search(units, offsets, numbers, width)
        parts = [numbers[k::workers] for k in range(workers)]
        found: list[list[str]] = [[] for _ in numbers]
        contexts = [copy_context() for _ in parts]  # a thread may be told to stop by whoever waits for it
        with ThreadPoolExecutor(workers) as threads:
            for part, rows in zip(
                parts,
                threads.map(
                    lambda context, part: context.run(self._search, units, offsets, part, width), contexts, parts
                ),
                strict=True,
            ):
                for s, row in zip(part, rows, strict=True):
                    found[s] = row
        return found

    def _search(self, units: Units, offsets: NDArray[np.int64], numbers: range, width: int) -> list[list[str]]:
        """The actions of the sentences with these indices."""
        assert self.model is not None
        longest = max((int(offsets[s + 1] - offsets[s]) for s in numbers), default=1)
        pool = new_pool(longest, width)
        room = new_room(self.model, width, len(pool))
        out, none = np.zeros(len(pool), dtype=np.int32), np.zeros(0, dtype=np.int32)
        found: list[list[str]] = []
        for s in numbers:
            check()
            first, n = int(offsets[s]), int(offsets[s + 1] - offsets[s])
            count = 0
            if n:
                best, _, _ = search(self.model, units, first, s, n, width, none, pool, room)
                if pool[best, NODE] != DONE:
                    raise InferenceError("the actions of the constituent parser allow no analysis of a sentence")
                count = action_sequence(pool, best, out)
            found.append([self.names[k] for k in out[:count].tolist()])
        return found

    def longest(self, asked: Asked) -> int:
        return LONGEST if self.settings.units == "words" else 0

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            if self.settings.units == "words":
                forms, tags, offsets = doc.column("form"), doc.column("xpos"), doc.sentence_offsets.tolist()
                cut = [(forms[a:b], tags[a:b]) for a, b in pairwise(offsets)]
                found = self.parse([words for words, _ in cut], [own for _, own in cut])
                set_trees(doc, [sentence.tree if sentence.tree.children else None for sentence in found])
            else:
                self._annotate_text(doc)

    def _annotate_text(self, doc: Doc) -> None:
        whole = [
            [m.start() + k for k, letter in enumerate(m.group()) if not letter.isspace()]
            for m in _SENTENCE.finditer(doc.text)
        ]
        places = [part for row in whole for part in _parts(doc.text, row)]
        found = self.parse(["".join(doc.text[at] for at in row) for row in places])
        starts, ends, lengths = [], [], []
        for row, sentence in zip(places, found, strict=True):
            at = 0
            for word, _ in sentence.words():
                starts.append(row[at])
                at += len(word)
                ends.append(row[at - 1] + 1)
            lengths.append(len(sentence.structures))
        doc.set_offsets(starts, ends)
        doc.set_sentences(np.cumsum([0, *lengths]))
        doc.set_column("form", [word for sentence in found for word, _ in sentence.words()])
        doc.set_column("xpos", [tag for sentence in found for _, tag in sentence.words()])
        doc.set_column(COLUMN, [structure for sentence in found for structure in sentence.structures])
        if self.settings.phrases:
            set_trees(doc, [sentence.tree for sentence in found])

    def state(self) -> State:
        model = self.trained(self.model)
        header = {"settings": self.saved_settings(), "rules": self.rules.state(), "actions": self.names}
        subwords = {f"subwords/{name}": array for name, array in model.subwords._asdict().items()}
        return header, {**subwords, **{f"weights/{name}": array for name, array in self._packed.items()}}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> ConstituentParser:
        parser = cls(ConstituentSettings.from_saved(header["settings"]))
        HEADER.check(header)
        parser.rules, parser.names = WordRules.from_state(header["rules"]), list(header["actions"])
        parser.labels = sorted({n.split(" ")[1] for n in parser.names if n.startswith(("binary ", "unary "))})
        parser._check_names()
        stored = Stored.of(arrays)
        subwords = Subwords(*map(np.array, stored.under("subwords/").take(*SUBWORDS).values()))
        if not (subwords.bits & ALL_DIRECTIONS).all():
            raise ModelError("parts of words have no direction: the model file is damaged")
        parser.model = parser._new_model(subwords)
        parser._load(stored.under("weights/"))
        return parser

    def _check_names(self) -> None:
        """Raise an error unless the actions, read from a file, are complete and in their order."""
        starts = {name.partition(" ")[2] for name in self.names if name.startswith("separate ")}
        phrases = any(name.startswith(("binary ", "unary ")) for name in self.names)
        fits = len(self.names) <= WIDEST and starts == set(self.rules.tags) and phrases == self.settings.phrases
        if not fits or self.names != closed(self.names):
            raise ModelError("the actions do not fit the settings and tags: the model file is damaged")


def _parts(text: str, places: Sequence[int]) -> Iterator[Sequence[int]]:
    """The characters of a sentence in parts of at most `LONGEST`, which end after a mark such as a comma if there is
    one in their second half; none if there are no characters.

    >>> [len(part) for part in _parts("茶" * 1000, range(1000))]
    [400, 400, 200]
    """
    while len(places) > LONGEST:
        marks = (at for at in range(LONGEST, LONGEST // 2, -1) if not text[places[at - 1]].isalnum())
        end = next(marks, LONGEST)
        yield places[:end]
        places = places[end:]
    if places:
        yield places


def _retagged(names: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Replace the tags in actions over words."""
    given = iter(tags)
    return [f"separate {next(given)}" if name.startswith("separate") else name for name in names]


def document_of(sentences: Sequence[Sentence]) -> Doc:
    """Sentences as a Chinese document, without spaces.

    >>> from weft.text.trees import parse_tree
    >>> document_of([Sentence(parse_tree("(NP (JJ 新) (NN 书))"), (".", "."))]).text
    '新书'
    """
    doc = doc_of_trees([sentence.tree for sentence in sentences], blanks=False)
    doc.set_column(COLUMN, [structure for sentence in sentences for structure in sentence.structures])
    return doc
