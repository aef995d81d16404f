"""The fields of requests and responses, from which the OpenAPI description is generated."""

from __future__ import annotations

from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from weft.serve.service import ALTERNATIVES

Format = Literal[
    "json", "conllu", "jsonl", "parquet", "columns", "plain", "html", "svg", "brat", "penn", "streusle", "bioscope"
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
    pictures: bool = Field(False, description="Add trees, phrases and spans of every sentence as SVG and HTML.")

    @model_validator(mode="before")
    @classmethod
    def _first_fields(cls, data: Any) -> Any:
        """Thousands of unknown fields take no more time to refuse than a few."""
        return dict(islice(data.items(), _MOST_FIELDS)) if isinstance(data, dict) else data


class Word(BaseModel):
    """A word; missing annotations are omitted."""

    model_config = ConfigDict(extra="allow")

    number: int = Field(description="Index in the sentence, from 1.")
    index: int = Field(description="Index in the document, from 0.")
    form: str
    start: int = Field(description="First character in the text.")
    end: int = Field(description="One past the last character.")
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    head: int | None = Field(None, description="Index of the head in the sentence; 0 for the root.")
    deprel: str | None = None
    confidence: dict[str, float] | None = Field(None, description="Probability of the value in each column.")


class Alternative(BaseModel):
    """One analysis of a whole sentence: a label per word."""

    probability: float
    labels: list[str]


class Sentence(BaseModel):
    """A sentence with its words."""

    number: int
    start: int
    end: int
    text: str
    words: list[Word]
    alternatives: dict[str, list[Alternative]] | None = Field(None, description="By task, best first.")
    pictures: dict[str, Any] | None = Field(
        None,
        description="`tree` and `phrases` as SVG, `spans` as HTML by layer; without a style sheet (/pictures.css).",
    )


class Span(BaseModel):
    """A span of words: an entity, a chunk, an expression."""

    label: str
    text: str
    words: list[tuple[int, int]] = Field(description="Pieces: first word and one past the last, in the document.")
    characters: list[tuple[int, int]] = Field(description="The same pieces in characters of the text.")
    probability: float | None = None


class Answer(BaseModel):
    """An annotated text."""

    model: str
    text: str
    seconds: float = Field(description="Time taken, including waiting.")
    sentences: list[Sentence]
    spans: dict[str, list[Span]] = Field(description="By layer, such as `entities`.")
    notice: str | None = Field(
        None, description="With pictures: says that the text looks like another language than the model's, if it does."
    )
    notes: list[str] | None = Field(None, description="What was annotated in windows, as it was too long.")


class ModelFacts(BaseModel):
    """What a model is and what it predicts."""

    name: str
    components: list[str]
    provides: list[str]
    probabilities: bool = Field(description="Whether it provides probabilities.")
    alternatives: bool = Field(description="Whether it provides alternatives.")
    formats: list[str] = Field(description="Formats that can represent its predictions.")
    card: dict[str, Any] = Field(description="Corpora, licence, scores.")


class Models(BaseModel):
    """The available models, and the request limits."""

    default: str
    models: list[ModelFacts]
    max_chars: int
    timeout: float
    max_alternatives: int


class Health(BaseModel):
    """The state of the service."""

    status: Literal["ok"]
    version: str
    models: list[str]
    waiting: int = Field(description="Requests queued or in progress.")
    answered: int


class Problem(BaseModel):
    """Why a request failed, in plain words."""

    error: str
