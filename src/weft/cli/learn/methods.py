"""The data options of the methods of `weft train`, and the function that trains each method.

A method that is not listed here trains on annotated files and has no options but its settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

from weft.cli.common import DATA, MODEL, RUNNING, Scheduler, TestFile, option
from weft.cli.inputs import Style

#: Data options by name; several methods may share one.
OPTIONS: dict[str, Any] = {
    "raw": Annotated[
        list[Path] | None,
        option("--raw", metavar="FILE", panel=DATA, help="Text without labels of the target domain; repeat."),
    ],
    "source_raw": Annotated[
        list[Path] | None,
        option("--source-raw", metavar="FILE", panel=DATA, help="Text without labels of the source domain; repeat."),
    ],
    "projected": Annotated[
        list[Path] | None,
        option("--projected", metavar="FILE", panel=DATA, help="Text with projected tags; repeat."),
    ],
    "test": TestFile,
    "bitext": Annotated[
        tuple[Path, Path] | None,
        option("--bitext", metavar="SOURCE TARGET", panel=DATA, help="Sentences and their translations."),
    ],
    "sentences": Annotated[
        list[Path] | None,
        option("--sentences", metavar="FILE", panel=DATA, help="Labelled sentences, or sentences about clips; repeat."),
    ],
    "target": Annotated[
        list[Path] | None,
        option("--target", metavar="FILE", panel=DATA, help="A few labelled reviews of the target domain; repeat."),
    ],
    "order": Annotated[
        int | None, option("--order", metavar="1|2|3", min=1, max=3, help="The same as --system mst1, mst2 or mst3.")
    ],
    "style": Style,
    "segmented": Annotated[
        Path | None,
        option("--segmented", metavar="FILE", panel=MODEL, help="Write the utterances with their words."),
    ],
    "plot": Annotated[
        Path | None,
        option("--plot", metavar="FILE.svg", panel=RUNNING, help="Draw the log-probability of every chain."),
    ],
    "harvest": Annotated[
        list[Path] | None,
        option("--harvest", metavar="TEXT", panel=DATA, help="Text to harvest: a file or a folder; repeat."),
    ],
    "model": Annotated[
        list[str] | None,
        option("--model", metavar="MODEL", panel=DATA, help="Model to annotate raw text with; repeat.", shown="en"),
    ],
    "counts": Annotated[
        list[Path] | None,
        option("--counts", metavar="FOLDER", panel=DATA, help="Counts of an earlier harvest to add; repeat."),
    ],
    "save_counts": Annotated[
        Path | None,
        option("--save-counts", metavar="FOLDER", panel=DATA, help="Write the counts, to be merged with others."),
    ],
    "daily": Annotated[
        list[Path] | None,
        option(
            "--daily", metavar="FOLDER", panel=DATA,
            help="Dated texts: a folder of files named by their dates, or tables with a column date; repeat.",
        ),
    ],
    "curve": Annotated[
        Path | None,
        option("--curve", metavar="FILE.svg", panel=RUNNING, help="Draw the profit by day with its interval."),
    ],
    "days": Annotated[
        Path | None,
        option("--days", metavar="FILE", panel=RUNNING, help="Write a table of days (.csv, .tsv, .json, .parquet)."),
    ],
    "events": Annotated[
        Path | None,
        option("--events", metavar="FILE", panel=RUNNING, help="Write a table of the events that move the series."),
    ],
    "predict": Annotated[
        Path | None,
        option("--predict", metavar="FILE", panel=DATA, help="Rows without labels to predict (.tsv, .csv)."),
    ],
    "predictions": Annotated[
        Path | None,
        option("--predictions", metavar="FILE", panel=RUNNING, help="Write what each annotator would say of them."),
    ],
    "picture": Annotated[
        Path | None,
        option("--picture", metavar="FILE.svg", panel=RUNNING, help="Draw who agrees, and the length-scales."),
    ],
    "index": Annotated[
        Path | None,
        option(
            "--index", metavar="FILE.parquet", panel=MODEL, help="Write the images for `weft search`."
        ),
    ],
    "parser": Annotated[
        str, option("--parser", metavar="MODEL", panel=DATA, help="Model that parses the captions.")
    ],
    "scheduler": Scheduler,
    "terms": Annotated[
        int, option("--terms", panel=RUNNING, min=0, help="Corresponding terms of the domains to show.")
    ],
}  # fmt: skip
#: Defaults of these options, unless None.
DEFAULTS = {"style": "sounds", "terms": 5, "parser": "en"}


#: Functions that train on annotated files.
TRAIN, TRAIN_ORDER = "weft.cli.learn.ways.plain:train", "weft.cli.learn.ways.plain:train_order"


class Way(NamedTuple):
    """How to train a method: the function, the kind of its files, and its data options."""

    run: str = TRAIN
    files: str = "Annotated files to train on; - is standard input."
    needed: bool = True
    options: tuple[str, ...] = ()
    dev: bool = True  #: whether there is an option `--dev`

    @property
    def folds(self) -> bool:
        """Whether it can be cross-validated: it trains on annotated files alone."""
        return self.run in (TRAIN, TRAIN_ORDER)


_ADAPTED = Way(
    "weft.cli.learn.ways.adapted:train", "Labelled files of the source domain.", options=("raw", "source_raw", "test")
)
WAYS = {
    ("segmenter", "adaptor"): Way(
        "weft.cli.learn.ways.utterances:train",
        "Utterances, one per line; word boundaries are only used for scoring.",
        options=("style", "segmented", "plot"),
        dev=False,
    ),
    ("tagger", "weak"): Way("weft.cli.learn.ways.weak:train", "", False, ("projected", "raw")),
    ("tagger", "flors"): _ADAPTED,
    ("tagger", "scl"): _ADAPTED,
    ("tagger", "graph"): _ADAPTED,
    ("tagger", "induced"): Way("weft.cli.learn.ways.plain:train_split", "Raw text; tags are ignored."),
    ("parser", "mst"): Way("weft.cli.learn.ways.plain:train_order", options=("order",)),
    ("parser", "transfer"): Way("weft.cli.learn.ways.transfer:train_parser", "", False),
    ("parser", "induced"): Way(files="Tagged sentences; trees are ignored."),
    ("ner", "bitext"): Way(
        "weft.cli.learn.ways.transfer:train_on_bitext", "Labelled files of the target language.", False, ("bitext",)
    ),
    ("ner", "transfer"): Way(
        "weft.cli.learn.ways.transfer:train_names", "Labelled files of the target language.", False
    ),
    ("metaphor", "harvest"): Way(
        "weft.cli.learn.ways.harvest:train", "Text to harvest, annotated or raw.", False,
        ("harvest", "model", "counts", "save_counts", "scheduler"), dev=False,
    ),
    ("times", "latent"): Way(
        "weft.cli.learn.ways.times:train", "Phrases with types, values and reference times (.tsv), or TimeML (.tml)."
    ),
    ("phenomena", "committee"): Way(
        "weft.cli.learn.ways.phenomena:train",
        "Conversations with a label per line (.chat.tsv, .chat.csv, ConvoKit's utterances.jsonl).",
    ),
    ("forecast", "prequential"): Way(
        "weft.cli.learn.ways.forecast:train", "Dated texts, as in --daily.", False,
        ("daily", "model", "curve", "days", "events"), dev=False,
    ),
    ("keywords", "walk"): Way("weft.cli.learn.ways.plain:train_texts", "Articles, raw or tagged.", dev=False),
    ("quality", "gaussian"): Way(
        "weft.cli.learn.ways.quality:train", "Tables with a row per label (.tsv, .csv).", True,
        ("predict", "predictions", "picture"),
    ),
    ("images", "ranking"): Way(
        "weft.cli.images.train:train", "Captions: the name of an image, a tab and a sentence per line.",
        options=("parser", "index"),
    ),
    ("grounding", "tracker"): Way(
        "weft.cli.learn.ways.grounding:train", "Folders of detections in the MOT format, one file per clip.",
        options=("sentences", "scheduler"), dev=False,
    ),
    ("preferences", "restrictions"): Way("weft.cli.learn.ways.preferences:train", "", False, dev=False),
    ("sentiment", "sentences"): Way(
        "weft.cli.learn.ways.reviews:train_sentences", "Reviews with ratings (.tsv, .csv, .jsonl).", False,
        ("sentences",),
    ),
    ("sentiment", "documents"): Way(
        "weft.cli.learn.ways.reviews:train_documents",
        "Labelled reviews of the source domain (.tsv, .csv, .jsonl).",
        options=("raw", "source_raw", "target", "test", "terms"),
        dev=False,
    ),
}  # fmt: skip
#: How the help of a task, or of one of its methods, ends.
EXAMPLES = {
    "segmenter": "weft train segmenter examples/story.conllu --out segmenter.weft",
    "segmenter adaptor": "weft train segmenter examples/induction/nursery.sounds --method adaptor --iterations 60 "
    "--chains 2 --out words.weft",
    "tagger": "weft train tagger examples/story.conllu --out tagger.weft",
    "tagger trigram": "weft train tagger examples/story.conllu --method trigram --out trigrams.weft",
    "tagger weak": "weft train tagger --method weak --dict examples/weak/words.dic --projected "
    "examples/weak/projected.conllu --raw examples/weak/plain.txt --out weak.weft",
    "tagger flors": "weft train tagger examples/adaptation/news.conllu --method flors --raw "
    "examples/adaptation/chat.txt --column xpos --out chat.weft",
    "tagger scl": "weft train tagger examples/clinic/trade.conllu --method scl --source-raw examples/clinic/trade.txt "
    "--raw examples/clinic/clinic.txt --pivot-count 10 --h 5 --out clinic.weft",
    "tagger graph": "weft train tagger examples/questions/travel.conllu --method graph --raw "
    "examples/questions/helpdesk.txt --out helpdesk.weft",
    "tagger induced": "weft train tagger examples/induction/market.txt --method induced --dict "
    "examples/induction/market.dic --out tags.weft",
    "lemmatizer": "weft train lemmatizer examples/story.conllu --out lemmatizer.weft",
    "parser": "weft train parser examples/story.conllu --system arc-hybrid --out parser.weft",
    "parser blend": "weft train parser examples/story.conllu --method blend --out blend.weft",
    "parser mst": "weft train parser examples/story.conllu --method mst --order 3 --out parser.weft",
    "parser transfer": "weft train parser --method transfer --sources en=en.conllu,de=de.conllu --target nl=nl.conllu "
    "--adapt aast --out nl.weft",
    "parser adapted": "weft train parser news.conllu --method adapted --methods T1 --target lab.conllu --out lab.weft",
    "parser induced": "weft train parser examples/induction/kitchen.conllu --method induced --iterations 30 "
    "--out grammar.weft",
    "deprels": "weft train deprels examples/story.conllu --out deprels.weft",
    "graphs": "weft train graphs train.conllu --out graphs.weft",
    "constituents": "weft train constituents train.mrg --units words --heads english --out phrases.weft",
    "disfluency": "weft train disfluency transcripts.conllu --out speech.weft",
    "chunker": "weft train chunker examples/chunks.conll --out chunker.weft --learner crf --seed 1",
    "chunker proposer": "weft train chunker examples/chunks.conll --method proposer --layer chunks --out proposer.weft",
    "ner": "weft train ner train.conll --gazetteer place=places.txt --out ner.weft",
    "ner bitext": "weft train ner --method bitext --bitext pairs.en pairs.de --links pairs.links --source-model en "
    "--out de.weft",
    "ner transfer": "weft train ner --method transfer --sources en=en.conll,es=es.conll --target de=de.txt "
    "--out de.weft",
    "spans": "weft train spans train.ann --out spans.weft",
    "metaphor": "weft train metaphor --harvest examples/metaphor/texts --cutoff 2 --out metaphor.weft",
    "mwe": "weft train mwe train.tags --out mwe.weft",
    "hedge": "weft train hedge train.xml --out hedge.weft",
    "amr": "weft train amr examples/meaning.amr --out amr.weft",
    "roles": "weft train roles examples/roles/kitchen.conllu --out roles.weft",
    "roles bins": "weft train roles examples/roles/kitchen.conllu --method bins --bins many --out bins.weft",
    "roles joint": "weft train roles examples/roles/kitchen.conllu --method joint --out joint.weft",
    "events": "weft train events examples/events/harbour.events.jsonl --out harbour.weft",
    "relations": "weft train relations examples/relations/jobs.tuples.jsonl --out jobs.weft",
    "preferences": "weft train preferences --verbnet examples/preferences/verbnet --semlink "
    "examples/preferences/semlink.json --wordnet examples/preferences/wordnet --types examples/preferences/types.tsv "
    "--out preferences.weft",
    "scope": "weft train scope examples/scope/commands.jsonl --out scope.weft",
    "timeline": "weft train timeline examples/timeline/notes.jsonl --out timeline.weft",
    "coref": "weft train coref examples/coref/village.conllu --out coref.weft",
    "times": "weft train times examples/times/italian.times.tsv --language it --out it-times.weft",
    "images": "weft train images examples/pictures/captions.tsv --vectors examples/pictures/pictures.vec --out "
    "pictures.weft --index pictures.parquet",
    "phenomena": "weft train phenomena examples/chat/rooms.chat.tsv --majority none --out worries.weft",
    "opinions": "weft train opinions examples/opinions/lamps.opinions.jsonl --out lamps.weft",
    "forecast": "weft train forecast --daily examples/markets/news.csv --series examples/markets/prices.csv "
    "--entities quill,harlan --out council.weft",
    "keywords": "weft train keywords examples/keywords/harbour.csv --language en --out keywords.weft",
    "quality": "weft train quality examples/quality/ratings.csv --annotator rater --label minutes --logarithms "
    "--source text --target translation --out minutes.weft",
    "grounding": "weft train grounding examples/clips --sentences examples/clips/sentences.tsv --out clips.weft",
    "sentiment": "weft train sentiment examples/inns/rated.tsv --sentences examples/inns/sentences.txt --positive "
    "examples/inns/good-words.txt --negative examples/inns/bad-words.txt --out inns.weft",
    "sentiment documents": "weft train sentiment examples/reviews/films.tsv --method documents --raw "
    "examples/reviews/pans.tsv --out pans.weft",
}


def way_of(task: str, method: str) -> Way:
    """How to train a method."""
    return WAYS.get((task, method), Way())
