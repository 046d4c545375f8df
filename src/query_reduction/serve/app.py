"""The application: a typed JSON API over trained models, and the page that uses it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from query_reduction import worlds
from query_reduction._version import __version__
from query_reduction.errors import InputError
from query_reduction.model import DialogModel, StoryModel
from query_reduction.models import story_tasks
from query_reduction.pointing.model import PointerModel
from query_reduction.reading.reading import as_sentences, check_question
from query_reduction.reading.stories import Answer
from query_reduction.serve import messages
from query_reduction.serve.batching import Batcher, BusyError
from query_reduction.serve.catalog import AnyModel, describe
from query_reduction.serve.conversation import Partner
from query_reduction.serve.direct import DirectPaths
from query_reduction.serve.guard import Guard, error_body
from query_reduction.serve.limits import Limits

__all__ = ["create_app"]

_KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_CODES = {400: "invalid", 404: "not_found", 405: "method_not_allowed"}
# Enough for a first story of full length; its last question is asked.
_QUESTIONS_TOLD = 5
_CONSIDERATION = 2.0
"""How much longer than an explanation took the next one waits while questions do."""
_Question = tuple[Sequence[str], str]
"""The sentences of a story, and the question."""


def create_app(
    offered: Mapping[str, AnyModel], limits: Limits | None = None, hosts: frozenset[str] | None = None
) -> Guard:
    """The application for these models; with ``hosts`` it answers only under those host names."""
    bounds = limits or Limits()
    trackers = {name: model for name, model in offered.items() if isinstance(model, PointerModel) and model.tracks}
    models = {name: model for name, model in offered.items() if not isinstance(model, PointerModel)}
    # Answers have their own thread: a long trace must not keep short questions waiting.
    answering = ThreadPoolExecutor(1, thread_name_prefix="answer")
    explaining = ThreadPoolExecutor(1, thread_name_prefix="explain")
    readers = {name: model for name, model in models.items() if isinstance(model, StoryModel)}
    partners = {name: Partner.of(model) for name, model in models.items() if isinstance(model, DialogModel)}
    batchers: dict[str, Batcher[_Question, Answer]] = {
        name: Batcher(_answering(reader), answering, waiting=bounds.waiting) for name, reader in readers.items()
    }
    explanations: Batcher[Callable[[], Any], Any] = Batcher(
        _considerate(lambda: any(batcher.busy for batcher in batchers.values())),
        explaining,
        waiting=bounds.explanations,
        at_once=1,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        answering.shutdown()
        explaining.shutdown()

    app = FastAPI(
        title="query-reduction",
        version=__version__,
        description="Ask trained Query-Reduction Networks about stories, and see how they reason.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=lifespan,
    )
    refused: dict[int | str, dict[str, Any]] = {
        status: {"model": messages.ErrorMessage, "description": what}
        for status, what in ((404, "no such model"), (413, "too large"), (422, "not understood"), (503, "busy"))
    }

    def known(name: str) -> StoryModel | DialogModel:
        if name not in models:
            raise HTTPException(404, f"no model {name!r}; /api/models lists them")
        return models[name]

    def reader_of(name: str) -> StoryModel:
        known(name)
        if name not in readers:
            raise InputError(f"{name!r} holds conversations: /api/chat")
        return readers[name]

    def partner_of(name: str) -> Partner:
        known(name)
        if name not in partners:
            raise InputError(f"{name!r} answers questions about stories: /api/answer")
        return partners[name]

    def check_size(sentences: Sequence[str], question: str) -> None:
        if len(sentences) > bounds.sentences:
            raise InputError(f"a story may have {bounds.sentences} sentences, not {len(sentences)}")
        for number, text in enumerate((question, *sentences)):
            if len(text) > bounds.characters:
                which = f"sentence {number}" if number else "the question"
                raise InputError(f"{which} may have {bounds.characters} characters, not {len(text)}")

    def sentences_of(asked: messages.Question) -> list[str]:
        """The story, checked here: one that cannot be read must not get into a batch with others."""
        sentences = as_sentences(asked.sentences)
        check_question(asked.question)
        check_size(sentences, asked.question)
        return sentences

    @app.get("/api/models", response_model=messages.ModelList)
    async def list_models() -> Any:
        """All available models."""
        return {"models": [describe(name, model) for name, model in models.items()]}

    @app.post("/api/answer", response_model=messages.AnswerMessage, responses=refused)
    async def answer(asked: messages.Question, request: Request) -> Response:
        """Answer a question about a story."""
        reader_of(asked.model)
        found = await batchers[asked.model].ask((sentences_of(asked), asked.question), _client(request))
        return _json(found.as_json())

    @app.post("/api/sentences", response_model=messages.SentenceList, responses=refused)
    async def sentences(written: messages.Texts) -> Any:
        """Cut texts into sentences, as they are read."""
        found = as_sentences(written.sentences)
        check_size(found, "")
        return {"sentences": found}

    @app.post("/api/trace", response_model=messages.TraceMessage, responses=refused)
    async def trace(asked: messages.TraceRequest, request: Request) -> Response:
        """Answer a question and show how: gates, reduced queries, contributions, earlier endings."""
        reader = reader_of(asked.model)
        sentences = sentences_of(asked)

        def explain() -> bytes:
            read = reader.task.reader.read(sentences, asked.question)
            return _bytes(reader.explain_read(read).as_json(vectors=asked.vectors))

        return Response(await explanations.ask(explain, _client(request)), media_type="application/json")

    @app.post("/api/story", response_model=messages.GeneratedStory, responses=refused)
    async def story(wanted: messages.StoryRequest, request: Request) -> Any:
        """A generated story of a kind the model was trained for, with a question about all of it."""
        tasks = story_tasks(known(wanted.model).card)
        if not tasks:
            raise InputError(f"no stories can be generated for model {wanted.model!r}")
        task = tasks[-1 - wanted.seed % len(tasks)]
        return await explanations.ask(lambda: _tell(task, wanted.seed), _client(request))

    @app.post("/api/chat", response_model=messages.ChatMessage, responses=refused)
    async def chat(told: messages.ChatRequest, request: Request) -> Any:
        """Continue a conversation. The server keeps nothing: send back what the last response contained."""
        partner = partner_of(told.model)
        check_size(told.sentences, told.text)
        return await explanations.ask(lambda: partner.say(told, most_sentences=bounds.sentences), _client(request))

    @app.get("/api/trackers", response_model=messages.TrackerList)
    async def list_trackers() -> Any:
        """The models that follow things through a story."""
        return {"models": list(trackers)}

    @app.post("/api/track", response_model=messages.TrackMessage, responses=refused)
    async def track(told: messages.TrackRequest, request: Request) -> Any:
        """The state of things before the first sentence and after each."""
        if told.model not in trackers:
            raise HTTPException(404, f"no model {told.model!r} that tracks; /api/trackers lists them")
        sentences = as_sentences(told.sentences)
        check_size(sentences, max(told.things, key=len))
        model = trackers[told.model]
        return await explanations.ask(lambda: model.track(sentences, told.things).as_json(), _client(request))

    @app.get("/api/knowledge/{model}", response_model=messages.KnowledgeMessage, responses=refused)
    async def knowledge(model: str) -> Any:
        """The places a dialog model can find."""
        return {"places": partner_of(model).places()}

    @app.get("/api/health")
    async def health() -> dict[str, str]:
        """Whether the server is up."""
        return {"status": "ok", "version": __version__}

    _add_page(app, home="track.html" if trackers and not models else "index.html")
    _add_errors(app, bounds.retry_seconds)
    explained = ("/api/trace", "/api/track", "/api/story", "/api/chat")
    direct = DirectPaths(app, {"/api/answer": answer, "/api/trace": trace})
    return Guard(direct, bounds, hosts, lambda path, client: path in explained and explanations.is_full(client))


def _answering(model: StoryModel) -> Callable[[Sequence[_Question]], list[Answer]]:
    """Answers to questions about stories that are split into sentences."""

    def answers(asked: Sequence[_Question]) -> list[Answer]:
        read = model.task.reader.read
        return model.answer_read([read(sentences, question) for sentences, question in asked])

    return answers


def _considerate(others_wait: Callable[[], bool]) -> Callable[[Sequence[Callable[[], Any]]], list[Any]]:
    """Do works that must not slow others down: after each, if others wait, they have the processor for a while."""

    def do(works: Sequence[Callable[[], Any]]) -> list[Any]:
        start = time.monotonic()
        done = [work() for work in works]
        if others_wait():
            time.sleep(_CONSIDERATION * (time.monotonic() - start))
        return done

    return do


def _client(request: Request) -> str:
    """Who asks: clients take turns."""
    return request.client.host if request.client else ""


def _tell(task: int, seed: int) -> dict[str, Any]:
    """The last question of a story from the test split."""
    told = worlds.generate(task, _QUESTIONS_TOLD, seed=seed, split="test")[0]
    question = told.questions[-1]
    return {
        "task": task,
        "title": worlds.TASKS[task].title,
        "sentences": told.sentences[: question.after],
        "question": question.text,
        "answer": question.answer,
        "support": question.support,
    }


def _add_page(app: FastAPI, home: str) -> None:
    """The page's files, read once: nothing outside the package's folder can be requested."""
    named = {"index.html": "/story", "docs.html": "/docs", "track.html": "/track", home: "/"}
    for asset in files("query_reduction.serve").joinpath("page").iterdir():
        kind = next((kind for ending, kind in _KINDS.items() if asset.name.endswith(ending)), None)
        if kind is None:
            continue
        content = asset.read_bytes()
        path = named.get(asset.name, f"/page/{asset.name}")

        async def send(content: bytes = content, kind: str = kind) -> Response:
            return Response(content, media_type=kind)

        app.add_api_route(path, send, methods=["GET", "HEAD"], include_in_schema=False)


def _add_errors(app: FastAPI, retry_seconds: float) -> None:
    """Every error response has the same form."""

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse(error_body("invalid", str(first["msg"]), field), 422)

    @app.exception_handler(InputError)
    async def bad_input(request: Request, error: InputError) -> Response:
        return JSONResponse(error_body("invalid", str(error)), 422)

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> Response:
        body = error_body("busy", "too many questions are waiting; try again in a moment")
        return JSONResponse(body, 503, headers={"retry-after": str(math.ceil(retry_seconds))})

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        code = _CODES.get(error.status_code, "refused")
        return JSONResponse(error_body(code, str(error.detail)), error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return JSONResponse(error_body("internal", "something went wrong; the server's log says what"), 500)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _bytes(value: Any) -> bytes:
    return _encode(value).encode()


def _json(value: Any) -> Response:
    return Response(_bytes(value), media_type="application/json")
