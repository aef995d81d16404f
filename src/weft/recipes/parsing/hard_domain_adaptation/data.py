"""Data for the domain-adaptation recipe: newspaper and web text with the same head rules, genres, synthetic shifts.

Split A shifts the distribution and keeps the guidelines: the target consists of other sentences of the same treebank,
with every content word replaced by one from an artificial vocabulary of its cluster, which preserves co-occurrence, and
with sentences without pronouns sampled more often; content words in both share one tag, so that words matter. Split B
keeps the text and changes the guidelines: compounds and names, whose nouns all attach to one of them, become chains
that start at the first noun.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from weft.formats import read
from weft.hashing import hash_string
from weft.lexical.clusters.monolingual import cluster_words
from weft.recipes.framework import RecipeOptions
from weft.tasks.parsing_transfer.noun_phrases import NOUNS
from weft.text.constituents import tree_of
from weft.text.doc import Doc
from weft.text.trees import Tree, parse_tree
from weft.treebanks.head_rules import doc_of_heads

WSJ = "treebanks/constituency/ptb-sample/wsj-sample.mrg.gz"
WEB = "srl/propbank-ewt/{}.tsv.gz"
GUM = "treebanks/ud/English-GUM/{}.conllu.gz"
EWT = "treebanks/ud/English-EWT/{}.conllu.gz"
#: Universal tags of the words that split A replaces.
CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "ADV"))
#: Number of artificial words per cluster and tag.
VOCABULARY = 8
_VOWELS, _CONSONANTS = "aeiou", "bcdfgklmnprstvz"


def newspaper(options: RecipeOptions, first: int, end: int) -> list[Doc]:
    """Sentences `first:end` of the newspaper sample, heads by rule, tag prefixes as coarse tags."""
    trees = [tree_of(doc, i) for doc in read(options.find(WSJ)) for i in range(doc.n_sentences)]
    return [_with_coarse_tags(doc_of_heads(trees[first:end]))]


def web(options: RecipeOptions, genre: str, part: str, most: int) -> list[Doc]:
    """The first sentences of a web genre, heads by the same rules."""
    path = options.find(WEB.format(part))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trees = [tree for found, tree in parse_bits(file) if found == genre]
    return [_with_coarse_tags(doc_of_heads(trees[:most]))]


def parse_bits(lines: Iterator[str] | Sequence[str]) -> Iterator[tuple[str, Tree]]:
    r"""The genre and tree of every sentence in a file of parse bits, in which `*` stands for the word.

    >>> rows = ["# genre = answers", "1\tDogs\tdog\tNNS\t(TOP(S(NP*)", "2\tbark\tbark\tVBP\t(VP*)))", ""]
    >>> [(genre, str(tree)) for genre, tree in parse_bits(rows)]
    [('answers', '(TOP (S (NP (NNS Dogs)) (VP (VBP bark))))')]
    """
    genre, bits = "", []
    for line in (*lines, ""):
        line = line.rstrip("\n")
        if line.startswith("# genre = "):
            genre = line.removeprefix("# genre = ")
        elif line and not line.startswith("#"):
            _, form, _, tag, bit = line.split("\t")[:5]
            word = f" ({_escaped(tag)} {_escaped(form)})"
            bits.append(re.sub(r"\(([^()*\s]+)", r" (\1", bit).replace("*", word))
        elif bits and not line:
            yield genre, parse_tree("".join(bits).strip())
            bits = []


def genres(options: RecipeOptions, part: str, wanted: Sequence[str], most: int, treebank: str = GUM) -> list[Doc]:
    """The first sentences of genres of a UD treebank."""
    found: list[Doc] = []
    left = most
    for doc in read(options.find(treebank.format(part))):
        name = (doc.id or "").split("_")[1] if "_" in (doc.id or "") else ""
        if name in wanted and left > 0:
            found.append(doc.subset(range(min(left, doc.n_sentences))))
            left -= found[-1].n_sentences
    return found


def treebank(options: RecipeOptions, part: str, first: int, end: int) -> list[Doc]:
    """Sentences `first:end` of a part of English-EWT, with only words, coarse tags and trees."""
    return [_bare(doc) for doc in read(options.find(EWT.format(part))).slice_sentences(first, end)]


def other_words(docs: Sequence[Doc], classes: Mapping[str, str]) -> list[Doc]:
    """Split A: documents with an artificial word, from the vocabulary of its cluster and tag, for every content word.

    Fine tags are omitted.

    >>> tags = ["DET", "NOUN", "VERB", "DET", "NOUN"]
    >>> doc = Doc.from_words([["the", "dog", "saw", "the", "dogs"]], upos=[tags], head=[[2, 3, 0, 5, 3]])
    >>> new = other_words([doc], {"dog": "01"})[0].column("form")
    >>> new[0], new[3], new[1] != "dog", other_words([doc], {"dog": "01"})[0].column("form") == new
    ('the', 'the', True, True)
    """
    found = []
    for doc in docs:
        new = doc.subset(range(doc.n_sentences))
        pairs = zip(new.column("form"), new.column("upos"), strict=True)
        words = [_word(form.lower(), tag, classes) if tag in CONTENT else form for form, tag in pairs]
        offsets = new.sentence_offsets.tolist()
        rows = [[words[first:end], new.column("upos")[first:end]] for first, end in pairwise(offsets)]
        assert new.head is not None
        heads = [new.head[first:end].tolist() for first, end in pairwise(offsets)]
        found.append(Doc.from_words([row[0] for row in rows], upos=[row[1] for row in rows], head=heads))
    return found


def with_one_tag(docs: Sequence[Doc]) -> list[Doc]:
    """Documents in which all content words have the same tag, so that only words distinguish them.

    >>> with_one_tag([Doc.from_words([["a", "dog"]], upos=[["DET", "NOUN"]])])[0].column("upos")
    ['DET', 'X']
    """
    found = []
    for doc in docs:
        new = doc.subset(range(doc.n_sentences))
        new.set_column("upos", ["X" if tag in CONTENT else tag for tag in new.column("upos")])
        found.append(new)
    return found


def classes_of_words(docs: Sequence[Doc], classes: int = 100) -> dict[str, str]:
    """Clusters of the words in documents that occur in the same contexts."""
    sentences = (
        doc.column("form")[first:end] for doc in docs for first, end in pairwise(doc.sentence_offsets.tolist())
    )
    return cluster_words(sentences, classes, 3, lower=True).paths()


def resampled(
    docs: Sequence[Doc], wanted: Callable[[Sequence[str]], bool], odds: float, size: int, seed: int
) -> list[Doc]:
    """Sentences sampled without replacement; those whose tags are `wanted` are `odds` times as likely as others."""
    sentences = [(doc, i) for doc in docs for i in range(doc.n_sentences)]
    weights = np.array([odds if wanted(_tags(doc, i)) else 1.0 for doc, i in sentences])
    drawn = np.random.default_rng(seed).choice(
        len(sentences), min(size, len(sentences)), False, weights / weights.sum()
    )
    return [sentences[k][0].subset([sentences[k][1]]) for k in sorted(drawn.tolist())]


def has_no_pronoun(tags: Sequence[str]) -> bool:
    """Whether a sentence has nouns and no pronouns: the construction that is more frequent in split A.

    >>> has_no_pronoun(["NOUN", "VERB"]), has_no_pronoun(["PRON", "VERB"])
    (True, False)
    """
    return "PRON" not in tags


def first_heads(docs: Sequence[Doc]) -> tuple[list[Doc], int]:
    """Split B: documents in which compounds are chains from their first noun; and how many heads changed.

    All adjacent nouns of a compound or name form its chain. Its first noun takes over the outside dependents and the
    head; every other noun attaches to the one before.

    >>> doc = Doc.from_words([["the", "ferry", "captain", "waved"]], upos=[["DET", "NOUN", "NOUN", "VERB"]],
    ...                    head=[[3, 3, 4, 0]], deprel=[["det", "compound", "nsubj", "root"]])
    >>> changed, count = first_heads([doc])
    >>> changed[0].head.tolist(), count
    ([2, 4, 2, 0], 3)
    """
    found, count = [], 0
    for doc in docs:
        new = doc.subset(range(doc.n_sentences))
        assert new.head is not None
        heads, tags, labels = new.head.copy(), new.column("upos"), new.column("deprel")
        for first, end in pairwise(new.sentence_offsets.tolist()):
            heads[first:end] = _rehead(heads[first:end].tolist(), tags[first:end], labels[first:end])
        count += int((heads != new.head).sum())
        new.head = heads
        found.append(new)
    return found, count


def _rehead(heads: list[int], tags: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Heads of one sentence, counted from 1, with compound chains reversed."""
    new = list(heads)
    inside = [
        label.split(":")[0] in ("compound", "flat")
        and tags[i] in NOUNS
        and heads[i] > 0
        and tags[heads[i] - 1] in NOUNS
        for i, label in enumerate(labels)
    ]
    start = 0
    while start < len(heads):
        end = start + 1
        # The longest run of nouns of which all but one attach to another in the run.
        while end < len(heads) and tags[start] in NOUNS and tags[end] in NOUNS:
            end += 1
        run = range(start, end)
        while len(run) > 1 and not _is_chain(run, heads, inside):
            run = range(run.start, run.stop - 1)
        if len(run) > 1:
            top = next(i for i in run if not inside[i])
            for i, head in enumerate(heads):
                if head - 1 in run and i not in run:
                    new[i] = run.start + 1
            new[run.start] = heads[top]
            for i in run[1:]:
                new[i] = i
        start = run.stop
    return new


