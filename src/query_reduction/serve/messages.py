"""What goes over the wire, typed: requests and answers of the API."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "AnswerMessage",
    "ChatMessage",
    "ChatRequest",
    "ErrorMessage",
    "GeneratedStory",
    "KnowledgeMessage",
    "LayerMessage",
    "ModelInfo",
    "ModelList",
    "Place",
    "Question",
    "RankedAnswer",
    "SaidMessage",
    "SentenceList",
    "StoryRequest",
    "Texts",
    "ToldStory",
    "TraceMessage",
    "TraceRequest",
    "TrackMessage",
    "TrackRequest",
    "TrackedState",
    "TrackerList",
    "Turn",
]

_HALF = re.compile("[\ud800-\udfff]")


def _whole(text: str) -> str:
    """A text that can be sent back: JSON may name half a character, which cannot be written."""
    if not text.isascii() and _HALF.search(text):
        raise ValueError("it holds half a character (a lone surrogate)")
    return text


_Text = Annotated[str, AfterValidator(_whole)]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_whole)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class Question(_Message):
    """A question about a story."""

    model: _Text = Field(description="name of a model, from /api/models", max_length=200, examples=["task2"])
    sentences: list[_Line] = Field(
        min_length=1,
        description="the story; a text of several sentences is split",
        examples=[["Mary got the milk.", "Mary went to the garden."]],
    )
    question: _Line = Field(examples=["Where is the milk?"])


class TraceRequest(Question):
    """A question whose answer should be explained."""

    vectors: bool = Field(default=False, description="with candidates and reduced queries in full")


class TrackRequest(_Message):
    """Things to be followed through a story."""

    model: _Text = Field(description="name of a model, from /api/trackers", max_length=200)
    sentences: list[_Line] = Field(
        min_length=1,
        description="the story; a text of several sentences is split",
        examples=[["Put the flour in a bowl.", "Put the bowl into the oven."]],
    )
    things: list[_Line] = Field(min_length=1, max_length=50, examples=[["flour"]])


class Texts(_Message):
    """Texts to be cut into sentences."""

    sentences: list[_Line] = Field(min_length=1, examples=[["Mary got the milk. Mary went to the garden."]])


class SentenceList(_Message):
    """The sentences of some texts."""

    sentences: list[str]


class StoryRequest(_Message):
    """A request for a generated story of the kind a model can read."""

    model: _Text = Field(max_length=200)
    seed: int = Field(ge=0, le=2**53, description="the same number gives the same story")


class Turn(_Message):
    """One thing the user said and the system's response."""

    text: _Text = Field(max_length=1000)
    answer: _Text = Field(max_length=1000)
    after: int = Field(ge=0, description="how many sentences of the conversation came before it")


class ChatRequest(_Message):
    """What the user says next; the conversation so far is that of the last response (empty at the start)."""

    model: _Text = Field(max_length=200)
    text: _Text = Field(default="", description="empty means silence: the system may continue")
    sentences: list[_Text] = Field(default=[])
    turns: list[Turn] = Field(default=[])
    pending: _Text = Field(default="", description="of the last response: what waits for a yes or no")


class SaidMessage(_Message):
    """One response of the system."""

    text: str
    shown: str = Field(description="the same as a person should see it")
    confidence: float
    rows: list[str] = Field(description="what the knowledge base gave, if it was called")
    unknown_words: list[str]


class ChatMessage(_Message):
    """What the system says, and the whole conversation, to be sent back with the next request."""

    said: list[SaidMessage]
    advice: list[str] = Field(description="what the user may do now, if the conversation would not continue by itself")
    sentences: list[str]
    turns: list[Turn]
    shares: list[float] = Field(description="how much each sentence contributed to the last response")
    state: list[str] = Field(description="what was understood so far")
    pending: str = Field(description="what waits for a yes or no, to be sent back; empty if nothing does")


class Place(_Message):
    """A place of the knowledge base."""

    name: str
    shown: str = Field(description="the name as a person should see it")
    facts: dict[str, str]


class KnowledgeMessage(_Message):
    """All places a dialog model knows."""

    places: list[Place]


class RankedAnswer(_Message):
    """An answer and its probability."""

    answer: str
    probability: float


