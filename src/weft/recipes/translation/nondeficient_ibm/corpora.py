"""English and French with gold links: parliament (Hansards) and stories (Alibi); and novels without.

Sentences with gold links are part of the text that is trained on, as is usual where nothing is annotated. Links of the
Hansards count words from 1; those of Alibi count from 0, French first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.errors import FormatError
from weft.formats.bitext import read_bitext
from weft.formats.pharaoh import read_gold_links
from weft.formats.streams import numbered_lines
from weft.recipes.framework import RecipeOptions
from weft.text.bitext import Links

GOLD, STORIES = "parallel/gold-alignments/enfr", "parallel/alibi-en-fr"
NOVELS = "parallel/transread-en-fr/novels.en-fr.tsv.gz"
#: The stories: French and English names.
NAMES = (
    ("ChatBotte", "MasterCat"),
    ("LAuberge", "TheInn"),
    ("LaBarbeBleue", "BlueBeard"),
    ("LaDerniereClasse", "TheLastLesson"),
    ("LaVision", "TheVision"),
)
#: Pairs that settings were chosen on, which are not scored: the first of the Hansards, and the first story.
CHOSEN_ON_HANSARDS = 100
CHOSEN_ON_STORIES = 1

Words = list[str]


@dataclass(frozen=True)
class Gold:
    """A run of pairs with gold links, from pair `first` of the text on."""

    first: int
    sure: Links
    possible: Links

    def of(self, links: Links) -> Links:
        """Its part of the links of the text."""
        return links.take(self.first, self.first + self.sure.n_pairs)


@dataclass(frozen=True)
class Bitext:
    """The text in lower case, and gold links: those that are scored, and those that settings were chosen on."""

    source: list[Words]
    target: list[Words]
    scored: dict[str, Gold]
    chosen_on: dict[str, Gold]


def bitext(options: RecipeOptions, longest: int, longest_gold: int = 100, most_gold: int = 1000) -> Bitext:
    """Pairs with gold links and up to `longest_gold` words on both sides, at most `most_gold` scored ones of each kind;
    then novels with up to `longest` words on both sides."""
    hansards = [(_lower(one), _lower(other)) for one, other in read_bitext(options.find(f"{GOLD}.src-tgt"))]
    sure, possible = read_gold_links(options.find(f"{GOLD}.gold"), first=1)
    stories = [_story(options, *names) for names in NAMES]
    told = [pair for text, _, _ in stories for pair in text]
    first_story = len(stories[0][0])
    story_sure = Links.of([links for _, found, _ in stories for links in found])
    story_possible = Links.of([links for _, _, found in stories for links in found])
    pairs: list[tuple[Words, Words]] = []
    scored: dict[str, Gold] = {}
    chosen_on: dict[str, Gold] = {}
    for name, text, cut, sures, possibles in (
        ("Hansards", hansards, CHOSEN_ON_HANSARDS, sure, possible),
        ("Alibi", told, first_story, story_sure, story_possible),
    ):
        short = [k for k, pair in enumerate(text) if max(map(len, pair)) <= longest_gold]
        for part, rows in (
            (chosen_on, [k for k in short if k < cut]),
            (scored, [k for k in short if k >= cut][:most_gold]),
        ):
            part[name] = Gold(len(pairs), _chosen(sures, rows), _chosen(possibles, rows))
            pairs += [text[k] for k in rows]
    for _, line in numbered_lines(str(options.find(NOVELS))):
        fields = line.split("\t")
        if len(fields) == 3:
            one, other = _lower(fields[1].split()), _lower(fields[2].split())
            if 0 < len(one) <= longest and 0 < len(other) <= longest:
                pairs.append((one, other))
    return Bitext([one for one, _ in pairs], [other for _, other in pairs], scored, chosen_on)


def _chosen(links: Links, rows: list[int]) -> Links:
    return Links.joined(links.take(k, k + 1) for k in rows)


def _lower(words: list[str] | tuple[str, ...]) -> Words:
    return [word.lower() for word in words]


LinkList = list[list[tuple[int, int]]]


def _story(options: RecipeOptions, french: str, english: str) -> tuple[list[tuple[Words, Words]], LinkList, LinkList]:
    """Pairs of a story, their sure and their possible links."""
    sides = [_sentences(options.find(f"{STORIES}/{name}_sents.txt")) for name in (english, french)]
    path = options.find(f"{STORIES}/ali_w2w_{french}_{english}.txt")
    sure: LinkList = []
    possible: LinkList = []
    for number, line in numbered_lines(str(path)):
        if not line.strip():
            continue
        sure.append([])
        possible.append([])
        for link in line.partition("\t")[2].split():
            mark = "p" if "p" in link else "-"
            j, _, i = link.partition(mark)
            if not (i.isdigit() and j.isdigit()):
                raise FormatError(str(path), number, "links j-i or jpi", repr(link))
            possible[-1].append((int(i), int(j)))
            if mark == "-":
                sure[-1].append((int(i), int(j)))
    return list(zip(*sides, strict=True)), sure, possible


def _sentences(path: Path) -> list[Words]:
    lines = (line.partition("\t") for _, line in numbered_lines(str(path)))
    return [_lower(text.split()) for _, tab, text in lines if tab]
