"""From raw text to a tagger and a parser for a language without a treebank, step by step, on German.

The steps are those of the page "A new language", run with the same commands. Resources of the language: sentences with
their English translations (captions of Multi30k and verses of the New Testament), and a list of words with tags from
Wiktionary. Resources of other languages: treebanks, of which only the first sentences are used. The German treebank is
used to score the result of each step, and for the rows that show what annotated sentences would have achieved.

Tags are scored as the twelve universal ones, heads without punctuation. Settings are the defaults of the commands.

Files and a journal of finished commands are kept until the end in a temporary folder, or in the folder that
WEFT_NEW_LANGUAGE names: an interrupted run resumes from there.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CAPTIONS = "parallel/multi30k/task1/train.{}.gz"
VERSES = "parallel/new-testament/{}.tsv.gz"
DICTIONARY = "lexicons/wiktionary-tags/de.dic.gz"
ENGLISH = "treebanks/ud/English-EWT/train.conllu.gz"
GERMAN = "treebanks/ud/German-GSD/{}.conllu.gz"
SOURCES = {
    "en": ENGLISH,
    "nl": "treebanks/ud/Dutch-Alpino/dev.conllu.gz",
    "sv": "treebanks/ud/Swedish-LinES/dev.conllu.gz",
    "da": "treebanks/ud/Danish-DDT/dev.conllu.gz",
}
N_CAPTIONS, N_VERSES = 12000, 4000  # sentence pairs to align
N_LEARNED = 6000  # of these, pairs with projected tags to train the tagger on
N_ENGLISH = 8000  # sentences of the English tagger
N_TREES = 500  # sentences per source language of the parser
N_TARGET = 600  # German sentences to adapt the parser to
N_TEST = 977
ANNOTATED = (100, 500)  # German sentences of the rows for comparison
THRESHOLD = 0.9
#: What a speaker can write down in a minute: German contractions of preposition and article.
CONTRACTIONS = {
    "im": "in dem", "am": "an dem", "zum": "zu dem", "zur": "zu der", "vom": "von dem", "beim": "bei dem",
    "ins": "in das", "ans": "an das", "aufs": "auf das", "durchs": "durch das",
}  # fmt: skip
#: Tags of Universal Dependencies, and which of them a universal tag of the dictionary may be.
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
WIDER = {
    "NOUN": "NOUN PROPN", "VERB": "VERB AUX", "CONJ": "CCONJ SCONJ", "PRT": "PART", ".": "PUNCT", "X": "INTJ SYM X",
}  # fmt: skip


def run() -> dict[str, Any]:
    """Go through the steps."""
    sizes = "-".join(map(str, (N_CAPTIONS, N_VERSES, N_LEARNED, N_ENGLISH, N_TREES, N_TARGET, N_TEST, *ANNOTATED)))
    folder = Path(os.environ.get("WEFT_NEW_LANGUAGE") or Path(tempfile.gettempdir(), f"weft-new-language-{sizes}"))
    folder.mkdir(parents=True, exist_ok=True)
    facts = Steps(folder).run()
    shutil.rmtree(folder)
    return facts


class Steps:
    """The steps, in a separate folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, Any]] = []
        self.journal = folder / "journal.jsonl"
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        self.done: dict[str, dict[str, Any]] = dict(json.loads(line) for line in lines)

    def run(self) -> dict[str, Any]:
        self.prepare()
        self.tag_english()
        self.align_and_project()
        self.taggers()
        self.parsers()
        return {
            "title": "A tagger and a parser for German as if it had no treebank",
            "rows": self.rows,
            "sentence pairs": N_CAPTIONS + N_VERSES,
            "test sentences": N_TEST,
        }

    def prepare(self) -> None:
        """The files that the page begins with."""
        from weft.formats import read, write
        from weft.text.doc import Doc

        english, german = bitext()
        write([Doc.from_words(english)], self.path("bitext.en.conllu"))
        Path(self.path("bitext.de.txt")).write_text("".join(" ".join(s) + "\n" for s in german), encoding="utf-8")
        Path(self.path("wiktionary.de.dic")).write_bytes(gzip.decompress(find(DICTIONARY).read_bytes()))
        pairs = [line.split("\t") for line in Path(self.path("wiktionary.de.dic")).read_text("utf-8").splitlines()]
        wider = [f"{pair[0]}\t{tag}\n" for pair in pairs for tag in WIDER.get(pair[1], pair[1]).split()]
        Path(self.path("wider.de.dic")).write_text("".join(wider), encoding="utf-8")
        for code, path in SOURCES.items():
            write(read(find(path)).take_sentences(N_TREES), self.path(f"{code}.conllu"))
        write(read(find(ENGLISH)).take_sentences(N_ENGLISH), self.path("ewt.conllu"))
        write(read(find(GERMAN.format("test"))).take_sentences(N_TEST), self.path("gold.conllu"))
        test = read(find(GERMAN.format("test"))).take_sentences(N_TEST)
        write([Doc.from_words(sentences(doc)) for doc in test], self.path("test.conllu"))
        text = read(find(GERMAN.format("dev"))).take_sentences(N_TARGET)
        write([Doc.from_words(sentences(doc)) for doc in text], self.path("text.conllu"))
        for n in ANNOTATED:
            write(read(find(GERMAN.format("dev"))).take_sentences(n), self.path(f"annotated-{n}.conllu"))

    def tag_english(self) -> None:
        self.weft("train", "tagger", "ewt.conllu", "--out", "en.weft", "--set", "column=upos")
        self.weft("annotate", "bitext.en.conllu", "--model", "en.weft", "--out", "tagged.en.conllu")

    def align_and_project(self) -> None:
        from weft.formats import read, write
        from weft.formats.pharaoh import read_links
        from weft.text.corpus import Corpus

        self.weft("align", "tagged.en.conllu", "bitext.de.txt", "--symmetrize", "intersection", "--set",
                  "agreement=false", "--posteriors", "--out", "links")  # fmt: skip
        common = ("tagged.en.conllu", "bitext.de.txt", "--links", "links", "--threshold", str(THRESHOLD))
        facts = self.weft("project", *common, "--out", "projected.conllu")
        self.add("words of the bitext with a projected tag, %", 100 * facts["words with a value"])
        links = read_links(self.path("links"))
        kept = len(links.above(THRESHOLD)) / max(len(links), 1)
        self.add(f"links of both directions that reach {THRESHOLD}, %", 100 * kept)
        self.weft("project", *common, "--out", "projected.dic", "--dictionary", "--universal")
        every = read(self.path("projected.conllu"))
        # Take every n-th sentence, so that the training data has both captions and verses.
        step = max(1, (N_CAPTIONS + N_VERSES) // N_LEARNED)
        kept_docs = [doc.subset(range(0, doc.n_sentences, step)) for doc in every]
        write(Corpus(kept_docs).take_sentences(N_LEARNED), self.path("learned.conllu"))
        for name in ("wiktionary.de.dic", "projected.dic"):
            covered, kept = self.coverage(name)
            self.add(f"{name}: test words listed, %", 100 * covered)
            self.add(f"{name}: of these, gold tag among the listed, %", 100 * kept)

    def taggers(self) -> None:
        learned = ("--projected", "learned.conllu")
        runs = {
            "projected tags only": learned,
            "Wiktionary only": ("--dict", "wiktionary.de.dic", "--text", "learned.conllu"),
            "Wiktionary and projected tags": ("--dict", "wiktionary.de.dic", *learned),
        }
        for number, (name, options) in enumerate(runs.items(), start=1):
            model = f"tagger-{number}.weft"
            self.weft("train", "tagger", *options, "--out", model)
            self.weft("annotate", "test.conllu", "--model", model, "--out", f"found-{number}.conllu")
            self.add(f"tagger, {name}: tags right, %", self.accuracy(f"found-{number}.conllu"))
        self.weft("train", "tagger", "--dict", "wider.de.dic", *learned, "--set", f"tagset={UPOS.replace(' ', ',')}",
                  "--out", "tagger-4.weft")  # fmt: skip
        self.weft("annotate", "test.conllu", "--model", "tagger-4.weft", "--out", "found-4.conllu")
        name = "tagger, Wiktionary and projected tags, tags of Universal Dependencies"
        self.add(f"{name}: right as universal tags, %", self.accuracy("found-4.conllu"))
        for n in ANNOTATED:
            self.weft("train", "tagger", f"annotated-{n}.conllu", "--out", f"own-{n}.weft", "--set", "column=upos")
            self.weft("annotate", "test.conllu", "--model", f"own-{n}.weft", "--out", f"own-{n}.conllu")
            right = self.accuracy(f"own-{n}.conllu")
            self.add(f"for comparison, tagger from {n} annotated sentences: tags right, %", right)

    def parsers(self) -> None:
        self.weft("annotate", "text.conllu", "--model", "tagger-4.weft", "--out", "text-tagged.conllu")
        both = {"with found tags": "found-4.conllu", "with gold tags": "gold.conllu"}
        every = ",".join(f"{code}={code}.conllu" for code in SOURCES)
        runs = {
            "English treebank only": ("en=en.conllu", "delex", "none"),
            "four treebanks, shared by family": (every, "family", "none"),
            "four treebanks, shared by family, adapted": (every, "family", "aast"),
        }
        for number, (name, (sources, share, adapt)) in enumerate(runs.items(), start=1):
            model = f"parser-{number}.weft"
            self.weft("train", "parser", "--transfer", sources, "--target", "de=text-tagged.conllu",
                      "--share", share, "--adapt", adapt, "--out", model)  # fmt: skip
            for tags, file in both.items():
                parsed = f"parsed-{number}-{file}"
                self.weft("annotate", file, "--model", model, "--out", parsed)
                self.add(f"parser, {name}, {tags}: heads right, %", self.attachment(parsed))
        n = ANNOTATED[0]
        self.weft("train", "parser", f"annotated-{n}.conllu", "--out", "own-parser.weft")
        self.weft("annotate", "gold.conllu", "--model", "own-parser.weft", "--out", "parsed.conllu")
        self.add(f"for comparison, parser from {n} annotated sentences, with gold tags: heads right, %",
                 self.attachment("parsed.conllu"))  # fmt: skip

    def weft(self, *arguments: str) -> dict[str, Any]:
        """Run a command in the folder, unless it was run before; returns the JSON it prints, if any."""
        name = " ".join(arguments)
        if name in self.done:
            return self.done[name]
        command = [str(Path(sys.executable).parent / "weft"), *arguments]
        as_json = arguments[0] in ("project", "align", "train")
        done = subprocess.run(
            [*command, "--json"] if as_json else command,
            cwd=self.folder, env={**os.environ, "WEFT_QUIET": "1"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"weft {name}: {done.stderr.strip()}")
        print(f"weft {name}", file=sys.stderr, flush=True)
        found: dict[str, Any] = json.loads(done.stdout) if as_json else {}
        with self.journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([name, found]) + "\n")
        return found

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def add(self, measured: str, value: float) -> None:
        print(f"  {measured} {value:.2f}", file=sys.stderr, flush=True)
        self.rows.append({"after the step": measured, "figure": round(value, 2)})

    def coverage(self, name: str) -> tuple[float, float]:
        """The share of test words in a dictionary, and the share of these for which it allows the gold tag."""
        from weft.lexical.dictionary import TagDictionary

        dictionary = TagDictionary.read(self.path(name))
        listed = right = total = 0
        for word, tag in self.gold():
            tags = dictionary.tags_of(word)
            total += 1
            listed += bool(tags)
            right += tag in tags
        return listed / total, right / max(listed, 1)

    def gold(self) -> list[tuple[str, str]]:
        """Words of the test with their universal tags."""
        from weft.formats import read
        from weft.lexical.universal_tags import universal_tags

        pairs: list[tuple[str, str]] = []
        for doc in read(self.path("gold.conllu")):
            pairs += zip(doc.column("form"), universal_tags(doc.column("upos")), strict=True)
        return pairs

    def accuracy(self, found: str) -> float:
        from weft.formats import read
        from weft.lexical.universal_tags import OF_UPOS

        tags = [OF_UPOS.get(tag, tag) for doc in read(self.path(found)) for tag in doc.column("upos")]
        right = sum(tag == gold for tag, (_, gold) in zip(tags, self.gold(), strict=True))
        return 100 * right / len(tags)

    def attachment(self, found: str) -> float:
        from weft.formats import read

        heads = [int(head) for doc in read(self.path(found), check_trees=False) for head in doc.head]
        right = total = 0
        at = 0
        for doc in read(self.path("gold.conllu")):
            for head, tag in zip(doc.head.tolist(), doc.column("upos"), strict=True):
                if tag != "PUNCT":
                    total += 1
                    right += heads[at] == head
                at += 1
        return 100 * right / total


def bitext() -> tuple[list[list[str]], list[list[str]]]:
    """Captions and verses in both languages, as words."""
    sides: list[list[list[str]]] = [[], []]
    verses = []
    for number, code in enumerate(("en", "de")):
        with gzip.open(find(CAPTIONS.format(code)), "rt", encoding="utf-8") as lines:
            sides[number] += [words(line) for _, line in zip(range(N_CAPTIONS), lines, strict=False)]
        with gzip.open(find(VERSES.format(code)), "rt", encoding="utf-8") as lines:
            verses.append(dict(line.rstrip("\n").split("\t", 1) for line in lines))
    for verse in [verse for verse in verses[0] if verse in verses[1]][:N_VERSES]:
        for number in range(2):
            sides[number].append(words(verses[number][verse]))
    return sides[0], sides[1]


def words(line: str) -> list[str]:
    """Split a line into words by rule, and split contractions."""
    from weft.text.words import word_spans

    found: list[str] = []
    for start, end in word_spans(line):
        word = line[start:end]
        parts = CONTRACTIONS.get(word.lower(), word).split()
        if word[0].isupper():
            parts[0] = parts[0][0].upper() + parts[0][1:]
        found += parts
    return found


def sentences(doc: Any) -> list[list[str]]:
    """The words of every sentence."""
    from itertools import pairwise

    forms = doc.column("form")
    return [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def find(relative: str) -> Path:
    from weft import data

    return data.find(relative)