def _is_chain(run: range, heads: list[int], inside: Sequence[bool]) -> bool:
    tops = [i for i in run if not inside[i]]
    return len(tops) == 1 and all(heads[i] - 1 in run for i in run if inside[i])


def _word(form: str, tag: str, classes: Mapping[str, str]) -> str:
    """An artificial word, always the same for a form: one of the few for its cluster and tag."""
    one_of = hash_string(f"{form} {tag}") % VOCABULARY
    number, syllables = hash_string(f"{tag} {classes.get(form, '')} {one_of}"), []
    for _ in range(4):
        syllables.append(_CONSONANTS[number % len(_CONSONANTS)] + _VOWELS[number // 16 % len(_VOWELS)])
        number //= 97
    return "".join(syllables)


def _with_coarse_tags(doc: Doc) -> Doc:
    doc.set_column("upos", [tag[:2] for tag in doc.column("xpos")])
    return doc


def _bare(doc: Doc) -> Doc:
    new = doc.subset(range(doc.n_sentences))
    new.columns = {name: ids for name, ids in new.columns.items() if name in ("form", "upos", "deprel")}
    return new


def _tags(doc: Doc, sentence: int) -> list[str]:
    first, end = doc.sentence_offsets[sentence : sentence + 2].tolist()
    return doc.strings.strings(doc.columns["upos"][first:end])


def _escaped(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")