class _Answered(_Message):
    """An answer, and how the story was read."""

    answer: str
    confidence: float = Field(description="how likely the answer is right, from 0 to 1")
    declined: bool = Field(description="whether the honest answer is: I don't know; the answer is then the best guess")
    doubts: list[str] = Field(description="why the answer may be wrong, if it is declined")
    runners_up: list[RankedAnswer]
    sentence_count: int = Field(description="how many sentences the story has")
    beyond_memory: int = Field(description="readable sentences at the start, further back than the model's memory")
    omitted: list[int] = Field(description="positions, from 0, of the sentences that could not be read")
    substituted: list[tuple[str, str]] = Field(
        description="unknown names, each with what it was read as", examples=[[("Zoë", "a name like Mary")]]
    )
    unknown_words: list[str] = Field(description="other words the model never saw in training: they mean nothing to it")
    unmentioned: list[str] = Field(description="new names of the question that are in no sentence that was read")
    is_guess: bool = Field(description="no sentence could be read, so all were read as they are")
    notes: list[str] = Field(description="all of this as lines of text")


class AnswerMessage(_Answered):
    """The answer to a question."""


class ToldStory(_Message):
    """A story with a question, its answer and what proves it."""

    sentences: list[str]
    question: str
    answer: str
    support: list[int]


class GeneratedStory(ToldStory):
    """A story the model has not seen."""

    task: int
    title: str


class ModelInfo(_Message):
    """An available model."""

    name: str
    title: str
    kind: Literal["story", "dialog"]
    network: str
    tasks: list[int] = Field(description="story tasks it was trained on, where known")
    answers: int = Field(description="how many different answers it can give")
    decodes_questions: bool
    example: ToldStory | None = Field(description="a story of its own data")
    card: dict[str, Any] = Field(description="data, command and measured errors")


class ModelList(_Message):
    """All available models."""

    models: list[ModelInfo]


class LayerMessage(_Message):
    """One layer at every sentence: gates (vector gates by their mean) and the weights of the composed read."""

    gates: dict[str, list[float]] = Field(description="by name: update, reset_forward, reset_backward, attention …")
    weights: list[float]
    candidate: list[list[float]] | None = None
    reduced: list[list[float]] | None = None
    units: dict[str, list[list[float]]] | None = Field(default=None, description="vector gates in full")


class TraceMessage(_Answered):
    """How the model arrived at an answer."""

    sentences: list[str] = Field(description="the sentences read: the last ones of a story longer than the memory")
    positions: list[int] = Field(description="their positions in the story")
    story: list[str] = Field(description="all sentences of the story, those not read included")
    question: str
    ranked: list[RankedAnswer] = Field(description="the answer and its runners-up")
    contributions: list[float] = Field(description="how much each sentence contributed; the sum is at most 1")
    shares: list[float] = Field(description="contributions divided by their sum")
    layers: list[LayerMessage]
    ending_here: list[list[RankedAnswer]] | None = Field(description="best answers if the story ended after a sentence")
    so_far: list[list[RankedAnswer]] | None = Field(description="best answers from the last state at a sentence")
    question_in_words: str | None = None
    queries_in_words: list[list[str]] | None = Field(default=None, description="by layer below the last and sentence")
    so_far_in_words: list[list[str]] | None = Field(default=None, description="the same from the sentences so far only")
    queries_trust: list[list[float]] | None = Field(
        default=None, description="how far the words can be trusted, 0 to 1"
    )
    so_far_trust: list[list[float]] | None = None
    least_trust: float | None = Field(default=None, description="words trusted less than this mislead")


class _Error(_Message):
    code: str
    message: str
    field: str | None = None


class ErrorMessage(_Message):
    """The response to every rejected request."""

    error: _Error


class TrackedState(_Message):
    """The state of a thing at one point of a story."""

    text: str
    confidence: float
    place: dict[str, Any] | None = Field(description="the phrase: text, sentence, words and characters, from 0")
    change: str = Field(description="what the sentence before did to the thing")


class TrackMessage(_Message):
    """What became of things."""

    sentences: list[str]
    things: dict[str, list[TrackedState]] = Field(description="before the first sentence, and after each")
    notes: list[str]


class TrackerList(_Message):
    """Models that follow things through a story."""

    models: list[str]
