"""Requests that come often, past FastAPI's routing and checks: its way to a function takes as long as an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from inspect import isawaitable
from typing import Any, get_type_hints

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

__all__ = ["DirectPaths"]

_Function = Callable[[Any, Request], Awaitable[Response]]


class DirectPaths:
    """An ASGI application: what is posted to some paths goes straight to their functions, all else to FastAPI.

    A function takes a checked message and the request. FastAPI knows these paths, too: it describes them, and its
    handlers answer their errors.
    """

    def __init__(self, app: FastAPI, functions: Mapping[str, _Function]) -> None:
        self._app = app
        self._functions = {path: (_message_of(function), function) for path, function in functions.items()}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request."""
        found = self._functions.get(scope.get("path", ""))
        if found is None or scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await _answered(*found, request)
        except Exception as error:
            kind = next(kind for kind in type(error).__mro__ if kind in self._app.exception_handlers)
            handled = self._app.exception_handlers[kind](request, error)
            response = await handled if isawaitable(handled) else handled
            if kind is Exception:
                await response(scope, receive, send)
                raise  # for the log
        await response(scope, receive, send)


async def _answered(message: type[BaseModel], function: _Function, request: Request) -> Response:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # A browser lets any page send other types here.
        raise RequestValidationError([{"loc": (), "msg": "the content-type must be application/json"}])
    try:
        asked = message.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error
    return await function(asked, request)


def _message_of(function: _Function) -> type[BaseModel]:
    """The type of a function's first argument."""
    first: type[BaseModel] = next(iter(get_type_hints(function).values()))
    return first
