"""Entity recognizer on CoNLL-2002 (es, nl) and CoNLL-2003 (en), nested entities on LitBank and GermEval 2014.

Gazetteers are the entities of the training parts of WikiANN (en, de, fr) and NLTK's lists of names and places; word
clusters are trained on the training text and the treebanks of the language, for English also on novels. Every run
rebuilds both, in the same way for every language. English also has the lists of names and the clusters of GloVe
vectors that the English model has, and learns by conditional likelihood, as chosen on parts of the training file. The
test file of CoNLL-2003 is not available: its dev file is scored. LitBank is split by the names of its novels, 80 for
training, 10 for dev, 10 for test. The training file of GermEval is not available: its dev file is used for training.
Speed is words per CPU second on one core, the best of three rounds.
"""

from __future__ import annotations

import copy
import re
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

CONLL = {
    "es": ("ner/conll2002-es", "form xpos entities", {"dev": None, "test": 78.0}),
    "nl": ("ner/conll2002-nl", "form xpos entities", {"dev": None, "test": 75.0}),
    "en": ("ner/conll2003-en", "form xpos chunks entities", {"dev": 93.5}),
}
#: What the English recognizer reads besides what those of other languages read, and how it learns.
ENGLISH_LISTS = ("geo_city", "geo_region", "per_first", "per_last", "wiki_per", "wiki_loc", "wiki_org")
GLOVE = "lexicons/glove-6b-clusters/paths.gz"
LIKELIHOOD = {"learner": "sgd", "features": "all"}
PLAIN = {
    "es": ["treebanks/ud/Spanish-GSD/dev.conllu.gz", "treebanks/other/conll2007-es/train.conll.gz"],
    "nl": ["treebanks/ud/Dutch-LassySmall/train.conllu.gz"],
    "en": [f"treebanks/ud/English-{name}/train.conllu.gz" for name in ("EWT", "GUM", "LinES")],
}
LISTS = ("countries", "uscities", "nationalities", "usstates", "caprovinces", "mexstates")
CPU = "training, CPU s"
#: Number of characters to take of every novel for English clusters, and a pattern for its words and punctuation.
NOVEL, TOKEN = 60_000, re.compile(r"\w+(?:'\w+)?|[^\w\s]")


