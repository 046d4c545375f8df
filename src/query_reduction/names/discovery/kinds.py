"""Kinds: units that may be permuted freely, because no exchange of two of them is refuted.

That nothing refutes an exchange means little if the evidence is thin. So both units must be frequent, and a control
must fail: the same two exchanged in questions and answers only, which makes answers false, has to be refuted clearly.

Few stories seldom show that of two units. But if no two of a larger group are refuted, a control of all together will
do: each becomes the next in questions and answers, and units of a class are counted as one, so that what is true of all
shows in every story.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import NDArray

from query_reduction.names.discovery.budget import Budget
from query_reduction.names.discovery.candidates import Candidates
from query_reduction.names.discovery.corpus import Corpus
from query_reduction.names.discovery.evidence import Evidence
from query_reduction.names.discovery.features import Extractor

__all__ = ["Presence", "Trial", "find_kinds", "presence_of"]

_STORIES = 25
_STORIES_ONE_SIDED = 40
_STORIES_BARELY = 60
"""If a unit occurs only in sentences, or only in questions, no control is possible: it must be more frequent. From the
first number to the second it is barely frequent enough."""
_STORIES_OTHER_FORMS = 90
"""If the same names may have other forms in questions, it must be even more frequent, and exchanging two of those forms
as well must be refuted clearly."""
_CONTROL = 4.0
_POOLED_CONTROL = 6.0
"""Deviation at which a control is refuted clearly: that of two units, and that of a whole group."""
_CLEARLY = 4.0
"""Deviation at which a larger number of stories, or units counted as one, refute what the first do not."""
_DOUBTFUL = 3.4
"""Deviation that is too large if nothing but the number of its stories speaks for an exchange, and that is small."""
_FEW_STORIES = 300
"""With fewer stories than this, kinds are confirmed with the units of all others counted as one."""
_PAIRINGS = 7
_FOR_PAIRS = 0.6
_FOR_CONTROLS = 0.9
"""The parts of the time after which no more pairs are tried, and no more groups controlled."""
_LINKED = 0.66
"""The fraction of pairs between two groups that must be accepted for the groups to be merged."""


@dataclass(frozen=True)
class Presence:
    """In which stories each unit occurs: unit by story."""

    told: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    answered: NDArray[np.bool_]

    @cached_property
    def stories(self) -> NDArray[np.int64]:
        """The number of stories each unit occurs in."""
        present: NDArray[np.int64] = np.count_nonzero(self.told | self.asked | self.answered, axis=1)
        return present


def presence_of(corpus: Corpus) -> Presence:
    """Find where every unit occurs."""
    shape = (len(corpus.names), len(corpus.stories))
    told, asked, answered = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
    for number, story in enumerate(corpus.stories):
        for sentence in story.sentences:
            told[list(sentence), number] = True
        for question in story.questions:
            asked[list(question.text), number] = True
            answered[list(question.answer), number] = True
    return Presence(told, asked, answered)


class Trial:
    """Tries exchanges of units against the evidence."""

    def __init__(
        self,
        corpus: Corpus,
        candidates: Candidates,
        seed: int,
        larger: Callable[[], Trial] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """``larger`` gives a trial on these stories and more, in which units have the same numbers."""
        self.budget = budget or Budget(inf)
        self._larger = cache(larger) if larger else None
        self.corpus = corpus
        self.candidates = candidates
        self.presence = presence_of(corpus)
        self.frequent = self.presence.stories >= _STORIES
        self._seed = seed
        self._extractor = Extractor(corpus, candidates)
        self.evidence = Evidence(self._extractor.table(corpus), seed)

    def pooled_evidence(self, kinds: Sequence[Sequence[int]]) -> Evidence:
        """The evidence if all units of a kind are counted as its first: what is true of one is true of all."""
        counted_as = list(range(len(self.corpus.names)))
        for kind in kinds:
            for unit in kind:
                counted_as[unit] = kind[0]
        return Evidence(Extractor(self.corpus, self.candidates, counted_as).table(self.corpus), self._seed)

    def exchange(self, *pairs: tuple[int, int]) -> NDArray[np.int64]:
        """The renaming that exchanges each of these pairs."""
        renaming = np.arange(len(self.corpus.names))
        for one, other in pairs:
            renaming[[one, other]] = other, one
        return renaming

    def refuted(self, *pairs: tuple[int, int]) -> bool:
        """Whether the evidence is against exchanging these pairs, all at once.

        Of the many exchanges that are tried, some are refuted by chance; with more stories such evidence fades, and
        that against a false one grows. So they have the last word, if there are any: against what the first stories
        refute as usual, against what those say nothing of only if they refute it clearly. Otherwise units that are
        equally true but not quite equally frequent would be kept apart.
        """
        refuted = self.evidence.of_exchange(self.exchange(*pairs)).refuted
        if self._larger is None:
            return refuted
        larger = self._larger().evidence.of_exchange(self.exchange(*pairs))
        return larger.refuted and (refuted or larger.largest >= _CLEARLY)

    def testable(self, one: int, other: int) -> bool:
        """Whether there is enough to tell if these two may be exchanged alone."""
        presence, pair = self.presence, [one, other]
        if not self.frequent[pair].all() or not (presence.told | presence.asked)[pair].any():
            return False  # a unit that is only ever an answer gets its meaning from elsewhere
        sides = self._sides[pair]
        if sides.all():
            return True
        opposite = self._only_on(0 if not sides[:, 0].any() else 1)
        if not self._may_be_forms_of(one, opposite):
            return bool((presence.stories[pair] >= _STORIES_ONE_SIDED).all())
        return bool((presence.stories[pair] >= _STORIES_OTHER_FORMS).all()) and all(
            self.evidence.of_exchange(self.exchange((one, other), forms)).clearly_refuted
            for forms in self.candidates.pairs
            if opposite.issuperset(forms) and self.frequent[list(forms)].all()
        )

    def barely_testable(self, one: int, other: int) -> bool:
        """Whether there is no control, and little else."""
        pair = [one, other]
        return not self._sides[pair].all() and bool((self.presence.stories[pair] < _STORIES_BARELY).any())

    @cached_property
    def _sides(self) -> NDArray[np.bool_]:
        """Unit by side: whether it occurs in sentences, and whether in questions or answers."""
        presence = self.presence
        return np.stack([presence.told.any(axis=1), (presence.asked | presence.answered).any(axis=1)], axis=1)

    def _only_on(self, side: int) -> set[int]:
        """The units of classes that occur on this side alone."""
        return {
            unit for unit in self.candidates.in_class if self._sides[unit, side] and not self._sides[unit, 1 - side]
        }

    def _may_be_forms_of(self, unit: int, others: Collection[int]) -> bool:
        """Whether there are as many of these, in one class, as units like this one: the same names in other forms.

        Units like it that are on both sides have no other form there ("сад"), so only those count that are not.
        """
        classes = self.candidates.classes
        alike = sum(
            int(classes[each] == classes[unit] and not self._sides[each].all()) for each in self.candidates.in_class
        )
        return max(Counter(int(classes[other]) for other in others).values(), default=0) >= alike

    def control_fails(self, one: int, other: int) -> bool:
        """Whether the evidence would have noticed, had these two been exchanged in questions and answers only."""
        return self._change((one, other), self._extractor) >= _CONTROL

    def pooled_control_fails(self, group: Sequence[int]) -> bool:
        """Whether it would have noticed, had each become the next, whichever units these are."""
        pooled = Extractor(self.corpus, self.candidates, self.candidates.classes.tolist())
        return self._change(group, pooled) >= _POOLED_CONTROL

    def _change(self, group: Sequence[int], extractor: Extractor) -> float:
        """The largest deviation of a feature if each unit becomes the next in questions and answers only; 0 if that may
        be chance."""
        in_questions = (self.presence.asked | self.presence.answered)[list(group)].any(axis=0)
        if not in_questions.any() or not self.presence.told[list(group)].any():
            return inf  # nothing to control with
        stories = np.flatnonzero(in_questions).tolist()
        following = dict(zip(group, [*group[1:], group[0]], strict=True))
        verdict = self.evidence.of_change(
            extractor.table(self.corpus.with_questions_renamed(following), stories, questions_only=True),
            extractor.table(self.corpus, stories, questions_only=True),
        )
        return verdict.largest if verdict.refuted else 0.0


def find_kinds(trial: Trial) -> tuple[list[list[int]], set[tuple[int, int]]]:
    """Groups of units of which any two may be exchanged, and the pairs that were refuted."""
    accepted: set[tuple[int, int]] = set()
    refuted: set[tuple[int, int]] = set()
    pairs = [pair for pair in trial.candidates.pairs if trial.frequent[list(pair)].all()]
    present = trial.presence.stories
    pairs.sort(key=lambda pair: (-int(present[list(pair)].min()), pair))
    for number, pair in enumerate(pairs):
        if trial.budget.spent(_FOR_PAIRS):
            trial.budget.leave_out(f"{len(pairs) - number} of {len(pairs)} pairs of words (out of time)")
            break
        trial.budget.say(f"trying {len(pairs)} exchanges", 0.2 + 0.4 * number / len(pairs))
        if trial.refuted(pair):
            refuted.add(pair)
        elif trial.testable(*pair):
            accepted.add(pair)
    surely: list[list[int]] = []
    together: list[list[int]] = []
    for group in _grouped(trial, accepted):
        if trial.budget.spent(_FOR_CONTROLS):
            trial.budget.leave_out("controls of some groups of words, which are kept apart (out of time)")
            break
        trial.budget.say("controlling what was found", 0.65)
        ring = zip(group, [*group[1:], group[0]], strict=True) if len(group) > 2 else [tuple(group)]
        if all(trial.control_fails(one, other) for one, other in ring):
            surely.append(group)
        elif len(group) > 2 and trial.pooled_control_fails(group):
            together.append(group)
        else:
            surely += _grouped(trial, {pair for pair in combinations(group, 2) if _passes(trial, pair, accepted)})
    groups = [group for group in surely + together if not trial.budget.spent() and _stands_together(trial, group)]
    if len(trial.corpus.stories) < _FEW_STORIES:
        groups = _confirmed(trial, groups, accepted, refuted)
    return groups, refuted


def _confirmed(
    trial: Trial, groups: Sequence[list[int]], accepted: set[tuple[int, int]], refuted: set[tuple[int, int]]
) -> list[list[int]]:
    """What is left of each group if the units of all others are counted as one, which shows more in few stories.

    What that refutes is added to ``refuted``.
    """
    confirmed: list[list[int]] = []
    for group in groups:
        others = [other for other in groups if other is not group]
        pairs = accepted.intersection(combinations(group, 2))
        if others:
            evidence = trial.pooled_evidence(others)
            verdicts = {pair: evidence.of_exchange(trial.exchange(pair)) for pair in sorted(pairs)}
            false = {pair for pair, verdict in verdicts.items() if verdict.refuted and verdict.largest >= _CLEARLY}
            doubtful = {pair for pair, verdict in verdicts.items() if verdict.largest >= _DOUBTFUL}
            refuted |= false
            pairs -= false | {pair for pair in doubtful if trial.barely_testable(*pair)}
        confirmed += _grouped(trial, pairs)
    return confirmed


def _passes(trial: Trial, pair: tuple[int, int], accepted: set[tuple[int, int]]) -> bool:
    return pair in accepted and not trial.budget.spent(_FOR_CONTROLS) and trial.control_fails(*pair)


def _stands_together(trial: Trial, group: Sequence[int]) -> bool:
    """Whether nothing speaks against exchanging all units of a group, pair by pair, at once.

    Effects too weak to be seen in one pair add up.
    """
    tried, against = 0, 0
    for shift in range(1, min(len(group), _PAIRINGS + 1)):
        order = [group[number * shift % len(group)] for number in range(len(group))]
        if len(set(order)) == len(group) > 2:
            pairs = list(zip(order[::2], order[1::2], strict=False))
            tried += 1
            against += trial.refuted(*pairs)
    # Some are refuted by chance, and all of them share units; a false kind is refuted nearly every time.
    return 2 * against <= tried


def _grouped(trial: Trial, accepted: set[tuple[int, int]]) -> list[list[int]]:
    """Join groups as long as most pairs between two of them are accepted: one false pair joins nothing larger."""
    members: dict[int, list[int]] = defaultdict(list)
    for unit in sorted({unit for pair in accepted for unit in pair}):
        members[int(trial.candidates.classes[unit])].append(unit)
    kinds = []
    for units in members.values():
        groups = [[unit] for unit in units]
        while len(groups) > 1:
            links = [
                (sum((min(a, b), max(a, b)) in accepted for a in one for b in other) / (len(one) * len(other)), i, j)
                for (i, one), (j, other) in combinations(enumerate(groups), 2)
            ]
            link, i, j = max(links, key=lambda found: (found[0], -found[1], -found[2]))
            if link < _LINKED:
                break
            groups[i] = sorted(groups[i] + groups.pop(j))
        kinds += [group for group in groups if len(group) > 1]
    return kinds
