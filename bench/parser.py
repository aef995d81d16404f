"""Parsers on English-EWT, gold words: training time, speed and accuracy, compared with spaCy and UDPipe.

Speed is words per CPU second on one core, from documents of tagged words to documents with trees, the best of up to
twenty rounds over the dev file with the model in memory. `two threads` is the speed-up of two threads over one, by
wall time. Training and scoring use gold tags; in the last row of Weft, tags, features and lemmas are predicted by its
tagger and lemmatizer, for training by jackknifing in five folds, and tagger and parser use the word clusters of
`bench/run.py tagger`. With 5 runs, the weights of five trainings are averaged, and those below 1 are dropped.

The peers are trained briefly, on the first 300 sentences of the same file, to measure their speed; each runs in a
separate process on one core. spaCy's parser runs on its small convolutional model and uses words only. UDPipe has its
default options (beam 5). Their accuracy is that of long training runs on the whole file, measured separately: UDPipe
1.4 in an hour, on dev with gold tags; spaCy 3.8 in more than an hour, on dev from raw text, with its own scorer. A
peer that is not installed is left out: `pip install spacy ufal.udpipe`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "arc-eager, dynamic": {"system": "arc-eager"},
    "arc-eager, dynamic, 5 runs, pruned": {"system": "arc-eager", "runs": 5, "prune": 1.0},
    "arc-hybrid, dynamic": {"system": "arc-hybrid"},
    "easy-first, dynamic": {"system": "easy-first"},
    "arc-eager, beam 16, 3 epochs": {"system": "arc-eager", "oracle": "static", "beam": 16, "epochs": 3},
}
#: Packages of the peers, their names, and their dev UAS and LAS after long training, measured separately.
PEERS = {
    "spacy": ("spacy", "spaCy 3.8, raw text", 83.5, 79.5),
    "udpipe": ("ufal", "UDPipe 1.4, beam 5", 87.7, 85.5),
}
SENTENCES = 300
FOLDS = 5


def run() -> dict[str, Any]:
    """Train every configuration and measure; then the peers that are installed."""
    train, dev = docs("train"), docs("dev")
    rows = [measure(name, options, train, dev) for name, options in CONFIGURATIONS.items()]
    with tempfile.TemporaryDirectory() as folder:
        clusters = str(Path(folder, "english.paths"))
        runpy.run_path(str(Path(__file__).with_name("tagger.py")))["english_clusters"](clusters)
        options = {"clusters": clusters, "p": 1.0, "runs": 5, "prune": 1.0}
        rows.append(measure("arc-eager, 5 runs, clusters, predicted tags", options, *predicted(train, clusters)))
    ours = rows[0]["words/s"]
    for side, (package, name, uas, las) in PEERS.items():
        if importlib.util.find_spec(package):
            speed = _in_a_process(side)
            rows.append(
                {"parser": name, "dev UAS": uas, "dev LAS": las, "words/s": speed, "Weft's speed": ours / speed}
            )
    return {"title": "Parsers, English-EWT dev, gold words", "rows": rows}


def docs(part: str) -> list[Any]:
    """The documents of a file."""
    from weft import data
    from weft.formats import read

    return list(read(data.find(f"{FOLDER}/{part}.conllu.gz")))


def predicted(train: Sequence[Any], clusters: str) -> tuple[list[Any], list[Any]]:
    """The training and the dev file with predicted tags, features and lemmas, the former by jackknifing."""
    found, dev = docs("train"), docs("dev")
    for fold in range(FOLDS):
        annotate([doc for i, doc in enumerate(train) if i % FOLDS != fold], found[fold::FOLDS], clusters)
    annotate(train, dev, clusters)
    return found, dev


def annotate(train: Sequence[Any], docs: Sequence[Any], clusters: str) -> None:
    """Tag and lemmatize documents with components trained on other documents."""
    from weft.tasks.tagging.lemmatize import Lemmatizer
    from weft.tasks.tagging.tagger import Tagger

    for component in (Tagger.from_options({"clusters": clusters}), Lemmatizer()):
        component.fit(train)
        component(docs)


def measure(name: str, options: dict[str, Any], train: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
    """Train a parser and measure it."""
    from weft.tasks.parsing.transitions.parser import Parser

    warm = Parser.from_options({**options, "epochs": 1, "runs": 1})
    warm.fit(train[:3])
    warm(list(docs("dev")[:3]))
    parser = Parser.from_options(options)
    started = time.process_time()
    report = parser.fit(train)
    seconds = time.process_time() - started
    scores = parser.scores(dev)
    words = sum(doc.n_words for doc in dev)
    written = [doc.subset(range(doc.n_sentences)) for doc in dev]  # trees go into copies: `dev` keeps the gold ones
    one = _shortest(lambda: parser(written), time.process_time)
    return {
        "parser": name,
        "dev UAS": 100 * scores["UAS"],
        "dev LAS": 100 * scores["LAS"],
        "words/s": words / one,
        "Weft's speed": None,
        "two threads": _threads(parser, written),
        "CPU s an epoch": seconds / report["training"]["epochs"],
        "MB": sum(array.nbytes for array in parser.state()[1].values()) / 1e6,
    }


def _shortest(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    """The best of 20 rounds, or of as many as fit into ten seconds, but at least 3."""
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < 20 and sum(seconds) < 10):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def _threads(parser: Any, dev: Sequence[Any]) -> float:
    """How many times as fast two threads are as one, by wall time: each gets half of the words of four dev files."""
    halves: list[list[Any]] = [[], []]
    for doc in sorted([*dev] * 4, key=lambda doc: -doc.n_words):
        min(halves, key=lambda half: sum(each.n_words for each in half)).append(doc)

    def in_turn() -> None:
        for half in halves:
            parser(half)

    one = two = math.inf
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):  # interleaved, as the load of the machine may change within a minute
            one = min(one, _shortest(in_turn, time.perf_counter))
            two = min(two, _shortest(lambda: list(pool.map(parser, halves)), time.perf_counter))
    return one / two


def _in_a_process(side: str) -> float:
    one_core = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, side], env={**os.environ, **one_core}, check=True, stdout=subprocess.PIPE, text=True
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def spacy_speed() -> float:
    """Words per CPU second of spaCy's parser after 10 updates of 30 sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    architecture = {
        "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "extra_state_tokens": False,
        "hidden_width": 64, "maxout_pieces": 2, "use_upper": True, "tok2vec": listener,
    }  # fmt: skip
    nlp.add_pipe("parser", config={"model": architecture})
    examples = []
    for rows in islice(sentences("train"), SENTENCES):
        forms = [row[0] for row in rows]
        heads = [i if row[4] == 0 else row[4] - 1 for i, row in enumerate(rows)]
        relations = ["ROOT" if row[4] == 0 else row[5] for row in rows]
        examples.append(Example(Doc(nlp.vocab, words=forms), Doc(nlp.vocab, words=forms, heads=heads, deps=relations)))
    nlp.initialize(lambda: examples)
    for first in range(0, 300, 30):
        nlp.update(examples[first : first + 30])
    dev = [[row[0] for row in rows] for rows in sentences("dev")]

    def parse() -> None:
        for _ in nlp.pipe([Doc(nlp.vocab, words=forms) for forms in dev]):
            pass

    parse()
    return sum(map(len, dev)) / _shortest(parse, time.process_time)


