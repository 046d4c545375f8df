"""Questions that arrive together are answered together: one pass of the network for many requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Batcher", "BusyError"]

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")

_MOST_AT_ONCE = 64


class BusyError(Exception):
    """Too many questions are already waiting."""


class Batcher(Generic[Asked, Answered]):
    """Collects questions that arrive close together and answers them in one call, in a separate thread.

    While one batch is computed the next one gathers, so under load batches grow by themselves and waiting costs
    nothing.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Asked]], Sequence[Answered]],
        executor: ThreadPoolExecutor,
        *,
        waiting: int,
        seconds: float = 0.001,
    ) -> None:
        self._answer = answer
        self._executor = executor
        self._limit = waiting
        self._seconds = seconds
        self._waiting: list[tuple[Asked, asyncio.Future[Answered]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, asked: Asked) -> Answered:
        """The answer to one question, whenever its batch is done."""
        if len(self._waiting) >= self._limit:
            raise BusyError
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        """Answer batch after batch until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(self._seconds)
            while self._waiting:
                # Requests that were given up (a timeout, a closed connection) are no longer answered.
                batch = [(asked, future) for asked, future in self._waiting[:_MOST_AT_ONCE] if not future.done()]
                del self._waiting[:_MOST_AT_ONCE]
                try:
                    answers = await loop.run_in_executor(self._executor, self._answer, [asked for asked, _ in batch])
                except Exception as error:
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(error)
                else:
                    for (_, future), answer in zip(batch, answers, strict=True):
                        if not future.done():
                            future.set_result(answer)
        finally:
            self._task = None
