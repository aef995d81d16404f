"""The fields of requests and responses, from which the OpenAPI description is generated."""

from __future__ import annotations

from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from weft.serve.service import ALTERNATIVES

Format = Literal[
    "json",
    "conllu",
    "records",
    "jsonl",
    "parquet",
    "columns",
    "plain",
    "html",
    "svg",
    "brat",
    "penn",
    "streusle",
    "bioscope",
    "times",
    "timeml",
    "anafora",
    "xmi",
    "coref",
    "tuples",
    "links",
    "nif",
]


#: Fields of a request that are looked at; there are fewer, so that one of these many is wrong.
_MOST_FIELDS = 20


class Request(BaseModel):
    """A text to annotate."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "The ferry left Bergen."}]})

    text: str = Field(description="The text to annotate.")
    model: str | None = Field(None, description="Name of a model listed by /models; default: the first.")
    format: Format = Field("json", description="Format of the response; all but json are files for download.")
    probabilities: bool = Field(False, description="Add the probability of every decision.")
    alternatives: int = Field(
        0, ge=0, le=ALTERNATIVES, description="Number of best analyses per sentence, with probabilities."
    )
    pictures: bool = Field(False, description="Add trees, phrases, scopes and spans of every sentence as SVG and HTML.")
    explain: int | None = Field(None, ge=0, description="Add why a word, counted from 0, was annotated as it is.")

    @model_validator(mode="before")
    @classmethod
    def _first_fields(cls, data: Any) -> Any:
        """Thousands of unknown fields take no more time to refuse than a few."""
        return dict(islice(data.items(), _MOST_FIELDS)) if isinstance(data, dict) else data


class Place(BaseModel):
    """A place in the text; counts begin at 0, ends are exclusive."""

    start: int = Field(description="First character.")
    end: int = Field(description="One past the last character.")


class Word(Place):
    """A word; missing annotations are omitted."""

    model_config = ConfigDict(extra="allow")

    form: str
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    head: int | None = Field(None, description="Index of the head in `words`; -1 for a root.")
    deprel: str | None = None
    token: int | None = Field(None, description="Index of the token, for the words of a contraction.")
    confidence: dict[str, float] | None = Field(None, description="Probability of the value in each column.")


class Alternative(BaseModel):
    """One analysis of a whole sentence: a label per word."""

    probability: float
    labels: list[str]


class Sentence(Place):
    """A sentence: words `first_word` to `end_word`, exclusive."""

    text: str
    first_word: int
    end_word: int
    alternatives: dict[str, list[Alternative]] | None = Field(None, description="By task, best first.")
    pictures: dict[str, Any] | None = Field(
        None,
        description="`tree`, `phrases`, `scope`, `amr`, `relations`, `events`, `opinions` as SVG, `spans` as HTML by "
        "layer; style sheet: /pictures.css.",
    )


class Piece(Place):
    """A piece of a span with gaps."""

    first_word: int
    end_word: int


class Span(Piece):
    """A span of words: an entity, a chunk, an expression."""

    label: str
    text: str
    probability: float | None = None
    pieces: list[Piece] | None = Field(None, description="Its pieces, if it has gaps.")


class Reason(BaseModel):
    """What fired, the value it read, and what it adds to the scores of the decision and of its runner-up."""

    template: str
    value: str
    weight: float
    runner_up: float


class Explanation(BaseModel):
    """Why a component decided as it did about a word: the strongest reasons, whose differences add up to the margin."""

    model_config = ConfigDict(extra="allow")

    task: str
    decision: str
    runner_up: str = Field(description="Empty if there was no choice.")
    margin: float
    reasons: list[Reason]


class Answer(BaseModel):
    """An annotated text: a record, as `weft annotate --to records` writes it, with facts about the answer."""

    model_config = ConfigDict(extra="allow")

    id: str
    text: str
    sentences: list[Sentence]
    words: list[Word]
    spans: dict[str, list[Span]] = Field(description="By layer, such as `entities`.")
    model: str
    seconds: float = Field(description="Time taken, including waiting.")
    notice: str | None = Field(
        None, description="With pictures: says that the text looks like another language than the model's, if it does."
    )
    timeline: str | None = Field(None, description="With pictures: the timeline of the text as SVG, if it has one.")
    explanations: list[Explanation] | None = Field(None, description="With `explain`: by component.")
    notes: list[str] | None = Field(None, description="What was annotated in windows, as it was too long.")


class ModelFacts(BaseModel):
    """What a model is and what it predicts."""

    name: str
    components: list[str]
    provides: list[str]
    probabilities: bool = Field(description="Whether it provides probabilities.")
    alternatives: bool = Field(description="Whether it provides alternatives.")
    explains: bool = Field(description="Whether it can explain its decisions about words.")
    formats: list[str] = Field(description="Formats that can represent its predictions.")
    card: dict[str, Any] = Field(description="Corpora, licence, scores.")


class Models(BaseModel):
    """The available models, and the request limits."""

    default: str
    models: list[ModelFacts]
    max_chars: int
    timeout: float
    max_alternatives: int
    graph: bool = Field(False, description="Whether a graph can be asked, at /ask.")


class Health(BaseModel):
    """The state of the service."""

    status: Literal["ok"]
    version: str
    models: list[str]
    waiting: int = Field(description="Requests queued or in progress.")
    answered: int


class Comparison(BaseModel):
    """A text, alone or with another one of its language."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "The ferry left.", "other": "The ferry has left."}]}
    )

    text: str = Field(description="The text.")
    other: str | None = Field(None, description="The text to compare it with; without one, its sentences are.")
    model: str | None = Field(None, description="Name of a model listed by /models; default: the first.")


