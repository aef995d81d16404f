"""Features of the hedge detector: the columns that its templates read.

| field | value at a word |
|---|---|
| `TOKEN`, `LEMMA` | the form; the lower-case lemma (default: the form), numbers as `year`, `short` or `long` |
| `MORPH` | a set: part of speech, tag, and every feature |
| `SYN` | a set: the relations of the word, its phrase and its clause |
| `HEAD`, `DEPREL` | the lemma of the head; the relation to it |
| `QUANT` | of quantifiers and nouns with one: the relation of the noun phrase |
| `DOCPT` | the part of the document (comment `# part = ...` of the sentence) |
| `SENLEN` | of the sentence: `S` below 18 words, `M` up to 32, `L` above |
| `HEAD_X` | the field X of the head, for each X of TOKEN, MORPH, SYN, DEPREL, CUE, CUESCOPE |
| `CUE`, `CUESCOPE` | whether the word is in the current cue, and in its syntactic scope (`syntax`) |
| `LABEL` | labels already predicted: `LABEL[-1]`, the set `LABEL{-2..-1}`, also in products |

Templates are those of `weft.features.templates`: a space is the union, `|` the product, `{a..b}` an unordered range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from weft.tasks.uncertainty.syntax import Tree, syntactic_scope
from weft.text.doc import Doc

#: The template sets selected in the paper.
BIO_SENTENCES = "SENLEN[0] LEMMA[0] LEMMA[0]|LEMMA[1] LEMMA[0]|QUANT[0]"
WIKI_SENTENCES = "SENLEN[0] TOKEN[0]|DOCPT[0] TOKEN[0]|TOKEN[1]|SENLEN[0]"
CUES = "TOKEN[0] TOKEN[-1] MORPH[0] LEMMA[0]|LEMMA[1] SYN[0] LEMMA[-1]|LEMMA[0]"
#: The paper lists MORPH of the current word twice; we take the second to be that of the previous word.
SCOPES = (
    "CUESCOPE[0] LABEL{-2..-1} LEMMA[0] MORPH[0] CUE{-2..-1} CUE{0..2} LEMMA[-1] MORPH[-1] TOKEN[1]"
)  # fmt: skip

_SETS = ("MORPH", "SYN", "HEAD_MORPH", "HEAD_SYN")
_PLAIN = ("TOKEN", "LEMMA", "HEAD", "DEPREL", "QUANT", "DOCPT", "SENLEN", "CUE", "CUESCOPE")
_BY_HEAD = ("TOKEN", "DEPREL", "CUE", "CUESCOPE")
#: The columns that the fields of templates read, in documents from `observe` and `with_cues`.
FIELDS = {
    **{name: name for name in _PLAIN},
    **{f"HEAD_{name}": f"HEAD_{name}" for name in _BY_HEAD},
    "HEAD_LEMMA": "HEAD",
    **{name: f"{name}:set" for name in _SETS},
}
#: Optional layers that enrich the fields.
LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel")

_YEAR = re.compile(r"^(1[5-9]|20)\d\d$")
_NUMBER = re.compile(r"^[+-]?\d[\d.,]*$")
_SOME = ("some", "many", "most", "several", "few", "much", "all", "both", "each", "every", "any", "various", "numerous")
_AMOUNT = ("certain", "number", "majority", "lot", "none", "little", "half", "plenty", "multiple")
QUANTIFIERS = frozenset((*_SOME, *_AMOUNT))
_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM")
_IN_PHRASE = ("det", "amod", "nummod", "compound", "nmod", "case", "flat", "fixed", "appos", "advmod")
_CLAUSES = ("root", "csubj", "ccomp", "xcomp", "advcl", "acl", "parataxis")


def number_class(lemma: str) -> str:
    """Replace a number by its kind; other strings are unchanged.

    >>> [number_class(text) for text in ("1998", "42", "3,000", "p53")]
    ['year', 'short', 'long', 'p53']
    """
    if _YEAR.match(lemma):
        return "year"
    if _NUMBER.match(lemma):
        return "short" if sum(map(str.isdigit, lemma)) < 4 else "long"
    return lemma


def length_class(words: int) -> str:
    """The length class of a sentence: S, M or L.

    >>> [length_class(n) for n in (17, 18, 32, 33)]
    ['S', 'M', 'M', 'L']
    """
    return "S" if words < 18 else "M" if words <= 32 else "L"


def trees_of(doc: Doc) -> list[Tree]:
    """The sentences of a document as trees; heads are -1 if the document has none."""
    forms = [form.lower() for form in doc.column("form")]
    lemmas = [lemma.lower() for lemma in doc.column("lemma")]
    tags, relations = doc.column("upos"), doc.column("deprel")
    heads = doc.head.tolist() if doc.head is not None else [0] * doc.n_words
    return [
        Tree(forms[a:b], lemmas[a:b], tags[a:b], [head - 1 if 0 < head <= b - a else -1 for head in heads[a:b]],
             relations[a:b])
        for a, b in pairwise(doc.sentence_offsets.tolist())
    ]  # fmt: skip


def observe(docs: Sequence[Doc]) -> Doc:
    """Join the sentences of documents into one document with the columns that templates read.

    >>> doc = Doc.from_words([["Some", "say", "so"]], lemma=[["some", "say", "so"]], upos=[["DET", "VERB", "ADV"]],
    ...                    head=[[2, 0, 2]], deprel=[["nsubj", "root", "advmod"]])
    >>> seen = observe([doc])
    >>> seen.column("QUANT"), seen.column("HEAD"), seen.column("SENLEN")
    (['nsubj', '', ''], ['say', '', 'say'], ['S', 'S', 'S'])
    """
    columns: dict[str, list[str]] = {name: [] for name in (*_PLAIN[:7], "MORPH", "SYN")}
    columns |= {f"HEAD_{name}": [] for name in ("TOKEN", "DEPREL", "MORPH", "SYN")}
    lengths: list[int] = []
    places: list[int] = []
    for doc in docs:
        bounds = doc.sentence_offsets.tolist()
        tokens = doc.column("form")
        lemmas = [
            number_class((lemma or form).lower()) for lemma, form in zip(doc.column("lemma"), tokens, strict=True)
        ]
        traits = zip(doc.column("upos"), doc.column("xpos"), doc.column("feats"), strict=True)
        morph = ["|".join(filter(None, (f"u:{u}" if u else "", f"x:{x}" if x else "", f))) for u, x, f in traits]
        parts = [sentence.meta.get("part", "") for sentence in doc.sentences]
        for number, (tree, (a, b)) in enumerate(zip(trees_of(doc), pairwise(bounds), strict=True)):
            syn = [_functions(tree, word) if tree.parsed else "" for word in range(b - a)]
            columns_of_words = {
                "TOKEN": tokens[a:b],
                "LEMMA": lemmas[a:b],
                "MORPH": morph[a:b],
                "SYN": syn,
                "DEPREL": list(tree.relations),
                "QUANT": [_quantified(tree, word) for word in range(b - a)],
                "DOCPT": [parts[number]] * (b - a),
                "SENLEN": [length_class(b - a)] * (b - a),
            }
            for name in ("TOKEN", "LEMMA", "MORPH", "SYN", "DEPREL"):
                above = [columns_of_words[name][head] if head >= 0 else "" for head in tree.heads]
                columns["HEAD" if name == "LEMMA" else f"HEAD_{name}"] += above
            for name, values in columns_of_words.items():
                columns[name] += values
            lengths.append(b - a)
            places += tree.heads
    result = Doc.from_words([])
    result.word_token = np.arange(sum(lengths), dtype=np.int32)
    result.set_sentences(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    result.columns = {name: result.strings.ids(values) for name, values in columns.items()}
    result.head = np.array(places, dtype=np.int32) + 1
    return result


def merged_units(seen: Doc) -> Doc:
    """Merge fixed expressions (`of course`, marked by the relation `fixed`) into single words.

    >>> doc = Doc.from_words([["of", "course", "so"]], head=[[3, 1, 0]], deprel=[["advmod", "fixed", "root"]])
    >>> merged_units(observe([doc])).column("TOKEN")
    ['of_course', 'so']
    """
    relations = seen.column("DEPREL")
    fixed = [relation == "fixed" for relation in relations]
    if not any(fixed) or seen.head is None:
        return seen
    columns = {name: seen.column(name) for name in ("TOKEN", "LEMMA")}
    kept: list[int] = []
    bounds = [0]
    for first, end in pairwise(seen.sentence_offsets.tolist()):
        for word in range(first, end):
            head = first + int(seen.head[word]) - 1
            if fixed[word] and head >= first and not fixed[head]:
                for values in columns.values():
                    values[head] += f"_{values[word]}"
            else:
                kept.append(word)
        bounds.append(len(kept))
    result = gathered(seen, np.array(kept, dtype=np.int64), bounds)
    for name, values in columns.items():
        result.set_column(name, [values[word] for word in kept])
    return result


def gathered(seen: Doc, words: np.ndarray, bounds: Sequence[int]) -> Doc:
    """Select words of an observed document, in any order and with repetition, as new sentences."""
    result = Doc.from_words([], strings=seen.strings)
    result.word_token = np.arange(len(words), dtype=np.int32)
    result.set_sentences(np.asarray(bounds, dtype=np.int64))
    result.columns = {name: values[words] for name, values in seen.columns.items()}
    return result


def with_cues(seen: Doc, trees: Sequence[Tree], cues: Sequence[tuple[int, Sequence[int]]]) -> Doc:
    """One sentence per cue, given as its sentence and its words there, with the columns CUE and CUESCOPE.

    >>> doc = Doc.from_words([["It", "may", "rain", "or", "snow", "."]])
    >>> seen = with_cues(observe([doc]), trees_of(doc), [(0, [1]), (0, [3])])
    >>> seen.column("CUE")[:6], seen.column("CUESCOPE")[:6]
    (['no', 'yes', 'no', 'no', 'no', 'no'], ['no', 'yes', 'yes', 'yes', 'yes', 'no'])
    """
    offsets = seen.sentence_offsets
    words = [np.arange(offsets[sentence], offsets[sentence + 1]) for sentence, _ in cues]
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in words], dtype=np.int64)])
    result = gathered(seen, np.concatenate(words) if words else np.zeros(0, dtype=np.int64), bounds.tolist())
    columns: dict[str, list[str]] = {name: [] for name in ("CUE", "CUESCOPE", "HEAD_CUE", "HEAD_CUESCOPE")}
    for sentence, cue in cues:
        tree = trees[sentence]
        start, end = syntactic_scope(tree, cue)
        chosen = set(cue)
        cue_columns = {
            "CUE": ["yes" if word in chosen else "no" for word in range(len(tree))],
            "CUESCOPE": ["yes" if start <= word < end else "no" for word in range(len(tree))],
        }
        for name, values in cue_columns.items():
            columns[name] += values
            columns[f"HEAD_{name}"] += [values[head] if head >= 0 else "" for head in tree.heads]
    for name, values in columns.items():
        result.set_column(name, values)
    return result


def _functions(tree: Tree, word: int) -> str:
    """The relations of a word, of its phrase and of its clause."""
    top = word
    for _ in range(len(tree)):
        if tree.relation(top) not in _IN_PHRASE or tree.heads[top] < 0:
            break
        top = tree.heads[top]
    clause = top
    for _ in range(len(tree)):
        if tree.relation(clause) in _CLAUSES or tree.heads[clause] < 0:
            break
        clause = tree.heads[clause]
    return f"w:{tree.relations[word]}|p:{tree.relations[top]}|c:{tree.relations[clause]}"


def _quantified(tree: Tree, word: int) -> str:
    """The relation of a noun phrase with a quantifier as head or modifier, at both words; empty elsewhere."""
    if not tree.parsed:
        return ""

    def quantifier(each: int) -> bool:
        return (tree.lemmas[each] or tree.forms[each]) in QUANTIFIERS

    head = tree.heads[word]
    if quantifier(word):
        modifier = tree.relation(word) in ("det", "amod", "nummod", "advmod") and head >= 0
        return tree.relations[head if modifier else word]
    modified = tree.tags[word] in _NOMINAL and any(map(quantifier, tree.dependents(word, "det", "amod", "nummod")))
    return tree.relations[word] if modified else ""
