"""Hostile model files: every array and every header field of every kind of model made wrong, with valid checksums.

`small_models` trains a tiny model of every kind; `hostile_models` changes one array or one header field at a time,
saves the model with the checksums of the change, loads it and annotates a text with probabilities and alternatives. A
file may be refused with a plain error, or work; a crash of the process or a traceback is a failure. The work is done in
a worker process, so that a crash ends only that process and is attributed to the file that caused it.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
SHIPPED = ROOT / "src" / "weft" / "models"
TEXT = "The old ferry may have left the harbour. Anna said: don't give it up, of course! It is a lovely warm table."
#: Seconds that one file may take, training of kernels included.
PATIENCE = 240
#: Memory that a worker process may map, so that no file makes the machine swap.
MEMORY = 12_000_000_000


class Recipe(NamedTuple):
    """How to train a small model: a task, a method, training data, options, and raw text of another domain."""

    task: str
    method: str | None
    data: str
    options: dict[str, Any]
    raw: str = ""


def _options(**options: Any) -> dict[str, Any]:
    return options


_MST = _options(epochs=1, bits=10)
#: A model of every kind, and of every structure that a kind can have.
RECIPES = {
    "amr": Recipe("amr", None, "meaning.amr", _options(hash_bits=12, relation_passes=1)),
    "segmenter": Recipe("segmenter", None, "letters.conllu", _options(iterations=5)),
    "tagger": Recipe("tagger", None, "story.conllu", _options(epochs=1)),
    "tagger second order": Recipe(
        "tagger", None, "story.conllu", _options(templates="true y[-2]|y[-1] w[0] w[-1]", column="upos", epochs=1)
    ),
    "trigram tagger": Recipe("tagger", "trigram", "story.conllu", {}),
    "weak tagger": Recipe(
        "tagger", "weak", "weak/projected.conllu", _options(dictionaries=str(EXAMPLES / "weak/words.dic"), iterations=3)
    ),
    "flors": Recipe("tagger", "flors", "adaptation/news.conllu", _options(column="xpos"), "adaptation/chat.txt"),
    "scl tagger": Recipe(
        "tagger", "scl", "clinic/trade.conllu", _options(pivot_count=10, h=5, epochs=1), "clinic/clinic.txt"
    ),
    "graph tagger": Recipe(
        "tagger", "graph", "questions/travel.conllu", _options(iterations=3, retrain_iterations=3),
        "questions/helpdesk.txt",
    ),
    "induced tagger": Recipe(
        "tagger", "induced", "induction/market.txt", _options(dictionaries=str(EXAMPLES / "induction/market.dic"))
    ),
    "lemmatizer": Recipe("lemmatizer", None, "story.conllu", _options(epochs=1, min_count=1)),
    "parser": Recipe("parser", None, "story.conllu", _options(epochs=1, runs=1)),
    "parser with a beam": Recipe(
        "parser", None, "story.conllu", _options(epochs=1, runs=1, system="arc-standard", oracle="static", beam=2)
    ),
    "easy-first parser": Recipe("parser", None, "story.conllu", _options(epochs=1, runs=1, system="easy-first")),
    "mst1": Recipe("parser", "mst", "story.conllu", _MST | _options(system="mst1", threshold=0.0)),
    "mst2": Recipe("parser", "mst", "story.conllu", _MST | _options(system="mst2")),
    "mst3": Recipe("parser", "mst", "story.conllu", _MST | _options(system="mst3")),
    "crossing": Recipe("parser", "mst", "story.conllu", _MST | _options(system="crossing")),
    "blended parser": Recipe(
        "parser", "blend", "story.conllu", {"parsers": {"one": "arc-eager+epochs:1", "two": "mst1+epochs:1+bits:10"}}
    ),
    "transfer parser": Recipe(
        "parser", "transfer", "",
        _options(
            sources={"en": str(EXAMPLES / "languages/en.conllu"), "de": str(EXAMPLES / "languages/de.conllu")},
            target=f"nl={EXAMPLES / 'languages/nl-text.conllu'}", share="family", bits=10,
        ),
    ),
    "adapted parser": Recipe(
        "parser", "adapted", "domains/train.conllu",
        _MST | _options(methods="F3,T3", target=str(EXAMPLES / "domains/lab.conllu"), system="mst1", threshold=0.0),
    ),
    "induced parser": Recipe("parser", "induced", "induction/kitchen.conllu", _options(iterations=2)),
    "deprels": Recipe("deprels", None, "story.conllu", _options(bits=10)),
    "graphs": Recipe("graphs", None, "shared-heads.conllu", _MST),
    "constituents": Recipe("constituents", None, "tea.mrg", _options(epochs=1, beam=2)),
    "constituents of words": Recipe("constituents", None, "tea.mrg", _options(epochs=1, beam=2, units="words")),
    "disfluency": Recipe("disfluency", None, "speech.conllu", _options(epochs=1, beam=2)),
    "chunker": Recipe("chunker", None, "chunks.conll", _options(epochs=1)),
    "chunker second order": Recipe("chunker", None, "chunks.conll", _options(epochs=1, order=2, hash_bits=8)),
    "proposer": Recipe("chunker", "proposer", "chunks.conll", _options(layer="chunks", epochs=1)),
    "ner": Recipe(
        "ner", None, "ferries.conll", _options(gazetteers={"town": str(EXAMPLES / "towns.txt")}, epochs=1)
    ),
    "spans": Recipe("spans", None, "ellipsis/train.ann", _options(epochs=1)),
    "mwe": Recipe("mwe", None, "expressions.tags", _options(lexicons=str(EXAMPLES / "idioms.txt"), epochs=1)),
    "hedge": Recipe("hedge", None, "hedges.xml", _options(sentence_learner="l2", c=10.0)),
    "hedge with keys": Recipe("hedge", None, "hedges.xml", _options(sentence_learner="l2", c=10.0, hash_bits=0)),
    "roles": Recipe("roles", None, "roles/kitchen.conllu", _options(c_arguments=1.0, c_labels=1.0, c_senses=1.0)),
    "roles in bins": Recipe("roles", "bins", "roles/kitchen.conllu", _options(rare_values=1, gain=0.0)),
    "joint roles": Recipe("roles", "joint", "roles/kitchen.conllu", _options(epochs=1)),
    "events": Recipe("events", None, "events/harbour.events.jsonl", {"epochs": 2}),
    "relations": Recipe("relations", None, "relations/jobs.tuples.jsonl", {}),
    "scope": Recipe("scope", None, "scope/commands.jsonl", {}),
    "metaphor": Recipe("metaphor", None, "metaphor/parsed.conllu", {}),
    "opinions": Recipe("opinions", None, "opinions/lamps.opinions.jsonl", {"passes": 2}),
    "phenomena": Recipe("phenomena", None, "chat/rooms.chat.tsv", {"members": 2, "most_rules": 2}),
    "forecast": Recipe(
        "forecast", None, "markets/news.csv",
        {"series": str(EXAMPLES / "markets/prices.csv"), "entities": "quill,harlan", "features": "entity", "least": 5},
    ),
    "keywords": Recipe("keywords", None, "keywords/harbour.csv", {"language": "en"}),
    "quality": Recipe(
        "quality", None, "quality/ratings.csv",
        {"annotator": "rater", "label": "minutes", "source": "text", "target": "translation", "iterations": 5},
    ),
    "preferences": Recipe(
        "preferences", None, "",
        {
            "verbnet": str(EXAMPLES / "preferences/verbnet"), "semlink": str(EXAMPLES / "preferences/semlink.json"),
            "wordnet": str(EXAMPLES / "preferences/wordnet"), "types": str(EXAMPLES / "preferences/types.tsv"),
            "patches": str(EXAMPLES / "preferences/patches.tsv"),
        },
    ),
    "timeline": Recipe("timeline", None, "timeline/notes.jsonl", {}),
    "coref": Recipe("coref", None, "coref/village.conllu", {"epochs": 2, "bits": 10}),
    "times": Recipe("times", None, "times/italian.times.tsv", {"passes": 3, "beam": 60, "language": "it"}),
    "sentiment": Recipe("sentiment", "sentences", "inns/rated.tsv inns/sentences.txt", _options(epochs=1)),
    "polarity": Recipe(
        "sentiment", "documents", "reviews/films.tsv", _options(pivot_documents=2, dimensions=10), "reviews/pans.tsv"
    ),
}  # fmt: skip


def _docs(name: str) -> list[Any]:
    import weft
    from weft.formats.reviews import read_reviews
    from weft.text.split import with_words

    if not name:
        return []
    if name.startswith(("inns/", "reviews/")):
        return [review.doc() for each in name.split() for review in read_reviews(EXAMPLES / each)]
    return with_words(weft.read(EXAMPLES / name))


def small_models(folder: Path, names: Sequence[str] = tuple(RECIPES)) -> dict[str, Path]:
    """Train the models of these recipes, unless the folder already has them."""
    from weft.pipeline.registry import train

    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name in names:
        recipe, path = RECIPES[name], folder / f"{name.replace(' ', '-')}.weft"
        if not path.exists():
            raw = _docs(recipe.raw) if recipe.raw else None
            train(recipe.task, _docs(recipe.data), None, path, recipe.options, method=recipe.method, raw=raw)
        paths[name] = path
    return paths


# Mutants of arrays. A mutator gets an array and returns a hostile one, or None if it does not apply.

Array = NDArray[Any]


def _all_minus_one(array: Array, rng: random.Random) -> Array | None:
    return np.full_like(array, -1) if array.dtype.kind == "i" else None


def _one(array: Array, value: Any, rng: random.Random) -> Array | None:
    if not array.size:
        return None
    changed = array.copy()
    changed.reshape(-1)[rng.randrange(array.size)] = value
    return changed


def _one_minus_one(array: Array, rng: random.Random) -> Array | None:
    return _one(array, -1, rng) if array.dtype.kind == "i" else None


def _largest(array: Array, rng: random.Random) -> Array | None:
    return np.full_like(array, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else None


def _one_largest(array: Array, rng: random.Random) -> Array | None:
    return _one(array, np.iinfo(array.dtype).max, rng) if array.dtype.kind in "iu" else None


def _smallest(array: Array, rng: random.Random) -> Array | None:
    return np.full_like(array, np.iinfo(array.dtype).min) if array.dtype.kind in "iu" else None


def _past_the_end(array: Array, rng: random.Random) -> Array | None:
    if array.dtype.kind not in "iu" or not array.size or int(array.max()) == np.iinfo(array.dtype).max:
        return None
    return _one(array, int(array.max()) + 1, rng)


def _last_past_the_end(array: Array, rng: random.Random) -> Array | None:
    if array.dtype.kind not in "iu" or not array.size or int(array.reshape(-1)[-1]) == np.iinfo(array.dtype).max:
        return None
    changed = array.copy()
    changed.reshape(-1)[-1] += 1
    return changed


def _other_sign(array: Array, rng: random.Random) -> Array | None:
    kinds = {"i": "u", "u": "i"}
    if array.dtype.kind not in kinds:
        return None
    return array.view(np.dtype(f"{kinds[array.dtype.kind]}{array.dtype.itemsize}"))


def _signed_and_negative(array: Array, rng: random.Random) -> Array | None:
    if array.dtype.kind not in "iu":
        return None
    signed = array.astype(np.dtype(f"i{array.dtype.itemsize}"))
    return _one(signed, -(1 << (8 * array.dtype.itemsize - 2)), rng)


def _other_width(array: Array, rng: random.Random) -> Array | None:
    if array.dtype.kind not in "iuf":
        return None
    widths = [n for n in ((4, 8) if array.dtype.kind == "f" else (1, 2, 4, 8)) if n != array.dtype.itemsize]
    with np.errstate(all="ignore"):
        return array.astype(np.dtype(f"{array.dtype.kind}{rng.choice(widths)}"))


def _as_floats(array: Array, rng: random.Random) -> Array | None:
    return array.astype(np.float64) if array.dtype.kind in "iub" else None


def _too_long(array: Array, rng: random.Random) -> Array | None:
    return np.concatenate([array, array[-1:]]) if array.ndim and len(array) else None


def _too_short(array: Array, rng: random.Random) -> Array | None:
    return array[:-1] if array.ndim and len(array) else None


def _empty(array: Array, rng: random.Random) -> Array | None:
    return array[:0] if array.ndim and len(array) else None


def _reversed(array: Array, rng: random.Random) -> Array | None:
    return np.ascontiguousarray(array.reshape(-1)[::-1].reshape(array.shape)) if array.size > 1 else None


def _more_dimensions(array: Array, rng: random.Random) -> Array | None:
    return array[None]


def _fewer_dimensions(array: Array, rng: random.Random) -> Array | None:
    return array.reshape(-1) if array.ndim > 1 else array.reshape(()) if array.size == 1 and array.ndim else None


def _random_values(array: Array, rng: random.Random) -> Array | None:
    if array.dtype.kind not in "iu" or not array.size:
        return None
    data = np.frombuffer(rng.randbytes(array.nbytes), dtype=np.uint8)
    return data.view(array.dtype).reshape(array.shape)


def _filled(value: float) -> Callable[[Array, random.Random], Array | None]:
    def fill(array: Array, rng: random.Random) -> Array | None:
        return np.full_like(array, value) if array.dtype.kind == "f" and array.size else None

    return fill


def _with_one(value: float) -> Callable[[Array, random.Random], Array | None]:
    def put(array: Array, rng: random.Random) -> Array | None:
        return _one(array, value, rng) if array.dtype.kind == "f" else None

    return put


_HUGE = 3e38
ARRAY_MUTATORS: dict[str, Callable[[Array, random.Random], Array | None]] = {
    "all -1": _all_minus_one, "one -1": _one_minus_one, "all largest": _largest, "one largest": _one_largest,
    "all smallest": _smallest, "past the end": _past_the_end, "last past the end": _last_past_the_end,
    "other sign": _other_sign, "signed and negative": _signed_and_negative, "other width": _other_width,
    "as floats": _as_floats, "too long": _too_long, "too short": _too_short, "empty": _empty, "reversed": _reversed,
    "more dimensions": _more_dimensions, "fewer dimensions": _fewer_dimensions, "random values": _random_values,
    "all NaN": _filled(np.nan), "one NaN": _with_one(np.nan), "all Inf": _filled(np.inf),
    "one -Inf": _with_one(-np.inf), "all huge": _filled(_HUGE), "one huge": _with_one(-_HUGE), "all 0.0": _filled(0.0),
    "all 1e12": _filled(1e12),
}  # fmt: skip
#: What replaces a value of a header.
WRONG_VALUES: tuple[Any, ...] = (
    None, -1, 0, 1, 7, 2**31, 2**63, 10**30, 1e308, float("nan"), float("inf"), 0.5, True, False, "", "x",
    "\ud800", "\x00\n\t", [], {}, [[]], [None], {"x": None}, [0], ["x"], {"": 0}, {"x": "y"}, [[[[[[[[]]]]]]]],
)  # fmt: skip


class Mutant(NamedTuple):
    """One change of one model: an array by a mutator, or a header field by a value."""

    model: str
    kind: str  #: array or header
    place: str
    change: str


def header_places(value: Any, path: tuple[Any, ...] = (), most: int = 6) -> Iterator[tuple[Any, ...]]:
    """Paths of the values of a header, of long lists and tables only the first, one of the middle, and the last."""
    yield path
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if len(keys) > 40:
            keys = [*keys[: most // 2], keys[len(keys) // 2], *keys[-most // 3 :]]
        elif isinstance(value, list) and len(keys) > most:
            keys = [keys[0], keys[len(keys) // 2], keys[-1]]
        for key in keys:
            yield from header_places(value[key], (*path, key), most)


def _fields(header: dict[str, Any]) -> Any:
    """The part of a header to change: the components of a pipeline, or all that another model says of itself."""
    own = ("version", "checksums", "packed", "task")
    return header.get("components") or {name: value for name, value in header.items() if name not in own}


def mutants(name: str, path: Path, rng: random.Random, arrays: bool = True, headers: bool = True) -> list[Mutant]:
    """All changes of one model, in random order."""
    from weft import storage

    header, own = storage.load(path)
    found: list[Mutant] = []
    if arrays:
        found += [Mutant(name, "array", array, change) for array in own for change in [*ARRAY_MUTATORS, "missing"]]
        found.append(Mutant(name, "array", "0/unheard-of", "added"))
    if headers:
        for place in header_places(_fields(header)):
            changes = [repr(i) for i in range(len(WRONG_VALUES))]
            if place:
                changes += ["missing", "repeated", "longer", "negated"]
            found += [Mutant(name, "header", json.dumps(place), change) for change in changes]
    rng.shuffle(found)
    return found


def write_mutant(mutant: Mutant, source: Path, out: Path, rng: random.Random) -> bool:
    """Write the changed model with valid checksums; False if the change does not apply to what is there."""
    from weft import storage

    header, arrays = storage.load(source)
    if mutant.kind == "array":
        if not _change_array(mutant, arrays, rng):
            return False
    elif not _change_header(mutant, header):
        return False
    header = {name: value for name, value in header.items() if name not in ("version", "checksums")}
    _save(out, header, arrays)
    return True


def _save(path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """A model file as `weft.storage.save` writes it, but with any header that JSON can hold: lone surrogates too."""
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    tensors = {name: np.asarray(arrays[name], order="C") for name in order}
    raw = {name: array.tobytes() for name, array in tensors.items()}
    sums = {
        name: zlib.crc32(raw[name], zlib.crc32(f"{array.dtype.str} {array.shape}".encode()))
        for name, array in tensors.items()
    }
    text = json.dumps({"version": 1, **header, "checksums": sums})
    outer: dict[str, Any] = {"__metadata__": {"weft": text, "checksum": str(zlib.crc32(text.encode()))}}
    kinds = {"f": "F", "i": "I", "u": "U", "b": "BOOL"}
    reached = 0
    for name, array in tensors.items():
        width = "" if array.dtype.kind == "b" else str(8 * array.dtype.itemsize)
        outer[name] = {
            "dtype": kinds[array.dtype.kind] + width, "shape": array.shape,
            "data_offsets": [reached, reached + array.nbytes],
        }  # fmt: skip
        reached += array.nbytes
    data = json.dumps(outer).encode()
    data += b" " * (-len(data) % 8)
    path.write_bytes(b"".join([len(data).to_bytes(8, "little"), data, *raw.values()]))


def _change_array(mutant: Mutant, arrays: dict[str, Array], rng: random.Random) -> bool:
    if mutant.change == "added":
        arrays[mutant.place] = np.zeros(3, dtype=np.int32)
        return True
    if mutant.change == "missing":
        del arrays[mutant.place]
        return True
    before = arrays[mutant.place]
    changed = ARRAY_MUTATORS[mutant.change](np.array(before), rng)
    if changed is None:
        return False
    same = changed.dtype == before.dtype and changed.shape == before.shape
    if same and changed.tobytes() == before.tobytes():
        return False
    arrays[mutant.place] = np.ascontiguousarray(changed).reshape(changed.shape)
    return True


def _change_header(mutant: Mutant, header: dict[str, Any]) -> bool:
    path = json.loads(mutant.place)
    if not path:
        if "components" not in header:
            return False
        header["components"] = copy.deepcopy(WRONG_VALUES[int(mutant.change)])
        return True
    inside = header.get("components") or header
    for key in path[:-1]:
        inside = inside[key]
    key = path[-1]
    value = inside[key]
    if mutant.change == "missing":
        del inside[key]
    elif mutant.change == "repeated":
        if not isinstance(value, list) or not value:
            return False
        inside[key] = [*value, value[0]]
    elif mutant.change == "longer":
        if not isinstance(value, str | list):
            return False
        inside[key] = value * 300
    elif mutant.change == "negated":
        if type(value) not in (int, float):
            return False
        inside[key] = -value - 1
    else:
        new = copy.deepcopy(WRONG_VALUES[int(mutant.change)])
        if repr(new) == repr(value):
            return False
        inside[key] = new
    return True


# Judging.


def documents() -> list[Any]:
    """Raw text, and words with all the annotation that some component requires."""
    import weft

    text = weft.Doc(TEXT)
    (story,) = list(weft.read(EXAMPLES / "story.conllu"))[:1]
    few = story.subset(list(range(min(3, story.n_sentences))))
    few.set_column("xpos", [tag or "X" for tag in few.column("xpos")])
    return [text, few]


def outcome(path: Path) -> str:
    """How loading and using a model ends: refused, works, says what is missing, or a traceback."""
    from weft.errors import ModelError, WeftError

    try:
        uses = list(_uses(path))
    except ModelError:
        return "refused"
    except BaseException:
        return "FAILED to load: " + traceback.format_exc()
    for use in uses:
        try:
            use()
        except WeftError:
            pass
        except BaseException:
            return "FAILED to annotate: " + traceback.format_exc()
    return "works"


def _uses(path: Path) -> Iterator[Callable[[], Any]]:
    """Load a model and give what can be done with it."""
    import weft
    from weft.tasks.bitext.align import Aligner
    from weft.tasks.knowledge.folder import KnowledgeGraph
    from weft.tasks.segmentation.induce_words import WordModel
    from weft.tasks.tagging.scl_projection import TokenProjection
    from weft.tasks.translation.translator import Translator

    if path.stem == "aligner":
        aligner = Aligner.load(path)
        yield lambda: aligner.align([["the", "ferry", "left"]] * 2, [["die", "Fähre", "fuhr", "ab"]] * 2)
    elif path.stem == "words":
        words = WordModel.load(path)
        yield lambda: words.segment([list("badago"), list("goba")])
        yield lambda: words.segment([list("badago"), list("goba")], best=True)
        yield words.lexicon
    elif path.stem == "projection":
        projection = TokenProjection.load(path)
        yield lambda: projection.from_words(["the", "trade"])
        yield lambda: projection.sums(np.arange(-1, len(projection.keys), dtype=np.int32), np.array([0, 1, 2]))
    elif path.stem == "translator":
        translator = Translator.load(path)
        yield lambda: translator.translate(["the", "ferry", "sank"])
        yield lambda: [each.trace() for each in translator.kbest(["the", "fog"], 3)]
    elif path.stem == "grounding":
        (grounder,) = weft.load(path).components
        for clip in _clips().values():
            yield partial(grounder.describe, clip)
    elif path.stem == "paths":
        kg = KnowledgeGraph.open(EXAMPLES / "graph" / "coast.tsv")
        yield lambda: kg.complete("citizen of", model=path)
    else:
        nlp = weft.load(path)
        for doc in documents():
            yield partial(_annotate, nlp, doc)


def _annotate(nlp: Any, doc: Any) -> None:
    nlp(doc, probabilities=nlp.gives_probabilities, kbest=2 if nlp.gives_kbest else 0)
    doc.to_bytes()


def other_models(folder: Path) -> dict[str, Path]:
    """Small models that are not made from documents alone: aligners, translators, words of clips, images and so on."""
    from weft.learn.adaptor.mcmc import Schedule
    from weft.lexical.network.entities import add_entities
    from weft.lexical.network.network import NetworkBuilder
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.bitext.align import Aligner
    from weft.tasks.knowledge.folder import KnowledgeGraph
    from weft.tasks.linking.linker import Linker
    from weft.tasks.segmentation.induce_words import WordSettings, learn_words
    from weft.tasks.tagging.scl_projection import ProjectionSettings, RawTokens, TokenProjection

    names = ("aligner", "words", "projection", "linker", "paths", "translator", "images", "grounding")
    paths = {name: folder / f"{name}.weft" for name in names}
    folder.mkdir(parents=True, exist_ok=True)
    bitext = [["the", "ferry", "left"], ["the", "fog"]] * 4, [["die", "Fähre", "fuhr", "ab"], ["der", "Nebel"]] * 4
    if not paths["aligner"].exists():
        aligner = Aligner()
        aligner.fit(*bitext)
        aligner.save(paths["aligner"])
    if not paths["translator"].exists():
        from weft.tasks.translation.training import train as train_translator

        train_translator(*bitext)[0].save(paths["translator"])
    if not paths["images"].exists():
        _images(paths["images"])
    if not paths["grounding"].exists():
        _grounding(paths["grounding"])
    if not paths["words"].exists():
        said = ["badago", "dago", "goba", "bago", "dagoba", "goba", "badago", "daba"] * 4
        settings = WordSettings("colloc", vowels=("a", "o"), chains=1, schedule=Schedule.of(30, 2))
        learn_words([list(each) for each in said], settings)[0].save(paths["words"])
    if not paths["projection"].exists():
        settings_of_projection = ProjectionSettings(pivot_count=10, h=5)
        tokens = RawTokens.from_texts([_docs("clinic/trade.txt"), _docs("clinic/clinic.txt")], settings_of_projection)
        TokenProjection.from_tokens(tokens, settings_of_projection).save(paths["projection"])
    if not paths["linker"].exists():
        builder = NetworkBuilder()
        add_entities(builder, [EXAMPLES / "links" / "football.tsv"])
        Pipeline([Linker(network=builder.network())], {"name": "linker"}).save(paths["linker"])
    if not paths["paths"].exists():
        kg = KnowledgeGraph.open(EXAMPLES / "graph" / "coast.tsv")
        kg.save_model(kg.complete("citizen of"), paths["paths"])
    return paths


def _images(path: Path) -> None:
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.images.captions import read_captions
    from weft.tasks.images.finder import IMAGE, ImageFinder, ImageSettings
    from weft.tasks.images.vectors import read_image_vectors

    (story,) = list(_docs("story.conllu"))[:1]
    images = read_image_vectors(str(EXAMPLES / "pictures" / "pictures.vec"))
    docs = []
    for number, caption in enumerate(read_captions(EXAMPLES / "pictures" / "captions.tsv")):
        doc = story.subset([number % story.n_sentences])
        doc.meta[IMAGE] = caption.image
        docs.append(doc)
    finder = ImageFinder(ImageSettings(dimensions=4, epochs=1, least=1))
    finder.fit(docs, None, images)
    Pipeline([finder], {"name": "images"}).save(path)


def _clips() -> dict[str, Any]:
    from weft.formats.detections import read_mot
    from weft.tasks.grounding.clips import clip_files, read_clip

    files = clip_files(EXAMPLES / "clips")[:3]
    names = sorted({kind for file in files for kind in read_mot(file).kinds})
    return {file.stem: read_clip(file, 3, 1, names) for file in files}


def _grounding(path: Path) -> None:
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.grounding import Grounder
    from weft.tasks.grounding.grounder import GroundingSettings
    from weft.tasks.grounding.sentences import read_sentences

    clips = _clips()
    pairs = [(clip, said) for _, clip, said in read_sentences(EXAMPLES / "clips" / "sentences.tsv") if clip in clips]
    grounder = Grounder(GroundingSettings(starts=1, finalists=1, iterations=1, detections=3, per_kind=1))
    grounder.learn(clips, pairs)
    Pipeline([grounder], {"name": "grounding"}).save(path)


def _work(asked: Connection, folder: Path) -> None:
    """The loop of a worker process: changes of models come in, outcomes go out."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Numba reports a crash there
    while (order := asked.recv()) is not None:
        mutant, seed, source = order
        out = folder / f"{mutant.model.replace(' ', '-')}.weft"
        try:
            applies = write_mutant(mutant, source, out, random.Random(seed))
        except (ValueError, UnicodeError) as error:
            asked.send(f"not written: {error}")
            continue
        asked.send(outcome(out) if applies else "does not apply")