class Likeness(BaseModel):
    """What links two texts, or the sentences of one; fields of the other case are null."""

    similarity: float | None = Field(None, description="Share of the words of both texts that correspond.")
    links: list[tuple[int, int, str]] | None = Field(
        None, description="Words that correspond, counted from 0 in either text, and what made the link."
    )
    differs: tuple[list[str], list[str]] | None = Field(None, description="Words of either text without a link.")
    sentences: int | None = None
    coherence: float | None = Field(None, description="Score of the sentence graph; compare texts of one length.")
    weakest: list[int] | None = Field(None, description="Sentences, from 1, after which the text hangs together least.")
    picture: str | None = Field(description="The links as SVG; null for a text of one sentence.")
    seconds: float


class Sought(BaseModel):
    """A sentence to search images by."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "a dog catches a frisbee"}]})

    text: str = Field(description="The sentence, or the name of an image to find those like it.")


class FoundImage(BaseModel):
    """An image with its rank."""

    rank: int
    image: str = Field(description="Its name.")
    score: float
    picture: str | None = Field(description="Where its picture is served, null if there is none.")


class FoundImages(BaseModel):
    """The images that a sentence describes best."""

    images: int = Field(description="How many images were searched.")
    hits: list[FoundImage] = Field(description="At most 24, best first.")
    seconds: float


class Typed(BaseModel):
    """The beginning of a question."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "people who li"}]})

    text: str = Field(description="What was typed.")
    session: str = Field("", max_length=64, description="Any name of a page that types; saves time between keystrokes.")


class Suggestions(BaseModel):
    """What a question that begins so may mean."""

    suggestions: list[str] = Field(description="Whole sentences, best first; each can be asked.")
    seconds: float


class Asked(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "people who live in Bergen"}]})

    text: str = Field(description="The question, in plain words.")


class Replied(BaseModel):
    """The answer to a question."""

    understood: str | None = Field(
        description="What was understood, as a sentence; null if the question means nothing."
    )
    ignored: list[str] = Field(description="Words that were left out.")
    total: int = Field(description="How many results there are.")
    columns: list[str]
    rows: list[list[str]] = Field(description="At most 100 results, best first.")
    others: list[str] = Field(description="Other readings, or what can be asked.")
    queries: dict[str, str] | None = Field(description="The question as `sql`, `sparql` and `cypher`.")
    picture: str | None = Field(description="The first results and the edges that put them there, as SVG.")
    drawn: int = Field(description="How many results are in the picture.")
    seconds: float


class GraphFacts(BaseModel):
    """The graph that can be asked."""

    nodes: int
    edges: int = Field(description="Edges that everybody sees.")
    types: list[str]
    relations: list[str]
    me: str | None = Field(description="Who asks, as the service was started.")
    models: list[str] = Field(description="Models that annotate texts beside it.")


class Problem(BaseModel):
    """Why a request failed, in plain words."""

    error: str
