"""How dialogs become the stories a network reads: copying, marks, and when the system goes on by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from query_reduction.config import ModelConfig
from query_reduction.data.dialog import SILENCE, Marks, mark, speakers
from query_reduction.data.slots import cut
from query_reduction.data.stories import Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.tasks.copying import Copying

__all__ = ["Preparation"]


@dataclass(frozen=True)
class Preparation:
    """What a model does with dialogs before its network reads them, learned from the training dialogs."""

    marks: Marks = "none"
    copying: Copying | None = None
    goes_on: frozenset[tuple[str, bool]] = frozenset()
    """(What is said, whether rows came after it): responses after which users were mostly silent."""

    @staticmethod
    def learn(dialogs: Sequence[Story], knowledge: Iterable[tuple[str, str, str]], config: ModelConfig) -> Preparation:
        """Learn from training dialogs and the knowledge base, if there is one."""
        copying = Copying.learn(dialogs, knowledge) if config.copying else None
        return Preparation(config.marks, copying, _goes_on(dialogs))

    def known_rows(self) -> tuple[tuple[str, str, str], ...]:
        """The rows of the knowledge base it learned names from; none without copying."""
        facts = self.copying.lexicon.facts if self.copying else {}
        return tuple((name, *fact) for name, known in facts.items() for fact in known)

    def with_knowledge(self, rows: Iterable[tuple[str, str, str]]) -> Preparation:
        """The same for conversations about another knowledge base: its words are read as names of their kinds."""
        return replace(self, copying=self.copying.with_knowledge(rows)) if self.copying else self

    def story(self, dialog: Story) -> Story:
        """The dialog as the network reads it."""
        return mark(self.copying.prepare(dialog) if self.copying else dialog, self.marks)

    def stories(self, dialogs: Iterable[Story]) -> list[Story]:
        """All these dialogs as the network reads them."""
        return [self.story(dialog) for dialog in dialogs]

    def vocabulary(self, read: Sequence[Story], train: Sequence[Story], candidates: Sequence[str]) -> Vocabulary:
        """Words of prepared dialogs; answers are the responses of training and, without copying, the candidates.

        Of those only the ones that say what training says, if with other names: the rest cannot be learned.
        """
        words = Vocabulary.from_stories(read, "spaces")
        answers = {question.answer for story in train for question in story.questions}
        if not self.copying:
            said = {cut(answer)[0] for answer in answers}
            answers |= {candidate for candidate in candidates if cut(candidate)[0] in said}
        return replace(words, answers=tuple(sorted(answers)))

    def goes_on_after(self, response: str, *, rows: bool) -> bool:
        """Whether the system speaks again after this response without waiting for the user."""
        return (cut(response)[0], rows) in self.goes_on

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "marks": self.marks,
            "copying": self.copying.as_json() if self.copying else None,
            "goes_on": sorted(map(list, self.goes_on)),
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Preparation:
        """What ``as_json`` gave."""
        copying = Copying.from_json(value["copying"]) if value["copying"] else None
        goes_on = frozenset((str(said), bool(rows)) for said, rows in value["goes_on"])
        return Preparation(value["marks"], copying, goes_on)


def _goes_on(dialogs: Iterable[Story]) -> frozenset[tuple[str, bool]]:
    silent: Counter[tuple[str, bool]] = Counter()
    told: Counter[tuple[str, bool]] = Counter()
    for dialog in dialogs:
        spoken = speakers(dialog)
        for question, following in zip(dialog.questions, dialog.questions[1:], strict=False):
            after = cut(question.answer)[0], "row" in spoken[question.after + 2 : following.after]
            told[after] += 1
            silent[after] += following.text == SILENCE
    return frozenset(after for after, count in told.items() if silent[after] > count / 2)
