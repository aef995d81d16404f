"""The English pipeline from raw text to trees and entities: speed, start-up and memory, and spaCy, UDPipe and wink-nlp.

Speed is words per CPU second on one core from texts to documents with the model in memory: segmenter, tagger with
features, lemmatizer, parser and entities, the best of several rounds over the texts of English-EWT dev; `all
components` adds chunks and multiword expressions, `sentences, tags, lemmas` leaves parser and entities out. `two
threads` is the speed-up of two threads over one, by wall time; `one file` is that of writing all components' answers as
one CoNLL-U file, as `weft annotate` does.
The long run annotates novels, one million words (or the number in WEFT_BENCH_WORDS), and records resident memory.
`first start` is `weft annotate` on a short file without compiled kernels, `later start` the same again, in CPU seconds
until the process ends.

spaCy (tagger, morphologizer, trainable lemmatizer, parser and entities on its small convolutional model) and UDPipe
(tokenizer, tagger with lemmas, parser with beam 5; it has no entities) are trained briefly on the first sentences of
the same file, to measure their speed, not their accuracy. wink-nlp (sentences, tags and lemmas only) comes with a model
and is installed by npm into a temporary folder. Each peer runs in a process of its own on one core; the ratio tells how
many times as much CPU time as Weft it takes for the same texts, and words are Weft's. A peer that is not installed is
left out, and the result says so: `pip install spacy ufal.udpipe`; wink-nlp needs node, npm and the network.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import resource
import shutil
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
BASIC = ("segmenter", "tagger", "lemmatizer")
#: Peers by the side that measures them: what they are called, and which of Weft's components do the same.
PEERS = {"spacy": ("spaCy", "main"), "udpipe": ("UDPipe", "main"), "wink": ("wink-nlp", "basic")}
PACKAGES = {"spacy": "spacy", "udpipe": "ufal"}
WINK = ("wink-nlp", "wink-eng-lite-web-model")
SENTENCES = 600
WORDS = int(os.environ.get("WEFT_BENCH_WORDS", 1_000_000))
GOALS = {
    "words/s": 100_000, "all": 60_000, "two threads": 1.8, "one file": 1.7, "memory": 350, "first": 12, "later": 2,
    "model": 18, "spacy": 6, "udpipe": 6,
}  # fmt: skip


def run() -> dict[str, Any]:
    """Measure Weft, then the peers that are installed."""
    # Run the peers right after Weft: the load of the machine may change within ten minutes.
    ours = _in_a_process("weft")
    measured = {side: _in_a_process(side) for side in PEERS if _installed(side)}
    peers = {side: found["seconds"] for side, found in measured.items() if "seconds" in found}
    memory = _in_a_process("memory")
    first, later = starts()
    rows = [
        _row("words/s, one core", ours["words"] / ours["main"], GOALS["words/s"]),
        _row("words/s, one core, all components", ours["words"] / ours["all"], GOALS["all"]),
        _row("words/s, one core, sentences, tags, lemmas", ours["words"] / ours["basic"], None),
        _row("two threads", ours["two threads"], GOALS["two threads"]),
        _row("two threads, one file", ours["one file"], GOALS["one file"]),
        _row(f"words/s, {WORDS:,} words of novels, all components", memory["words/s"], None),
        _row("memory after a tenth of them, MB", memory["early"], None),
        _row("most memory, MB", memory["most"], GOALS["memory"]),
        _row("first start, CPU s", first, GOALS["first"]),
        _row("later start, CPU s", later, GOALS["later"]),
        _row("model, MB", ours["MB"], GOALS["model"]),
    ]
    for side, (name, same) in PEERS.items():
        if side in peers:
            what = "" if same == "main" else ", sentences, tags, lemmas"
            rows.append(_row(f"{name}, words/s, one core{what}", ours["words"] / peers[side], None))
            rows.append(_row(f"CPU time of {name} over Weft's{what}", peers[side] / ours[same], GOALS.get(side)))
    parts = {f"{task}, us a word": seconds for task, seconds in ours["parts"].items()}
    left_out = [name for side, (name, _) in PEERS.items() if side not in peers]
    return {"title": "The English pipeline from raw text", "rows": rows, "parts": parts, "not installed": left_out}


def _installed(side: str) -> bool:
    if side in PACKAGES:
        return importlib.util.find_spec(PACKAGES[side]) is not None
    return bool(shutil.which("node") and shutil.which("npm"))


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
    """CPU seconds of the embedded model and its parts, and the speed-up from a second thread."""
    import weft
    from weft.pipeline import models
    from weft.pipeline.pipeline import Pipeline
    from weft.scale.job import fitted

    whole = weft.load("en")
    nlp = Pipeline([component for component in whole.components if component.task not in EXTRA])
    basic = Pipeline([component for component in whole.components if component.task in BASIC])
    given = texts()

    def over(pipeline: Pipeline, repeated: int = 1, workers: int = 1) -> int:
        return sum(len(doc) for doc in pipeline.pipe(given * repeated, workers=workers))

    def into_file(workers: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            docs = fitted(whole.pipe(given * 8, workers=workers), "conllu")
            weft.write(docs, Path(folder) / "all.conllu", comments="add")

    def speed_up(work: Callable[[int], Any]) -> float:
        times = [math.inf, math.inf]
        for _ in range(10):  # interleaved, as the load of the machine may change within a minute
            for k in range(2):
                times[k] = min(times[k], _shortest(lambda k=k: work(k + 1), time.perf_counter, 1))  # type: ignore[misc]
        return times[0] / times[1]

    words = over(whole)
    return {
        "words": words,
        "main": _shortest(lambda: over(nlp), time.process_time),
        "all": _shortest(lambda: over(whole), time.process_time),
        "basic": _shortest(lambda: over(basic), time.process_time),
        "two threads": speed_up(lambda workers: over(nlp, 8, workers)),
        "one file": speed_up(into_file),
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
    """CPU seconds of spaCy's pipeline after 20 updates of 30 sentences."""
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
    return {"seconds": _shortest(lambda: [None for _ in nlp.pipe(given)], time.process_time, 6)}


def udpipe_speed() -> dict[str, float]:
    """CPU seconds of UDPipe's tokenizer, tagger and parser after one pass each over a few sentences."""
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
    return {"seconds": _shortest(lambda: pipeline.process(given, error), time.process_time, 3)}


WINK_CODE = """
const nlp = require("wink-nlp")(require("wink-eng-lite-web-model"), ["sbd", "pos"]);
const its = nlp.its, texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
let best = Infinity;
for (let round = 0; round < 12; round++) {
  const before = process.cpuUsage();
  for (const text of texts) {
    const doc = nlp.readDoc(text);
    doc.sentences().length(); doc.tokens().out(its.pos); doc.tokens().out(its.lemma);
  }
  const spent = process.cpuUsage(before);
  best = Math.min(best, (spent.user + spent.system) / 1e6);
}
console.log(JSON.stringify({seconds: best}));
"""


def wink_speed() -> dict[str, float]:
    """CPU seconds of wink-nlp, which npm installs into a temporary folder; nothing if that fails."""
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *WINK]
        if subprocess.run(install, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return {}  # no network
        done = subprocess.run(
            ["node", "-e", WINK_CODE],
            cwd=folder,
            input=json.dumps(texts()),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        seconds: dict[str, float] = json.loads(done.stdout)
        return seconds


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
    sides = {
        "weft": weft_speed, "memory": memory, "spacy": spacy_speed, "udpipe": udpipe_speed, "wink": wink_speed,
    }  # fmt: skip
    print(json.dumps(sides[sys.argv[1]]()))
