"""Twelve stories of users: what they type, and what must come of it.

The same stories run in three ways: in the process of the tests (`test_stories.py`), from a wheel in a fresh environment
without the checkout and without network (`make stories`), and with the lowest versions of all dependencies
(`make lowest`). They begin in an empty folder and are told in order: later ones use files of earlier ones.
"""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """A command of Weft, or a Python program, and what shows that it did something."""

    command: str = ""  #: the words after `weft`, separated by spaces; `"..."` is one word
    code: str = ""  #: a program to run in the place of a command
    stdin: str = ""
    prints: tuple[str, ...] = ()  #: what standard output or standard error must contain
    writes: tuple[str, ...] = ()  #: files and folders that must exist afterwards
    exit_code: int = 0


class Story(NamedTuple):
    """A user's wish, and the steps to it."""

    name: str
    steps: tuple[Step, ...]


def helps(*names: str) -> tuple[Step, ...]:
    return tuple(Step(f"{name} --help", prints=("Usage: weft",)) for name in names)


STORIES = (
    Story(
        "The first minute: is it installed, what can it do",
        (
            Step("--version", prints=("weft 0.",)),
            Step("--help", prints=("annotate",)),
            *helps("annotate", "train", "evaluate", "convert", "serve"),
            Step("annotate -", stdin="Maria lives in Rome.\n", prints=("lives\t",)),
            Step('annotate --text "Maria lives in Rome." --to show', prints=("entities: ",)),
        ),
    ),
    Story(
        "Where are the files that the documentation speaks of",
        (
            Step("data examples", writes=("examples/note.txt", "examples/chunks.conll", "configs/de.toml")),
            Step("annotate examples/note.txt", prints=("root",)),
            Step("annotate examples/notte.txt", prints=("did you mean examples/note.txt?",), exit_code=1),
        ),
    ),
    Story(
        "Annotate many files, and go on where a run stopped",
        (
            Step(
                "annotate examples/note.txt examples/port.txt --to jsonl --out annotated/ --workers 2",
                writes=("annotated/note.jsonl", "annotated/port.jsonl"),
            ),
            Step(
                "annotate examples/note.txt examples/port.txt --to jsonl --out annotated/ --workers 2",
                prints=("2 finished before",),
            ),
        ),
    ),
    Story(
        "The entities of a text in Python, with characters and probabilities",
        (
            Step(
                code="import weft\n"
                "nlp = weft.load('en')\n"
                "doc = nlp('Maria lives in Rome.', probabilities=True)\n"
                "for span in doc.entities:\n"
                "    assert doc.text[span.start:span.end] == span.text == ' '.join(w.form for w in span.words)\n"
                "    assert 0 < span.probability <= 1\n"
                "print('Rome' in [span.text for span in doc.entities], doc._repr_html_()[:11])\n",
                prints=("True <div class=",),
            ),
            Step(
                code="import weft\n"
                "try:\n"
                "    weft.load('en')(['one', 'two'])\n"
                "except weft.WeftError as error:\n"
                "    print(error)\n",
                prints=("nlp.pipe(texts)",),
            ),
        ),
    ),
    Story(
        "A recognizer for labels of one's own: how good will it be, train it, use it",
        (
            Step("train chunker examples/chunks.conll --folds 3 --iterations 10", prints=("Cross-validated", "mean")),
            Step("train chunker examples/chunks.conll --out chunker.weft", writes=("chunker.weft",)),
            Step(
                "annotate examples/unseen.conll --model chunker.weft --out predicted.conll", writes=("predicted.conll",)
            ),
            Step("evaluate examples/unseen.conll predicted.conll", prints=("F1",)),
        ),
    ),
    Story(
        "Train, save and load in Python",
        (
            Step(
                code="import weft\n"
                "weft.train('tagger', 'examples/story.conllu', epochs=2, out='tagger.weft')\n"
                "doc = weft.load('tagger.weft')('The ferry waits.')\n"
                "print(doc.column('upos')[0])\n",
                prints=("DET",),
                writes=("tagger.weft",),
            ),
        ),
    ),
    Story(
        "Results for other programs: records, and what they hold",
        (
            Step('annotate --text "Maria lives in Rome." --to records', prints=('"start":', '"spans"')),
            Step("data schema records", prints=('"$schema"',)),
            Step(
                code="import json, weft\n"
                "doc = weft.load('en')('Maria lives in Rome.')\n"
                "doc.id = 'a'\n"
                "print(json.loads(doc.to_json()) == doc.to_dict(), doc.to_dict()['id'])\n",
                prints=("True a",),
            ),
        ),
    ),
    Story(
        "A table of entities, formats of the field, pictures: without packages that only some need",
        (
            Step("convert annotated/ entities.csv --layer entities", writes=("entities.csv",)),
            Step(
                code="import csv\nwith open('entities.csv') as file:\n    print(*next(csv.reader(file)))\n",
                prints=("start", "end", "label"),
            ),
            Step("convert annotated/ all.conllu", writes=("all.conllu",)),
            Step("draw examples/story.conllu --out trees.html", writes=("trees.html",)),
            Step("draw examples/note.txt --out note.html", prints=("annotate it first",), exit_code=1),
        ),
    ),
    Story(
        "A pipeline for another language from a treebank, in one command",
        (
            Step("train pipeline --train examples/story.conllu --out story.weft", writes=("story.weft",)),
            Step("annotate examples/note.txt --model story.weft", prints=("root",)),
            Step("models info story.weft", prints=("segmenter",)),
        ),
    ),
    Story(
        "Which of two systems is better, and is it chance",
        (
            Step("compare examples/unseen.conll predicted.conll examples/baseline.conll", prints=("p = ",)),
            Step("treebank check examples/story.conllu", prints=("validate",), exit_code=2),
            Step("treebank validate examples/story.conllu --scheme ud", prints=("sentences",)),
        ),
    ),
    Story(
        "Why did this word get its label",
        (
            Step(
                'annotate --text "Maria lives in Rome." --explain --word Rome',
                prints=("Rome: ", "(ner", "(parser", "runner-up", "template"),
            ),
            Step('annotate --text "Maria lives in Rome." --explain --word Rome --json', prints=('"reasons"',)),
        ),
    ),
    Story(
        "A published system: what came of it",
        (
            Step("reproduce --list", prints=("crf-shallow-parsing",)),
            Step("reproduce crf-shallow-parsing --show", prints=("paper",)),
            Step("reproduce crf-shalow-parsing --show", prints=("did you mean crf-shallow-parsing?",), exit_code=1),
        ),
    ),
)
