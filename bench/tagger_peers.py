"""Speed of the tagger on English-EWT compared with spaCy and UDPipe, all trained on the same file.

Words per second from words to UPOS, XPOS and features, the best of three rounds over the test file with the model in
memory, by CPU and wall time. spaCy (tagger and morphologizer on its small convolutional model) and UDPipe (tagger) are
trained briefly, to measure their speed, not their accuracy. Each runs in a separate process on one core, one after the
other. A peer that is not installed is left out: `pip install spacy ufal.udpipe`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
PEERS = {"spacy": "spaCy", "udpipe": "UDPipe"}
PACKAGES = {"spacy": "spacy", "udpipe": "ufal.udpipe"}


def run() -> dict[str, Any]:
    """Measure Weft and the peers that are installed."""
    sides = [peer for peer, package in PACKAGES.items() if importlib.util.find_spec(package.partition(".")[0])]
    with tempfile.TemporaryDirectory() as folder:
        speeds = {side: _in_a_process(side, Path(folder)) for side in ("weft", *sides)}
    rows = [
        {
            "peer": PEERS[side],
            "its words/CPU s": speeds[side]["cpu"],
            "Weft's": speeds["weft"]["cpu"],
            "ratio, CPU": speeds["weft"]["cpu"] / speeds[side]["cpu"],
            "ratio, wall": speeds["weft"]["wall"] / speeds[side]["wall"],
        }
        for side in sides
    ]
    return {"title": "Tagging UPOS, XPOS and features: Weft beside spaCy and UDPipe, one core", "rows": rows}


def _in_a_process(side: str, folder: Path) -> dict[str, float]:
    one_core = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, side, str(folder)],
        env={**os.environ, **one_core}, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    speeds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return speeds


def _speed_of(make: Callable[[], Any], tag: Callable[[Any], None], words: int, rounds: int = 3) -> dict[str, float]:
    """Words per second, by CPU and wall time; the best of several rounds with fresh documents."""
    tag(make())
    cpu, wall = [], []
    for _ in range(rounds):
        docs = make()
        began, began_wall = time.process_time(), time.perf_counter()
        tag(docs)
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - began_wall)
    return {"cpu": words / min(cpu), "wall": words / min(wall)}


def weft_speed(folder: Path) -> dict[str, float]:
    """Weft with its default settings, the model loaded from a file."""
    from weft import data
    from weft.formats import read
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.tagging.tagger import Tagger, TaggerSettings
    from weft.text.doc import Doc

    trained = Tagger(TaggerSettings(calibrate=False))
    trained.fit(read(data.find(f"{FOLDER}/train.conllu.gz")))
    Pipeline([trained]).save(folder / "weft.model")
    tagger = Pipeline.load(folder / "weft.model").components[0]
    test = [forms for forms, *_ in _sentences("test")]
    return _speed_of(lambda: [Doc.from_words(test)], tagger, sum(map(len, test)))


def spacy_speed(folder: Path) -> dict[str, float]:
    """spaCy: tagger and morphologizer over one convolutional model, 20 updates of 32 sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    for name in ("tagger", "morphologizer"):
        nlp.add_pipe(name, config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    examples = []
    for forms, upos, xpos, feats in _sentences("train"):
        gold = Doc(nlp.vocab, words=forms, pos=upos, tags=xpos, morphs=feats)
        examples.append(Example(Doc(nlp.vocab, words=forms), gold))
    nlp.initialize(lambda: examples)
    for first in range(0, 640, 32):
        nlp.update(examples[first : first + 32])
    test = [forms for forms, *_ in _sentences("test")]
    return _speed_of(
        lambda: [Doc(nlp.vocab, words=forms) for forms in test],
        lambda docs: [None for _ in nlp.pipe(docs)],  # type: ignore[arg-type]
        sum(map(len, test)),
    )


def udpipe_speed(folder: Path) -> dict[str, float]:
    """UDPipe: one tagger model with its default features, 1 iteration."""
    from ufal import udpipe

    def sentences(part: str) -> Any:
        found = udpipe.Sentences()
        for forms, upos, xpos, feats in _sentences(part):
            sentence = udpipe.Sentence()
            for values in zip(forms, upos, xpos, feats, strict=True):
                word = sentence.addWord(values[0])
                if part == "train":
                    word.upostag, word.xpostag, word.feats = values[1:]
                    word.lemma = values[0]
            found.append(sentence)
        return found

    options = "models=1;use_lemma_1=0;provide_lemma_1=0;use_xpostag_1=1;use_feats_1=1;iterations=1"
    error = udpipe.ProcessingError()
    trained = udpipe.Trainer.train(
        "morphodita_parsito", sentences("train"), udpipe.Sentences(), udpipe.Trainer.NONE, options,
        udpipe.Trainer.NONE, error,
    )  # fmt: skip
    path = folder / "udpipe.model"
    path.write_bytes(trained)
    model = udpipe.Model.load(str(path))
    words = sum(len(forms) for forms, *_ in _sentences("test"))
    return _speed_of(
        lambda: list(sentences("test")),
        lambda found: [model.tag(sentence, udpipe.Model.DEFAULT) for sentence in found],  # type: ignore[arg-type]
        words,
    )


def _sentences(part: str) -> Iterator[tuple[list[str], list[str], list[str], list[str]]]:
    """Forms, UPOS, XPOS and features of every sentence."""
    from weft import data
    from weft.formats import read

    for doc in read(data.find(f"{FOLDER}/{part}.conllu.gz")):
        columns = [doc.column(name) for name in ("form", "upos", "xpos", "feats")]
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            forms, upos, xpos, feats = (column[first:end] for column in columns)
            yield forms, upos, xpos, feats


if __name__ == "__main__":
    measure = {"weft": weft_speed, "spacy": spacy_speed, "udpipe": udpipe_speed}
    print(json.dumps(measure[sys.argv[1]](Path(sys.argv[2]))))