class _Worker:
    """A process that judges one mutant after another; a new one takes its place if it crashes.

    It is forked, so that it has the kernels that this process has already loaded.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self.asked, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.folder), daemon=True)
        self.process.start()
        theirs.close()

    def judge(self, mutant: Mutant, seed: int, source: Path) -> str:
        """The outcome of a mutant, or how the process ended."""
        self.asked.send((mutant, seed, source))
        ready = self.asked.poll(PATIENCE)
        if ready:
            with suppress(EOFError, ConnectionError):
                answer: str = self.asked.recv()
                return answer
        else:
            self.process.kill()
        self.process.join()
        status = self.process.exitcode
        self._start()
        return f"FAILED: {'the process ended with' if ready else 'time is up,'} {status}"

    def close(self) -> None:
        self.asked.send(None)
        self.process.join()


def hostile_models(
    models: dict[str, Path], count: int | None = None, seed: int = 1, arrays: bool = True, headers: bool = True
) -> dict[str, Any]:
    """Judge `count` mutants of models (all of them if None), an equal share of each; returns counts and failures."""
    chosen: list[tuple[Mutant, Path]] = []
    for name, path in models.items():
        own = mutants(name, path, random.Random(f"{seed} {name}"), arrays, headers)
        chosen += [(mutant, path) for mutant in (own if count is None else own[: -(-count // len(models))])]
    counts: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        worker = _Worker(Path(folder))
        for number, (mutant, path) in enumerate(chosen):
            answer = worker.judge(mutant, seed * 1_000_003 + number, path)
            counts[answer.split(" ")[0].rstrip(":")] += 1
            if answer.startswith("FAILED"):
                failures.append({**mutant._asdict(), "seed": seed, "number": number, "answer": answer})
        worker.close()
    return {"mutants": len(chosen), "outcomes": dict(counts), "failures": failures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the small models are, or are trained")
    parser.add_argument("--count", type=int, help="mutants in all; without it every mutant of every model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(RECIPES), help="recipes to use")
    parser.add_argument("--shipped", action="store_true", help="the models of the package too")
    parser.add_argument("--no-arrays", action="store_true")
    parser.add_argument("--no-headers", action="store_true")
    options = parser.parse_args()
    models = small_models(options.folder, options.only) | other_models(options.folder)
    if options.shipped:
        models |= {path.stem: path for path in sorted(SHIPPED.glob("*.weft"))}
    found = hostile_models(models, options.count, options.seed, not options.no_arrays, not options.no_headers)
    print(json.dumps(found, indent=1))
    sys.exit(bool(found["failures"]))


if __name__ == "__main__":
    main()