def udpipe_speed() -> float:
    """Words per CPU second of UDPipe's parser after one iteration."""
    from ufal import udpipe

    def made(part: str, limit: int | None = None) -> Any:
        found = udpipe.Sentences()
        for rows in islice(sentences(part), limit):
            sentence = udpipe.Sentence()
            for form, upos, xpos, feats, head, relation in rows:
                word = sentence.addWord(form)
                word.lemma, word.upostag, word.xpostag, word.feats = form, upos, xpos, feats
                if limit:
                    word.head, word.deprel = head, relation
            if limit:
                for i, row in enumerate(rows, start=1):
                    sentence.setHead(i, row[4], row[5])
            found.append(sentence)
        return found

    error = udpipe.ProcessingError()
    none = udpipe.Trainer.NONE
    trained = udpipe.Trainer.train(
        "morphodita_parsito", made("train", SENTENCES), udpipe.Sentences(), none, none, "iterations=1", error
    )
    if error.occurred():
        raise RuntimeError(error.message)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "udpipe.model"
        path.write_bytes(trained)
        model = udpipe.Model.load(str(path))
    seconds = []
    for _ in range(3):
        dev = list(made("dev"))
        start = time.process_time()
        for sentence in dev:
            model.parse(sentence, udpipe.Model.DEFAULT)
        seconds.append(time.process_time() - start)
    return sum(len(sentence.words) - 1 for sentence in dev) / min(seconds)


def sentences(part: str) -> Any:
    """The words of every sentence: form, UPOS, XPOS, features, head and relation."""
    for doc in docs(part):
        columns = [doc.column(name) for name in ("form", "upos", "xpos", "feats")]
        rows = list(zip(*columns, doc.head.tolist(), doc.column("deprel"), strict=True))
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            yield rows[first:end]


if __name__ == "__main__":
    print(json.dumps({"spacy": spacy_speed, "udpipe": udpipe_speed}[sys.argv[1]]()))
