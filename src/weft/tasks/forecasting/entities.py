"""Entities of a market and where they are mentioned: names of one or more words, in any case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.errors import ConfigError


class Mention(NamedTuple):
    """The words `start` to `end` of a sentence, which name an entity."""

    start: int
    end: int
    entity: str


class Entities:
    """Entities with their names; the longest name wins where several begin.

    >>> entities = Entities.parse("kerry=john kerry|kerry, bush, iraq")
    >>> entities.names
    ('kerry', 'bush', 'iraq')
    >>> entities.find("John Kerry defeated Bush".split())
    [Mention(start=0, end=2, entity='kerry'), Mention(start=3, end=4, entity='bush')]
    """

    def __init__(self, names: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        known: dict[tuple[str, ...], str] = {}
        listed: list[str] = []
        for entity, forms in names:
            listed.append(entity)
            for form in forms:
                words = tuple(form.lower().split())
                if not words:
                    raise ConfigError(f"the entity {entity!r} has an empty name")
                if known.setdefault(words, entity) != entity:
                    raise ConfigError(f"{form!r} names two entities, {known[words]} and {entity}")
                self._by_first.setdefault(words[0], []).append((words, entity))
        for forms_of in self._by_first.values():
            forms_of.sort(key=lambda form: -len(form[0]))
        if len(set(listed)) < len(listed):
            raise ConfigError(f"an entity is given twice: {', '.join(listed)}")
        self.names = tuple(listed)

    @classmethod
    def parse(cls, text: str) -> Entities:
        """Entities as `bush, kerry=john kerry|kerry`: one per comma, with its names if they differ."""
        found = []
        for item in filter(None, (part.strip() for part in text.split(","))):
            name, sign, forms = (part.strip() for part in item.partition("="))
            if not name or (sign and not forms):
                raise ConfigError(f"entities must be written as bush,kerry=john kerry|kerry, got {item!r}")
            found.append((name.lower(), [form for form in forms.split("|") if form.strip()] if sign else [name]))
        return cls(found)

    def find(self, words: Sequence[str]) -> list[Mention]:
        """The mentions in a sentence, from left to right."""
        lower = [word.lower() for word in words]
        found, place = [], 0
        while place < len(lower):
            for form, entity in self._by_first.get(lower[place], ()):
                if tuple(lower[place : place + len(form)]) == form:
                    found.append(Mention(place, place + len(form), entity))
                    break
            place = found[-1].end if found and found[-1].start == place else place + 1
        return found
