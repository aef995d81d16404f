"""The English pipeline from raw text to trees and entities: speed, start-up and memory, and spaCy and UDPipe.

Speed is words per CPU second on one core from texts to documents with the model in memory: segmenter, tagger with
features, lemmatizer, parser and entities, the best of several rounds over the texts of English-EWT dev; `all
components` adds chunks and multiword expressions. `two threads` is the speed-up of two threads over one, by wall time.
The long run annotates novels, one million words (or the number in WEFT_BENCH_WORDS), and records resident memory.
`first start` is `weft annotate` on a short file without compiled kernels, `later start` the same again, in CPU seconds
until the process ends.

spaCy (tagger, morphologizer, trainable lemmatizer, parser and entities on its small convolutional model) and UDPipe
(tokenizer, tagger with lemmas, parser with beam 5; it has no entities) are trained briefly on the first sentences of
the same file, to measure their speed, not their accuracy; each runs in a separate process on one core. A peer that is
not installed is left out: `pip install spacy ufal.udpipe`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
NOVELS = "raw/litbank-novels.txt.tar.gz"
EXTRA = ("chunker", "mwe")
PEERS = {"spacy": ("spacy", "spaCy"), "udpipe": ("ufal", "UDPipe")}
SENTENCES = 600
WORDS = int(os.environ.get("WEFT_BENCH_WORDS", 1_000_000))
GOALS = {"words/s": 40_000, "two threads": 1.8, "memory": 400, "first": 60, "later": 2, "peer": 6}


def run() -> dict[str, Any]:
    """Measure Weft, then the peers that are installed."""
    # Run the peers right after Weft: the load of the machine may change within ten minutes.
    ours = _in_a_process("weft")
    peers = {name: _in_a_process(side)["words/s"] for side, (package, name) in PEERS.items() if _installed(package)}
    memory = _in_a_process("memory")
    first, later = starts()
    rows = [
        _row("words/s, one core", ours["words/s"], GOALS["words/s"]),
        _row("words/s, one core, all components", ours["all"], None),
        _row("two threads", ours["two threads"], GOALS["two threads"]),
        _row(f"words/s, {WORDS:,} words of novels, all components", memory["words/s"], None),
        _row("memory after a tenth of them, MB", memory["early"], None),
        _row("most memory, MB", memory["most"], GOALS["memory"]),
        _row("first start, CPU s", first, GOALS["first"]),
        _row("later start, CPU s", later, GOALS["later"]),
        _row("model, MB", ours["MB"], 20),
    ]
    for name, theirs in peers.items():
        rows.append(_row(f"{name}, words/s, one core", theirs, None))
        rows.append(_row(f"Weft's speed over {name}'s", ours["words/s"] / theirs, GOALS["peer"]))
    parts = {f"{task}, us a word": seconds for task, seconds in ours["parts"].items()}
    return {"title": "The English pipeline from raw text", "rows": rows, "parts": parts}


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _row(what: str, figure: float, goal: float | None) -> dict[str, Any]:
    return {"measured": what, "figure": figure, "goal": goal}


def _in_a_process(side: str) -> dict[str, Any]:
    one_core = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, side], env={**os.environ, **one_core}, check=True, stdout=subprocess.PIPE, text=True
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _shortest(work: Callable[[], Any], clock: Callable[[], float], rounds: int = 12) -> float:
    seconds = []
    for _ in range(rounds):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def texts(part: str = "dev") -> list[str]:
    """The texts of a file."""
    from weft import data
    from weft.formats import read

    return [doc.text for doc in read(data.find(f"{FOLDER}/{part}.conllu.gz"))]


def weft_speed() -> dict[str, Any]:
    """Words per CPU second of the embedded model and its parts, and the speed-up from a second thread."""
    import weft
    from weft.pipeline import models
    from weft.pipeline.pipeline import Pipeline

    whole = weft.load("en")
    nlp = Pipeline([component for component in whole.components if component.task not in EXTRA])
    given = texts()

    def over(pipeline: Pipeline, repeated: int = 1, workers: int = 1) -> int:
        return sum(len(doc) for doc in pipeline.pipe(given * repeated, workers=workers))

    words = over(whole)
    one = two = math.inf
    for _ in range(10):  # interleaved, as the load of the machine may change within a minute
        one = min(one, _shortest(lambda: over(nlp, 8), time.perf_counter, 1))
        two = min(two, _shortest(lambda: over(nlp, 8, 2), time.perf_counter, 1))
    return {
        "words/s": words / _shortest(lambda: over(nlp), time.process_time),
        "all": words / _shortest(lambda: over(whole), time.process_time),
        "two threads": one / two,
        "MB": models.find("en").stat().st_size / 1e6,
        "parts": _parts(whole, given, words),
    }


def _parts(nlp: Any, given: list[str], words: int) -> dict[str, float]:
    """Microseconds per word of each component."""
    from weft.text.doc import Doc
    from weft.text.strings import StringTable

    best: dict[str, float] = {}
    for _ in range(3):
        strings = StringTable()
        docs = [Doc(text, strings) for text in given]
        for component in nlp.components:
            start = time.process_time()
            component(docs)
            seconds = time.process_time() - start
            best[component.task] = min(seconds, best.get(component.task, seconds))
    return {task: 1e6 * seconds / words for task, seconds in best.items()}


def memory() -> dict[str, float]:
    """Resident memory while novels are annotated, paragraph by paragraph."""
    import weft

    nlp = weft.load("en")
    sizes: list[float] = []
    words = 0
    start = time.process_time()
    for doc in nlp.pipe(_paragraphs()):
        words += len(doc)
        if words >= len(sizes) * WORDS / 20:
            sizes.append(_resident())
        if words >= WORDS:
            break
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"words/s": words / seconds, "early": sizes[2], "late": sizes[-1], "most": most}


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _paragraphs() -> Iterator[str]:
    """Paragraphs of novels, repeated endlessly."""
    from weft import data

    while True:
        with tarfile.open(data.find(NOVELS)) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    yield from filter(str.strip, file.read().decode("utf-8", "replace").split("\n\n"))


def starts() -> tuple[float, float]:
    """CPU seconds of `weft annotate` without and with compiled kernels."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "note.txt"
        text.write_text("The ferry to the island leaves at nine. Ada Byron missed it on Monday.\n", encoding="utf-8")
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/kernels", "WEFT_QUIET": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "weft", "annotate", str(text), "--to", "conllu"]
        seconds = []
        for _ in range(4):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return seconds[0], min(seconds[1:])