def run() -> dict[str, Any]:
    """Train and score all of them."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lists = gazetteers(folder)
        for language, (corpus, fields, goals) in CONLL.items():
            train = conll(corpus, fields, "train")
            options = {"gazetteers": lists, "clusters": clusters(language, train, folder)}
            options |= english(lists) if language == "en" else {}
            recognizer, seconds = trained(train, options)
            for part, goal in goals.items():
                figures = scored(recognizer, conll(corpus, fields, part))
                rows.append({"corpus": f"{corpus.split('/')[1]} {part}", **figures, "goal": goal, CPU: seconds})
        for name, (train, test) in {"litbank-nested": litbank(), "germeval2014-de": germeval()}.items():
            recognizer, seconds = trained(train, {"gazetteers": lists, "nested": True})
            rows.append({"corpus": f"{name} test, nested", **scored(recognizer, test), "goal": None, CPU: seconds})
    return {"title": "Entity recognizer, exact spans", "rows": rows}


def conll(corpus: str, fields: str, part: str) -> list[Any]:
    """The documents of a file of columns; one label of the Spanish file breaks its scheme."""
    from weft import data
    from weft.formats import read

    return list(read(data.find(f"{corpus}/{part}.txt.gz"), "columns", fields=fields, strict=False))


def trained(docs: list[Any], options: dict[str, Any]) -> tuple[Any, float]:
    """A recognizer and the CPU seconds it took."""
    from weft.tasks.entities.recognizer import EntityRecognizer

    recognizer = EntityRecognizer.from_options(options)
    report = recognizer.fit(docs)
    return recognizer, float(report["training"]["cpu_seconds"])


def scored(recognizer: Any, gold: list[Any], rounds: int = 3) -> dict[str, float]:
    """Span F1 in percent, calibration of probabilities, and words per CPU second without probabilities."""
    from weft.evaluate import calibration_of_spans, evaluate_spans

    system = []
    for doc in gold:
        bare = copy.copy(doc)
        bare.spans = {}
        system.append(bare)
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        recognizer(system)
        seconds.append(time.process_time() - start)
    recognizer(system, probabilities=True)
    honest = calibration_of_spans(gold, system, "entities")
    score = evaluate_spans(gold, system, "entities").score
    return {
        "F1": round(100 * score.f1, 2),
        "precision": round(100 * score.precision, 2),
        "recall": round(100 * score.recall, 2),
        "calibration error": round(honest.error, 4),
        "Brier": round(honest.brier, 4),
        "words/s": round(sum(doc.n_words for doc in gold) / min(seconds)),
    }


def gazetteers(folder: Path) -> dict[str, str]:
    """Files of phrases: the entities of WikiANN by type, and lists of names and places."""
    from weft import data
    from weft.formats import read

    lists: dict[str, set[str]] = {}
    for language in ("en", "de", "fr"):
        prefix = re.compile(rf"\b{language}:")
        for doc in read(data.find(f"ner/wikiann-{language}/train.txt.gz"), "columns", strict=False):
            for span in doc.span_views("entities"):
                lists.setdefault(f"wiki{span.label}", set()).add(prefix.sub("", span.text))
    for name in LISTS:
        text = data.find(f"lexicons/gazetteers/{name}.txt").read_text(encoding="latin1")
        lists[name] = {line.strip() for line in text.splitlines()}
    lists["first"] = set()
    for name in ("male", "female"):
        lists["first"].update(data.find(f"lexicons/names/{name}.txt").read_text(encoding="utf-8").split())
    files = {}
    for name, phrases in lists.items():
        path = folder / f"{name}.txt"
        path.write_text("\n".join(sorted(filter(None, phrases))) + "\n", encoding="utf-8")
        files[name] = str(path)
    return files


def english(lists: dict[str, str]) -> dict[str, Any]:
    """The lists of names and the second word clusters of the English model, beside other lists, and the learner."""
    from weft import data

    own = {name: str(data.find(f"lexicons/gazetteers-en/{name}.txt")) for name in ENGLISH_LISTS}
    return {"gazetteers": {**lists, **own}, "native_clusters": str(data.find(GLOVE)), **LIKELIHOOD}


def clusters(language: str, train: list[Any], folder: Path) -> str:
    """A file of word clusters."""
    from weft.lexical.clusters.monolingual import cluster_words

    path = folder / f"{language}.paths"
    cluster_words(_sentences(language, train), n_classes=500, min_count=3, rounds=10).save(path)
    return str(path)


def _sentences(language: str, train: list[Any]) -> Iterator[list[str]]:
    """Plain sentences of a language: the training text, treebanks, novels."""
    from weft import data
    from weft.formats import read

    yield from _forms(train)
    for name in PLAIN[language]:
        path = data.find(name)
        if name.endswith(".conll.gz"):
            fields = "id form _ _ _ _ _ _ _ _"
            for sentence in _forms(read(path, "columns", fields=fields)):
                yield [word for form in sentence for word in form.split("_")]
        else:
            yield from _forms(read(path, "conllu", check_trees=False))
    if language == "en":
        with tarfile.open(data.find("raw/litbank-novels.txt.tar.gz")) as tar:
            for member in tar.getmembers():
                file = tar.extractfile(member)
                if file is not None:
                    text = file.read().decode("utf-8", "replace")[:NOVEL]
                    yield from (TOKEN.findall(sentence) for sentence in re.split(r"(?<=[.!?])\s+", text))


def _forms(docs: Iterable[Any]) -> Iterator[list[str]]:
    for doc in docs:
        forms = doc.column("form")
        yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))


def litbank(held_out: slice = slice(90, 100)) -> tuple[list[Any], list[Any]]:
    """The first 80 novels, and ten others: the last for test, those before for dev."""
    from weft import data
    from weft.recipes.corpora.segment_samples import layered_columns

    samples = layered_columns(data.find("ner/litbank-nested/entities.tsv.tar.gz"))
    docs = [_document(list(group)) for _, group in groupby(samples, key=lambda sample: sample.text)]
    return docs[:80], docs[held_out]


def germeval() -> tuple[list[Any], list[Any]]:
    """The sentences of the dev file for training, and those of the test file, one document each."""
    from weft import data
    from weft.recipes.corpora.segment_samples import layered_columns

    parts = []
    for part in ("dev", "test"):
        samples = layered_columns(data.find(f"ner/germeval2014-de/{part}.tsv.gz"), 1, slice(2, 4))
        parts.append([_document([sample]) for sample in samples])
    return parts[0], parts[1]


def _document(samples: list[Any]) -> Any:
    from weft.recipes.corpora.segment_samples import LAYER, document

    doc = document(samples)
    doc.spans = {"entities": doc.spans[LAYER]}
    return doc


if __name__ == "__main__":
    for line in run()["rows"]:
        print(line)
