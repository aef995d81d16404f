"""What the ranking of words reads of a text: types of words, sentences, and which tokens are content words.

A content word is a noun, name, adjective, verb or adverb where words have parts of speech, and otherwise a word of
letters that is not among the function words. Only nouns, names and adjectives become keywords where that is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Words
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Ids, Ints
from weft.lexical.stems import stem
from weft.text.doc import Doc

CONTENT = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "ADV"})
CANDIDATES = frozenset({"NOUN", "PROPN", "ADJ"})


@dataclass(frozen=True)
class Article:
    """A text: types by number, the tokens as types, sentences, content words, candidates, and how types are written."""

    names: list[str]  #: a key per type: its lemma, stem or form
    tokens: Ids
    offsets: Ints
    content: Bools
    candidates: Bools  #: of types
    shown: list[str]  #: the most frequent form of every type

    @property
    def counts(self) -> Ints:
        """How often every type occurs."""
        return np.bincount(self.tokens, minlength=len(self.names))

    @classmethod
    def of(
        cls, sentences: Sequence[Sequence[str]], functions: Words[str] = (), english: bool = False,
        tags: Sequence[Sequence[str]] | None = None, lemmas: Sequence[Sequence[str]] | None = None,
    ) -> Article:  # fmt: skip
        """An article from its words; without tags, content words are those of letters that are no `functions`.

        >>> article = Article.of([["The", "cats", "saw", "a", "cat"]], {"the", "a"}, english=True)
        >>> article.names, article.tokens.tolist(), article.content.tolist(), article.shown[1]
        (['the', 'cat', 'saw', 'a'], [0, 1, 2, 3, 1], [False, True, True, False, True], 'cats')
        """
        known: dict[str, int] = {}
        forms: list[Counter[str]] = []
        tokens: list[int] = []
        content: list[bool] = []
        votes: list[int] = []
        for s, words in enumerate(sentences):
            for k, form in enumerate(words):
                lower = form.lower()
                own = lemmas[s][k].lower() if lemmas is not None and lemmas[s][k] not in ("", "_") else lower
                key = stem(own) if english and lemmas is None else own
                number = known.setdefault(key, len(known))
                if number == len(forms):
                    forms.append(Counter())
                    votes.append(0)
                word = is_word(lower) and lower not in functions and own not in functions
                is_content = word and (tags is None or tags[s][k] in CONTENT)
                candidate = is_content and (tags is None or tags[s][k] in CANDIDATES)
                forms[number][form] += 1
                votes[number] += 1 if candidate else -1
                tokens.append(number)
                content.append(is_content)
        return cls(
            list(known), np.array(tokens, dtype=np.int32), np.cumsum([0, *map(len, sentences)]),
            np.array(content, dtype=np.bool_), np.array(votes, dtype=np.int64) >= 0 if votes else np.zeros(0, np.bool_),
            [own.most_common(1)[0][0] for own in forms],
        )  # fmt: skip

    @classmethod
    def of_doc(cls, doc: Doc, functions: Words[str] = (), english: bool = False) -> Article:
        """The article of a document with words; parts of speech and lemmas are used where they are."""

        def column(name: str) -> list[list[str]] | None:
            return [[str(getattr(w, name)) for w in s.words] for s in doc.sentences] if doc.has(name) else None

        return cls.of([[w.form for w in s.words] for s in doc.sentences], functions, english, column("upos"),
                      column("lemma"))  # fmt: skip


def is_word(lower: str) -> bool:
    """Whether something is a word: with letters, more than two of them unless they are no Latin ones.

    >>> is_word("tea"), is_word("of"), is_word("12"), is_word("茶")
    (True, False, False, True)
    """
    return lower[:1].isalpha() and (len(lower) > 2 or ord(lower[0]) >= 0x2E80)


def most_frequent(sentences: Sequence[Sequence[str]], count: int) -> frozenset[str]:
    """The function words of a language of which nothing is known: its most frequent words.

    >>> sorted(most_frequent([["the", "cat"], ["the", "dog"], ["the", "end"]], 1))
    ['the']
    """
    counts = Counter(word.lower() for words in sentences for word in words)
    return frozenset(word for word, _ in counts.most_common(count))
