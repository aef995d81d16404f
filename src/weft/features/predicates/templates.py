"""Templates of pairs of words in trees, written as text and compiled to an integer program that one kernel runs.

A template is one or more atoms joined by `+`. An atom is `place.field` or a value of the whole pair:

| places | |
|---|---|
| `pred` `arg` | the predicate, the candidate |
| `pred-2` ... `pred+2`, `arg-2` ... `arg+2` | words around them |
| `left` `right` | the candidate's siblings |
| `first` `last` | its leftmost and rightmost dependent |
| `gov` `pgov` | the governors of candidate and predicate |
| `deps` | every dependent of the predicate |
| `bag` | each of the two words before and after the predicate |

| fields | |
|---|---|
| `form` `lemma` `upos` `xpos` `deprel` | columns of words; forms and lemmas in small letters |
| `feats` | every morphological feature |

| values | |
|---|---|
| `sense` | the predicate's lemma and sense |
| `position` | whether the candidate is before the predicate, after it, or the predicate itself |
| `path` | the directed relations from the candidate to the predicate |
| `trigrams` | every three consecutive steps of the path |
| `subcat` | the relations of the predicate's dependents in order, with its own place |
| `passive` | whether the predicate has a passive subject or auxiliary |
| `distance` | the number of words between candidate and predicate, in five steps |
| `constant` | nothing: a feature that every pair has |

`pos` stands for the tag columns: a template with it is written once per column. `deps`, `bag`, `feats` and `trigrams`
have several values; a template may have one of them, which gives a feature per value. A template may end with `*N`,
which is ignored by the features but separates their keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from weft.arrays import Ints, Keys
from weft.errors import TemplateError
from weft.features.predicates.trees import LINKS, TREE_FIELDS, TreeWords
from weft.hashing import hash_string, hash_strings, join
from weft.kernel import kernel

_GOVERNOR, _LEFT, _RIGHT, _FIRST, _LAST, _BEFORE, _AFTER = range(len(LINKS))
#: Places with one word; two more have several.
PLACES = (
    "pred", "arg", "arg-2", "arg-1", "arg+1", "arg+2", "left", "right", "first", "last", "gov", "pgov",
    "pred-2", "pred-1", "pred+1", "pred+2",
)  # fmt: skip
_DEPS, _BAG = len(PLACES), len(PLACES) + 1
_VALUE = len(PLACES) + 2  # the place of values of the pair
VALUES = ("sense", "position", "path", "subcat", "passive", "distance", "constant", "trigrams")
_TRIGRAMS = VALUES.index("trigrams")
_FEATS = len(TREE_FIELDS)
_MOST_ATOMS = 3
_LONGEST_PATH = 64
_NONE = np.uint64(hash_string("<none>"))
_UP, _DOWN, _SELF = (np.uint64(hash_string(name)) for name in ("<up>", "<down>", "<self>"))
_PASSIVE = hash_strings(["nsubj:pass", "nsubjpass", "aux:pass", "auxpass", "csubj:pass", "csubjpass"])
_ATOM = re.compile(r"(?:([a-z]+(?:[-+][12])?)\.)?([a-z]+)")


class PairTemplates:
    """Compiled templates.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> templates = PairTemplates(["arg.form", "path", "deps.deprel"])
    >>> words = TreeWords.of([doc])
    >>> one = np.array([1])
    >>> offsets, keys = templates.extract(words, one, np.array([0]), np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    >>> offsets.tolist()
    [0, 3]
    """

    def __init__(self, templates: Sequence[str], tags: Sequence[str] = ("upos",)) -> None:
        self.templates = [each for name in templates for each in _expanded(name, tags)]
        if len(set(self.templates)) != len(self.templates):
            twice = next(each for each in self.templates if self.templates.count(each) > 1)
            raise TemplateError(f"the template {twice!r} is there twice")
        self.seeds = hash_strings(self.templates)
        self.program = np.full((len(self.templates), 2 * _MOST_ATOMS), -1, dtype=np.int64)
        for row, name in enumerate(self.templates):
            self.program[row] = _compiled(name)

    def extract(
        self, words: TreeWords, predicates: Ints, arguments: Ints, senses: Keys, salts: Keys
    ) -> tuple[Ints, Keys]:
        """Offsets and keys of the features of pairs.

        `senses[i]` is the key of the predicate's lemma and sense; `salts[i]` becomes part of every feature of pair i,
        so that pairs with different ones share no features.
        """
        offsets = np.zeros(len(predicates) + 1, dtype=np.int64)
        capacity = len(predicates) * (2 * len(self.templates) + 40)
        while True:
            out = np.empty(capacity, dtype=np.uint64)
            total = _extract(
                self.program, self.seeds, words.keys, words.feature_offsets, words.features, words.links,
                predicates, arguments, senses, salts, np.empty(len(PLACES), dtype=np.int64),
                np.empty(len(VALUES), dtype=np.uint64), np.empty(2 * _LONGEST_PATH, dtype=np.uint64), offsets, out,
            )  # fmt: skip
            if total <= capacity:
                return offsets, out[:total]
            capacity = total


def _expanded(template: str, tags: Sequence[str]) -> list[str]:
    """A template for every tag column, if it names one."""
    if not re.search(r"\bpos\b", template):
        return [template]
    return [re.sub(r"\bpos\b", tag, template) for tag in tags]


def _compiled(template: str) -> list[int]:
    """Places and fields of the atoms, the one with several values last."""
    atoms = []
    for text in re.split(r"\+(?![12]\.)", template):
        match = _ATOM.fullmatch(text)
        if match is None:
            raise TemplateError(f"cannot read {text!r} in the template {template!r}: expected place.field or a value")
        place, field = match[1], match[2]
        if place is None:
            if field not in VALUES:
                raise TemplateError(f"there is no value {field!r}; choose from {', '.join(VALUES)}")
            atoms.append((_VALUE, VALUES.index(field)))
            continue
        places = (*PLACES, "deps", "bag")
        if place not in places or field not in (*TREE_FIELDS, "feats"):
            known = f"places are {', '.join(places)}; fields are {', '.join((*TREE_FIELDS, 'feats'))}"
            raise TemplateError(f"cannot read {text!r} in the template {template!r}: {known}")
        atoms.append((places.index(place), (*TREE_FIELDS, "feats").index(field)))
    several = [_is_set(*atom) for atom in atoms]
    if len(atoms) > _MOST_ATOMS or sum(several) > 1:
        raise TemplateError(f"the template {template!r} has more than {_MOST_ATOMS} atoms or two with several values")
    atoms.sort(key=lambda atom: _is_set(*atom))
    flat = [number for atom in atoms for number in atom]
    return flat + [-1] * (2 * _MOST_ATOMS - len(flat))


def _is_set(place: int, field: int) -> bool:
    return place in (_DEPS, _BAG) or (field == _TRIGRAMS if place == _VALUE else field == _FEATS)


@kernel
def _path(links: Ints, relations: Keys, argument: int, predicate: int, steps: Keys) -> int:
    """The directed relations from an argument up to the lowest word above both, and down to the predicate."""
    depth_a, depth_p = 0, 0
    w = argument
    while links[_GOVERNOR, w] >= 0:
        w = links[_GOVERNOR, w]
        depth_a += 1
    w = predicate
    while links[_GOVERNOR, w] >= 0:
        w = links[_GOVERNOR, w]
        depth_p += 1
    a, p = argument, predicate
    n, down = 0, 0
    while a != p and (depth_a > 0 or depth_p > 0):
        if depth_a >= depth_p:
            if n < _LONGEST_PATH:
                steps[n] = join(_UP, relations[a])
                n += 1
            a = links[_GOVERNOR, a]
            depth_a -= 1
        else:
            if down < _LONGEST_PATH:
                down += 1
                steps[2 * _LONGEST_PATH - down] = join(_DOWN, relations[p])
            p = links[_GOVERNOR, p]
            depth_p -= 1
    for k in range(down):
        if n < _LONGEST_PATH:
            steps[n] = steps[2 * _LONGEST_PATH - down + k]
            n += 1
    return n


@kernel
def _values(keys: Keys, links: Ints, predicate: int, argument: int, sense: np.uint64, values: Keys, steps: Keys) -> int:
    """The values of a pair; returns the number of steps of the path."""
    relations = keys[4]
    n = _path(links, relations, argument, predicate, steps)
    path = _NONE
    for k in range(n):
        path = join(path, steps[k])
    subcat, seen, passive = _NONE, False, np.uint64(0)
    w = links[_FIRST, predicate]
    while w >= 0:
        if w > predicate and not seen:
            subcat, seen = join(subcat, _SELF), True
        subcat = join(subcat, relations[w])
        for k in range(len(_PASSIVE)):
            if relations[w] == _PASSIVE[k]:
                passive = np.uint64(1)
        w = links[_RIGHT, w]
    if not seen:
        subcat = join(subcat, _SELF)
    far = abs(argument - predicate)
    values[0] = sense
    values[1] = np.uint64(0 if argument < predicate else 1 if argument > predicate else 2)
    values[2] = path
    values[3] = subcat
    values[4] = passive
    values[5] = np.uint64(min(far, 2) if far < 3 else 3 if far < 7 else 4)
    values[6] = np.uint64(0)
    return n


@kernel
def _resolve(links: Ints, predicate: int, argument: int, places: Ints) -> None:
    """The words of all places with one word."""
    places[0], places[1] = predicate, argument
    for base, at in ((argument, 2), (predicate, 12)):
        before, after = links[_BEFORE, base], links[_AFTER, base]
        places[at] = links[_BEFORE, before] if before >= 0 else -1
        places[at + 1] = before
        places[at + 2] = after
        places[at + 3] = links[_AFTER, after] if after >= 0 else -1
    places[6], places[7] = links[_LEFT, argument], links[_RIGHT, argument]
    places[8], places[9] = links[_FIRST, argument], links[_LAST, argument]
    places[10], places[11] = links[_GOVERNOR, argument], links[_GOVERNOR, predicate]


@kernel
def _word_values(
    base: np.uint64, word: int, field: int, keys: Keys, feature_offsets: Ints, features: Keys, out: Keys, at: int
) -> int:
    """A feature per value that a word has in a field; returns where the next goes. Nothing is written past the end."""
    if field < _FEATS:
        if at < len(out):
            out[at] = join(base, keys[field, word])
        return at + 1
    for k in range(feature_offsets[word], feature_offsets[word + 1]):
        if at < len(out):
            out[at] = join(base, features[k])
        at += 1
    return at


@kernel
def _distinct(out: Keys, start: int, end: int) -> int:
    """Leave out features that a template gave twice: features are binary. Returns the new end."""
    at = start
    for k in range(start, end):
        new = True
        for before in range(start, at):
            if out[before] == out[k]:
                new = False
        if new:
            out[at] = out[k]
            at += 1
    return at


@kernel
def _extract(
    program: Ints, seeds: Keys, keys: Keys, feature_offsets: Ints, features: Keys, links: Ints, predicates: Ints,
    arguments: Ints, senses: Keys, salts: Keys, places: Ints, values: Keys, steps: Keys, offsets: Ints, out: Keys,
) -> int:  # fmt: skip
    """Write the features of all pairs and return their number, also if they do not fit."""
    at = 0
    for i in range(len(predicates)):
        predicate, argument = predicates[i], arguments[i]
        _resolve(links, predicate, argument, places)
        length = _values(keys, links, predicate, argument, senses[i], values, steps)
        for t in range(len(program)):
            key = join(seeds[t], salts[i])
            done, start = False, at
            for a in range(0, program.shape[1], 2):
                place, field = program[t, a], program[t, a + 1]
                if place < 0:
                    break
                if place == _VALUE:
                    if field == _TRIGRAMS:
                        done = True
                        for k in range(length - 2):
                            if at < len(out):
                                out[at] = join(join(join(key, steps[k]), steps[k + 1]), steps[k + 2])
                            at += 1
                    else:
                        key = join(key, values[field])
                elif place == _DEPS:
                    done = True
                    w = links[_FIRST, predicate]
                    while w >= 0:
                        at = _word_values(key, w, field, keys, feature_offsets, features, out, at)
                        w = links[_RIGHT, w]
                elif place == _BAG:
                    done = True
                    for p in range(12, 16):
                        if places[p] >= 0:
                            at = _word_values(key, places[p], field, keys, feature_offsets, features, out, at)
                elif field == _FEATS:
                    done = True
                    if places[place] >= 0:
                        at = _word_values(key, places[place], field, keys, feature_offsets, features, out, at)
                else:
                    w = places[place]
                    key = join(key, keys[field, w] if w >= 0 else _NONE)
            if not done:
                if at < len(out):
                    out[at] = key
                at += 1
            elif at <= len(out):
                at = _distinct(out, start, at)
        offsets[i + 1] = at
    return at
