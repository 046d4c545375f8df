"""Copying: the network reads and says kinds of names instead of names, so that it can handle any name.

It is given more than the other dialog networks: the kinds of names come from the knowledge base, it chooses among a
few templates where they have hundreds or thousands of candidates, and the features of the ranking are hand-written.
From the training dialogs it learns:

1. The kind of a word: what it is in knowledge-base rows (the subject, or a value of some relation). Words in no row
   get the kind they replace in otherwise equal responses, if the user said them before. Words that users
   say when they mean a name (``moderately``) are found by the name the system uses afterwards.
2. Which words of a response are slots: those of a known kind that the dialog has mentioned, unless the response
   always has the same word there.
3. Which name fills a slot: ``ranking``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from query_reduction.dialog.mentions import NAME_KIND, Lexicon, MentionLog, follow, kind_of_relation, row_of
from query_reduction.dialog.ranking import Choice, Ranking, shared_facts
from query_reduction.errors import InputError
from query_reduction.text.formats.dialog import speakers
from query_reduction.text.formats.stored import Bounds
from query_reduction.text.stories import Question, Story

__all__ = ["Copying"]

_ENOUGH = 3
"""A word that is the same in this many otherwise equal responses is part of them, not a slot."""

_SURE = 0.8
"""A word is an alias of a name if at least this share of what follows it says so."""

_Frame = tuple[str, ...]


@dataclass(frozen=True)
class Copying:
    """What was learned about names."""

    lexicon: Lexicon
    fixed: frozenset[tuple[str, int]]
    """(response with all names as kinds, position) of words that are not slots."""
    ranking: Ranking

    @staticmethod
    def learn(dialogs: Sequence[Story], knowledge: Iterable[tuple[str, str, str]] = ()) -> Copying:
        """Learn from training dialogs and, if there is one, a knowledge base."""
        told = list(dict.fromkeys(_rows(dialogs)))
        known = ((subject.lower(), relation.lower(), value.lower()) for subject, relation, value in knowledge)
        kinds = _kinds_of_rows([*known, *told])
        kinds |= _induced_kinds(dialogs, kinds)
        facts: dict[str, tuple[tuple[str, str], ...]] = {}
        for subject, relation, value in told:
            facts[subject] = (*facts.get(subject, ()), (relation, value))
        fixed = _fixed_words(dialogs, kinds)
        unaliased = Copying(Lexicon(kinds, {}, facts), fixed, Ranking({}, shared_facts(told)))
        lexicon = Lexicon(kinds, unaliased._find_aliases(dialogs), facts)
        unranked = Copying(lexicon, fixed, unaliased.ranking)
        return Copying(lexicon, fixed, Ranking.learn(unranked._choices(dialogs), unranked.ranking.facts))

    def with_knowledge(self, rows: Iterable[tuple[str, str, str]]) -> Copying:
        """A copy that also knows the words of another knowledge base."""
        kinds = _kinds_of_rows((subject.lower(), relation.lower(), value.lower()) for subject, relation, value in rows)
        return replace(self, lexicon=replace(self.lexicon, kinds={**kinds, **self.lexicon.kinds}))

    def read(self, dialog: Story) -> tuple[Story, MentionLog]:
        """The dialog as the network reads it: kinds for names, responses with slots, equal rows of a block once.

        Also returns the names mentioned up to its last question.
        """
        known = self._known(dialog)
        sentences: list[str] = []
        new_place = []
        block: set[str] = set()
        for sentence, speaker, lexicon in zip(dialog.sentences, speakers(dialog), known[1:], strict=True):
            new_place.append(len(sentences))
            general = lexicon.generalise(sentence)
            if speaker != "row":
                block.clear()
            elif general in block:
                continue
            else:
                block.add(general)
            sentences.append(general)
        new_place.append(len(sentences))
        questions = []
        log = MentionLog(known[0])
        for question, log in follow(dialog, known):
            template = " ".join(self._template(question.answer, log))
            questions.append(Question(log.lexicon.generalise(question.text), template, new_place[question.after]))
        return Story(tuple(sentences), tuple(questions), dialog.task), log

    def follow(self, dialog: Story) -> Iterator[tuple[Question, MentionLog]]:
        """Each question with what has been mentioned up to it; all share one growing log."""
        return follow(dialog, self._known(dialog))

    def fill(self, template: str, log: MentionLog) -> str | None:
        """A response: its slots filled with names the dialog has mentioned; None if there are none."""
        words = template.split()
        chosen: list[str] = []
        for position, word in enumerate(words):
            if word.startswith("<") and word.endswith(">"):
                name = self.ranking.choose(f"{template}#{position}", word, log, chosen)
                if name is None:
                    return None
                words[position] = name
                chosen.append(name)
        return " ".join(words)

    def _known(self, dialog: Story) -> list[Lexicon]:
        """What is known about words after each sentence: from training, and from the rows of this dialog so far.

        Later rows are not used: a question is answered with what was said before it.
        """
        known = [self.lexicon]
        rows: list[tuple[str, str, str]] = []
        for sentence, speaker in zip(dialog.sentences, speakers(dialog), strict=True):
            row = row_of(sentence) if speaker == "row" else None
            if row is not None:
                rows.append(row)
            if row is None or (row[0] in known[-1].kinds and row[2] in known[-1].kinds):
                known.append(known[-1])
            else:
                known.append(replace(self.lexicon, kinds={**_kinds_of_rows(rows), **self.lexicon.kinds}))
        return known

    def _template(self, response: str, log: MentionLog) -> list[str]:
        """The words of a response, slots as kinds."""
        words = response.lower().split()
        frame = " ".join(log.lexicon.kinds.get(word, word) for word in words)
        return [
            log.names[word].kind if word in log.names and (frame, position) not in self.fixed else word
            for position, word in enumerate(words)
        ]

    def _choices(self, dialogs: Iterable[Story]) -> Iterator[Choice]:
        for dialog in dialogs:
            for question, log in self.follow(dialog):
                template = self._template(question.answer, log)
                words = question.answer.lower().split()
                chosen: list[str] = []
                for position, (slot, word) in enumerate(zip(template, words, strict=True)):
                    if slot == word:
                        continue
                    names = log.of_kind(slot)
                    label = f"{' '.join(template)}#{position}"
                    yield Choice(self.ranking.describe(label, slot, names, log, chosen), names.index(word))
                    chosen.append(word)

    def _find_aliases(self, dialogs: Iterable[Story]) -> dict[str, str]:
        """User words that explain why the system names something not mentioned before: those it reliably follows."""
        kinds = self.lexicon.kinds
        followed: Counter[tuple[str, str]] = Counter()
        followed_by: Counter[tuple[str, str]] = Counter()
        unnamed: list[tuple[str, frozenset[str]]] = []
        for dialog in dialogs:
            said: set[str] = set()
            for question, log in self.follow(dialog):
                said.update(word for word in question.text.lower().split() if word not in kinds)
                words = question.answer.lower().split()
                frame = " ".join(kinds.get(word, word) for word in words)
                for position, word in enumerate(words):
                    if word not in kinds or (frame, position) in self.fixed:
                        continue
                    followed.update((other, kinds[word]) for other in said)
                    followed_by.update((other, word) for other in said)
                    if word not in log.names:
                        unnamed.append((word, frozenset(said)))
        explained: Counter[tuple[str, str]] = Counter((other, word) for word, said in unnamed for other in said)
        found: dict[str, str] = {}
        for word, before in unnamed:
            sure = [
                other
                for other in before
                if explained[other, word] >= 2 * _ENOUGH
                and followed_by[other, word] >= _SURE * followed[other, kinds[word]]
            ]
            if sure:
                found[max(sure, key=lambda other: (explained[other, word], other))] = word
        return found

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "kinds": dict(self.lexicon.kinds),
            "aliases": dict(self.lexicon.aliases),
            "told": {name: [list(fact) for fact in facts] for name, facts in self.lexicon.facts.items()},
            "fixed": sorted(map(list, self.fixed)),
            "weights": dict(self.ranking.weights),
            "facts": sorted(self.ranking.facts),
        }

    @staticmethod
    def from_json(value: object, read: Bounds) -> Copying:
        """The inverse of ``as_json``; anything else is an ``InputError``."""
        fields = read.mapping(value, "names")
        told = {
            name: tuple(read.pair(fact, "told") for fact in read.list(facts, "told"))
            for name, facts in read.mapping(fields["told"], "told").items()
        }
        lexicon = Lexicon(read.table(fields["kinds"], "kinds"), read.table(fields["aliases"], "aliases"), told)
        fixed = set()
        for entry in read.list(fields["fixed"], "fixed"):
            frame, position = read.list(entry, "fixed")
            fixed.add((read.text(frame, "fixed"), read.count(position, "fixed")))
        weights = dict(read.mapping(fields["weights"], "weights"))
        if not all(isinstance(weight, float) for weight in weights.values()):
            raise InputError("weights must be numbers")
        ranking = Ranking(cast(dict[str, float], weights), frozenset(read.texts(fields["facts"], "facts")))
        return Copying(lexicon, frozenset(fixed), ranking)


def _rows(dialogs: Iterable[Story]) -> list[tuple[str, str, str]]:
    rows = []
    for dialog in dialogs:
        for sentence, speaker in zip(dialog.sentences, speakers(dialog), strict=True):
            if speaker == "row" and (row := row_of(sentence)) is not None:
                rows.append(row)
    return rows


def _kinds_of_rows(rows: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The kind each word has most often in the rows."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for subject, relation, value in dict.fromkeys(rows):
        counts[subject][NAME_KIND] += 1
        counts[value][kind_of_relation(relation)] += 1
    return {word: min(count, key=lambda kind: (-count[kind], kind)) for word, count in counts.items()}


def _induced_kinds(dialogs: Sequence[Story], kinds: Mapping[str, str]) -> dict[str, str]:
    """Kinds of words that replace a kind in otherwise equal responses and that the user said before."""
    responses = {question.answer.lower() for dialog in dialogs for question in dialog.questions}
    kind_at: dict[tuple[_Frame, int], str] = {}
    frames = {response: tuple(kinds.get(word, word) for word in response.split()) for response in responses}
    for frame in frames.values():
        for position, word in enumerate(frame):
            if word.startswith("<"):
                kind_at[_without(frame, position), position] = word
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for dialog in dialogs:
        said: set[str] = set()
        for question in dialog.questions:
            said.update(question.text.lower().split())
            response = question.answer.lower()
            for position, word in enumerate(frames[response]):
                kind = kind_at.get((_without(frames[response], position), position))
                if kind is not None and kind != word:
                    votes[word][kind if word in said else ""] += 1
    return {word: kind for word, count in votes.items() if (kind := count.most_common(1)[0][0])}


def _without(frame: _Frame, position: int) -> _Frame:
    return (*frame[:position], "", *frame[position + 1 :])


def _fixed_words(dialogs: Sequence[Story], kinds: Mapping[str, str]) -> frozenset[tuple[str, int]]:
    words_at: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for dialog in dialogs:
        for question in dialog.questions:
            words = question.answer.lower().split()
            frame = " ".join(kinds.get(word, word) for word in words)
            for position, word in enumerate(words):
                if word in kinds:
                    words_at[frame, position][word] += 1
    return frozenset(at for at, words in words_at.items() if len(words) == 1 and words.total() >= _ENOUGH)