def spacy_speed() -> dict[str, float]:
    """Words per CPU second of spaCy's pipeline after 20 updates of 30 sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    labels = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    for name in ("tagger", "morphologizer", "trainable_lemmatizer"):
        nlp.add_pipe(name, config={"model": labels})
    for name, state in (("parser", "parser"), ("ner", "ner")):
        architecture = {
            "@architectures": "spacy.TransitionBasedParser.v2", "state_type": state, "extra_state_tokens": False,
            "hidden_width": 64, "maxout_pieces": 2, "use_upper": True, "tok2vec": listener,
        }  # fmt: skip
        nlp.add_pipe(name, config={"model": architecture})
    examples = []
    for rows in islice(_sentences("train"), SENTENCES):
        forms, lemmas, upos, xpos, feats, heads, relations = zip(*rows, strict=True)
        gold = Doc(
            nlp.vocab, words=list(forms), lemmas=list(lemmas), pos=list(upos), tags=list(xpos), morphs=list(feats),
            heads=[i if head == 0 else head - 1 for i, head in enumerate(heads)],
            deps=["ROOT" if head == 0 else relation for head, relation in zip(heads, relations, strict=True)],
            ents=["B-PER" if tag == "NNP" else "O" for tag in xpos],  # any entities will do for speed
        )  # fmt: skip
        examples.append(Example(Doc(nlp.vocab, words=list(forms)), gold))
    nlp.initialize(lambda: examples)
    for first in range(0, SENTENCES, 30):
        nlp.update(examples[first : first + 30])
    given = texts()
    words = sum(len(doc) for doc in nlp.pipe(given))
    return {"words/s": words / _shortest(lambda: [None for _ in nlp.pipe(given)], time.process_time, 6)}


def udpipe_speed() -> dict[str, float]:
    """Words per CPU second of UDPipe's tokenizer, tagger and parser after one pass each over a few sentences."""
    from ufal import udpipe

    from weft import data
    from weft.formats import read, write

    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.conllu"
        write(read(data.find(f"{FOLDER}/train.conllu.gz")).take_sentences(SENTENCES), few)
        error = udpipe.ProcessingError()
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText(few.read_text(encoding="utf-8"))
        sentences = udpipe.Sentences()
        while reader.nextSentence(sentence := udpipe.Sentence(), error):
            sentences.append(sentence)
        trained = udpipe.Trainer.train(
            "morphodita_parsito",
            sentences,
            udpipe.Sentences(),
            "epochs=1",
            "models=1;iterations=1",
            "iterations=1",
            error,
        )
        if error.occurred():
            raise RuntimeError(error.message)
        path = Path(folder) / "udpipe.model"
        path.write_bytes(trained)
        model = udpipe.Model.load(str(path))
    pipeline = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
    given = "\n\n".join(texts())
    found = pipeline.process(given, error)
    words = sum(line[:1].isdigit() and "-" not in line.split("\t")[0] for line in found.splitlines())
    return {"words/s": words / _shortest(lambda: pipeline.process(given, error), time.process_time, 3)}


def _sentences(part: str) -> Iterator[list[tuple[Any, ...]]]:
    """The words of every sentence: form, lemma, UPOS, XPOS, features, head and relation."""
    from weft import data
    from weft.formats import read

    for doc in read(data.find(f"{FOLDER}/{part}.conllu.gz")):
        columns = [doc.column(name) for name in ("form", "lemma", "upos", "xpos", "feats")]
        rows = list(zip(*columns, doc.head.tolist(), doc.column("deprel"), strict=True))
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            yield rows[first:end]


if __name__ == "__main__":
    sides = {"weft": weft_speed, "memory": memory, "spacy": spacy_speed, "udpipe": udpipe_speed}
    print(json.dumps(sides[sys.argv[1]]()))
