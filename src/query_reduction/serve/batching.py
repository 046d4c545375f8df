"""Questions that arrive together are answered together, and clients take turns.

Both answers (many at once) and explanations (one at a time) go through a ``Batcher``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Batcher", "BusyError"]

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
Waiting = TypeVar("Waiting")


class BusyError(Exception):
    """Too many questions are already waiting."""


class _Line(Generic[Waiting]):
    """Who waits, by client. Clients take turns, and where there are several, none has more than its share of places."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._clients: dict[str, deque[Waiting]] = {}
        """In the order of their turns."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def join(self, client: str, one: Waiting) -> Waiting | None:
        """Add to the end of a client's line; returns whoever has to leave for it.

        In a full line a client that has fewer places than another takes one from it; if there is none to take, that is
        a ``BusyError``.
        """
        leaving = None
        if self._count >= self._places:
            if self.is_full(client):
                raise BusyError
            longest = max(self._clients, key=lambda name: len(self._clients[name]))
            leaving = self._clients[longest].pop()
            self._count -= 1
        self._clients.setdefault(client, deque()).append(one)
        self._count += 1
        return leaving

    def is_full(self, client: str) -> bool:
        """Whether there is no place for one more of a client, not even another client's."""
        longest = max(map(len, self._clients.values()), default=0)
        return self._count >= self._places and longest <= len(self._clients.get(client, ())) + 1

    def take(self, most: int) -> list[Waiting]:
        """The next ones, one from each client in turn."""
        taken: list[Waiting] = []
        while self._clients and len(taken) < most:
            client = next(iter(self._clients))
            own = self._clients.pop(client)
            taken.append(own.popleft())
            if own:
                self._clients[client] = own  # behind the others
        self._count -= len(taken)
        return taken


class Batcher(Generic[Asked, Answered]):
    """Collects questions that arrive close together and answers them in one call, in a separate thread.

    While one batch is computed the next one gathers, so under load batches grow by themselves and waiting costs
    nothing. A question that cannot be answered fails alone.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Asked]], Sequence[Answered]],
        executor: ThreadPoolExecutor,
        *,
        waiting: int,
        at_once: int = 64,
        seconds: float = 0.001,
    ) -> None:
        self._answer = answer
        self._executor = executor
        self._at_once = at_once
        self._seconds = seconds
        self._line: _Line[tuple[Asked, asyncio.Future[Answered]]] = _Line(waiting)
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether questions are being answered or wait."""
        return self._task is not None

    def is_full(self, client: str) -> bool:
        """Whether a further question of this client would be refused."""
        return self._line.is_full(client)

    async def ask(self, asked: Asked, client: str = "") -> Answered:
        """The answer to one question, whenever its batch is done."""
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        left = self._line.join(client, (asked, future))
        if left is not None and not left[1].done():
            left[1].set_exception(BusyError())
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        """Answer batch after batch until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(self._seconds)
            while self._line:
                # Requests that were given up (a timeout, a closed connection) are no longer answered.
                batch = [one for one in self._line.take(self._at_once) if not one[1].done()]
                outcomes = await loop.run_in_executor(self._executor, self._each, [asked for asked, _ in batch])
                for (_, future), outcome in zip(batch, outcomes, strict=True):
                    if future.done():
                        continue
                    if isinstance(outcome, Exception):
                        future.set_exception(outcome)
                    else:
                        future.set_result(outcome)
        finally:
            self._task = None

    def _each(self, batch: Sequence[Asked]) -> list[Answered | Exception]:
        """The answers; a batch that fails is halved until the one that cannot be answered is alone."""
        if not batch:
            return []
        try:
            return list(self._answer(batch))
        except Exception as error:
            if len(batch) == 1:
                return [error]
        middle = len(batch) // 2
        return [*self._each(batch[:middle]), *self._each(batch[middle:])]
