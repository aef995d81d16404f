"""Data for the disfluency-parser recipe: transcripts with trees, generated repairs, Switchboard, word clusters.

Spoken UD treebanks provide transcripts in which reparanda attach by that relation (English conversations, podcasts,
court transcripts and vlogs, French, Norwegian). For other languages, repairs are inserted into fluent sentences
(`weft.tasks.speech.generated`). Switchboard has repairs without trees, for detectors only
(`weft.tasks.speech.switchboard`).

All are prepared as the parser reads them (`weft.tasks.speech.data`), with only words, tags, clusters and trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from weft.formats import read
from weft.lexical.clusters.monolingual import cluster_words
from weft.recipes.framework import RecipeOptions
from weft.tasks.speech.data import prepare
from weft.tasks.speech.generated import stripped
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc

FOLDER = "treebanks/ud"
FRENCH = ("French-Rhapsodie", "French-ParisStories")
NORWEGIAN = ("Norwegian-NynorskLIA",)
ENGLISH = ("English-EWT",)
#: The treebank of English speech, and its spoken genres.
GUM, SPOKEN = "English-GUM", ("conversation", "podcast", "court", "vlog")
#: Treebanks whose training words are clustered, by data set.
CLUSTERED = {
    "English": (GUM, *ENGLISH), "generated": (GUM, *ENGLISH), "Norwegian": NORWEGIAN,
    "French": (*FRENCH, "French-Sequoia"),
}  # fmt: skip
SWITCHBOARD = ("disfluency/swbd-disf-tagged/heldout.tsv.gz", "disfluency/swbd-disf-tagged/test.tsv.gz")


def transcripts(options: RecipeOptions, treebanks: Sequence[str], part: str, limit: int = 0) -> list[Doc]:
    """The sentences of treebanks as the parser reads them, one document per treebank; at most `limit` of each."""
    found = []
    for name in treebanks:
        path = options.find(f"{FOLDER}/{name}/{part}.conllu.gz")
        corpus = read(path).take_sentences(limit) if limit else read(path)
        found.append(stripped([prepare(doc).doc for doc in corpus]))
    return found


def spoken_english(options: RecipeOptions, part: str, limit: int = 0) -> list[Doc]:
    """The first sentences of the spoken genres of English-GUM as the parser reads them."""
    found: list[Doc] = []
    for doc in read(options.find(f"{FOLDER}/{GUM}/{part}.conllu.gz")):
        genre = (doc.id or "").split("_")[1:2]
        left = limit - sum(each.n_sentences for each in found) if limit else doc.n_sentences
        if genre and genre[0] in SPOKEN and left > 0:
            found.append(stripped([prepare(doc.subset(range(min(left, doc.n_sentences)))).doc]))
    return found


def clusters_of(options: RecipeOptions, name: str, classes: int = 100) -> dict[str, str]:
    """Paths of word clusters for a data set, learned from the words of training files only."""
    words: list[list[str]] = []
    for treebank in CLUSTERED[name]:
        for doc in read(options.find(f"{FOLDER}/{treebank}/train.conllu.gz")):
            forms = [form.lower() for form in doc.column("form")]
            words += [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]
    return cluster_words(words, classes, min_count=3).paths()


def note_clusters(docs: Sequence[Doc], paths: Mapping[str, str]) -> None:
    """Set the column of clusters that templates read."""
    for doc in docs:
        doc.set_column("cluster", [paths.get(form, "") for form in doc.column("form")])


def retag(train: Sequence[Doc], others: Sequence[Sequence[Doc]], folds: int = 5, epochs: int = 5) -> None:
    """Replace gold tags with predicted ones; training sentences are tagged by taggers that did not see them."""
    settings = TaggerSettings(column="upos", learner="perceptron", epochs=epochs, calibrate=False)
    sentences = [(doc, number) for doc in train for number in range(doc.n_sentences)]
    parts = [[sentences[i] for i in range(fold, len(sentences), folds)] for fold in range(folds)]
    predicted: dict[tuple[int, int], list[str]] = {}
    for part in parts:
        rest = [each for other in parts if other is not part for each in other]
        tagger = Tagger(settings)
        tagger.fit([doc.subset([number]) for doc, number in rest])
        held_out = [doc.subset([number]) for doc, number in part]
        tagger(held_out)
        for (doc, number), tagged in zip(part, held_out, strict=True):
            predicted[id(doc), number] = tagged.column("upos")
    tagger = Tagger(settings)
    tagger.fit(list(train))
    for docs in others:
        tagger(docs)
    for doc in train:
        tags = [tag for number in range(doc.n_sentences) for tag in predicted[id(doc), number]]
        doc.set_column("upos", tags)
