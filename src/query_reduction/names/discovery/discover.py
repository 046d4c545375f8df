"""Discovery: from training stories alone to the renamings that keep their answers true."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from query_reduction.names.contexts import find_contexts
from query_reduction.names.discovery.budget import Budget, sampled
from query_reduction.names.discovery.candidates import Candidates, find_candidates
from query_reduction.names.discovery.columns import find_columns
from query_reduction.names.discovery.corpus import Corpus, read_corpus
from query_reduction.names.discovery.couplings import find_couplings
from query_reduction.names.discovery.features import Extractor
from query_reduction.names.discovery.kinds import Trial, find_kinds
from query_reduction.names.discovery.paradigms import find_units
from query_reduction.names.discovery.truth import join_by_truth
from query_reduction.names.forms import find_forms
from query_reduction.names.groups import blocks
from query_reduction.names.renaming import Sentences
from query_reduction.names.symmetries import Coupled, Symmetries, Table
from query_reduction.names.units import Units, find_phrases, plain
from query_reduction.text.stories import Story

__all__ = ["SECONDS", "discover"]

_ENOUGH = 1000
"""This many questions are enough; if there are more stories, only the first are used. With many more, units that are
equally true but not quite equally frequent would be kept apart."""
_LARGER = 2000
"""This many, if there are, decide about exchanges that the first refute, and may refute others clearly."""
SECONDS = 300.0
"""The time that discovery may take, if nothing else is said."""
_FREE_TEXT = 3000
_SECONDS_FREE_TEXT = 40.0
"""From this many different texts in the sample on, people have written them: hardly a context comes up twice, little
can be found, and this much time is enough for it."""
_ASKED = 50
"""Questions about a kind after which one knows whether it must have been told of."""
_TRIED = 20
_FOR_TRIAL = 0.1
_FOR_COUNTING = 0.3
"""The parts of the time after which the trial of a few stories, and the count of all of them, should be done."""
_FEATURES = 30_000_000
"""Features of all stories together: twice as many as any published task has, within a gigabyte."""


def discover(
    stories: Sequence[Story],
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[str, float], None] | None = None,
) -> Symmetries:
    """Which units of these stories are interchangeable; the same seed finds the same, if there is time enough.

    ``progress`` is told what is being done, and which part of all has been done.
    """
    more_stories = sampled(stories, _LARGER)
    told = len(stories)
    stories = sampled(more_stories, _ENOUGH)
    if not stories:
        return Symmetries()
    texts = {text for story in stories for text in (*story.sentences, *(asked.text for asked in story.questions))}
    budget = Budget(seconds if len(texts) <= _FREE_TEXT else min(seconds, _SECONDS_FREE_TEXT), progress)
    budget.say("reading the stories", 0.0)
    units = find_units(stories) if len(texts) <= _FREE_TEXT else Units(find_phrases(stories))
    corpus = read_corpus(stories, units)
    candidates = find_candidates(corpus)
    columns = find_columns(corpus, candidates)
    if columns:
        units = replace(units, columns=columns)
        corpus = read_corpus(stories, units)
        candidates = find_candidates(corpus)
    if candidates.left_out:
        budget.leave_out(f"{candidates.left_out} rarer words that stand where others do")
    if not candidates.pairs:
        budget.leave_out(f"{max(told - len(more_stories), 0)} of {told} stories")
        return Symmetries(left_out=tuple(budget.left_out) if told > len(more_stories) else ())
    budget.say("counting co-occurrences", 0.1)
    counted = _affordable(corpus, candidates, budget)
    if counted < len(stories):
        stories = more_stories = stories[:counted]
        corpus = Corpus(corpus.names, corpus.stories[:counted])
    if len(more_stories) < told:
        budget.leave_out(f"{told - len(more_stories)} of {told} stories")

    def larger() -> Trial:
        more = read_corpus(more_stories, units)
        return Trial(more, find_candidates(more), seed, budget=budget)

    trial = Trial(corpus, candidates, seed, larger if len(more_stories) > len(stories) else None, budget)
    kinds, refuted = find_kinds(trial)
    couplings = find_couplings(trial, kinds, refuted)
    kinds = join_by_truth(trial, kinds, couplings)
    names = corpus.names
    coupled = [tuple([(names[one], names[other]) for one, other in coupling]) for coupling in couplings]
    tables, left = _tables(coupled, {names[unit]: int(candidates.classes[unit]) for unit in candidates.in_class})
    moved_together = {unit for coupling in couplings for pair in coupling for unit in pair}
    found = Symmetries(
        kinds=tuple(tuple(names[unit] for unit in kind) for kind in kinds),
        tables=tuple(tables),
        couplings=tuple(left),
        units=units,
        lending=tuple(tuple(names[unit] for unit in kind) for kind in _lending(trial, kinds, moved_together)),
    )
    sentences = Sentences(units, stories)
    moved = sorted({plain(unit) for unit in found.all_units})
    written = {unit: sentences.written(unit) for unit in moved if sentences.written(unit) != unit}
    return replace(
        found,
        contexts=find_contexts(stories, units, found.fillers),
        written=written,
        forms=find_forms(more_stories, units, found.columns),
        left_out=tuple(budget.left_out),
        told_of=_told_of(corpus, found.fillers),
    )


def _affordable(corpus: Corpus, candidates: Candidates, budget: Budget) -> int:
    """How many stories can be counted in the time for that, judged by a few of them."""
    few = range(0, len(corpus.stories), max(1, len(corpus.stories) // _TRIED))
    extractor = Extractor(corpus, candidates)
    features: list[int] = []
    begun = budget.remaining()
    for story in few:
        features.append(len(extractor.table(corpus, [story]).keys))
        if budget.spent(_FOR_TRIAL):
            break
    each = (begun - budget.remaining()) / len(features)
    affordable = min(
        budget.remaining(_FOR_COUNTING) / max(each, 1e-6), _FEATURES * len(features) / max(sum(features), 1)
    )
    return len(corpus.stories) if affordable >= len(corpus.stories) else max(int(affordable), 1)


def _told_of(corpus: Corpus, fillers: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """The kinds about whose units questions are only asked if a sentence has told of them."""
    kind = {unit: number for number, units in enumerate(fillers) for unit in units}
    asked: Counter[int] = Counter()
    told: Counter[int] = Counter()
    for story in corpus.stories:
        for question in story.questions:
            mentioned = {unit for sentence in story.sentences[: question.after] for unit in sentence}
            for unit in set(question.text):
                number = kind.get(corpus.names[unit])
                if number is not None:
                    asked[number] += 1
                    told[number] += unit in mentioned
    return tuple(sorted(number for number, count in asked.items() if count >= _ASKED and told[number] == count))


def _lending(trial: Trial, kinds: Sequence[Sequence[int]], coupled: Collection[int]) -> list[list[int]]:
    """Each kind, with whatever else stands in the same places, if no other kind does.

    Milk may not be as frequent as apples, and yet what a network has learned about milk serves for any other thing. But
    lions and colours, or taking and dropping, stand in the same places and are not alike.
    """
    classes = trial.candidates.classes
    kinds_in = Counter(int(classes[kind[0]]) for kind in kinds)
    in_kinds = {unit for kind in kinds for unit in kind}.union(coupled)
    others = [unit for unit in sorted(trial.candidates.in_class) if trial.frequent[unit] and unit not in in_kinds]
    return [
        [*kind, *(unit for unit in others if classes[unit] == classes[kind[0]] and kinds_in[int(classes[unit])] == 1)]
        for kind in kinds
    ]


def _tables(couplings: Sequence[Coupled], family: dict[str, int]) -> tuple[list[Table], list[Coupled]]:
    """Couplings that exchange rows of one table (mouse, mice; wolf, wolves) as that table, and the others."""
    tables, left = [], []
    for block in blocks(couplings):
        table = _table(block, family)
        if table is None:
            left += block
        else:
            tables.append(table)
    return tables, left


def _table(block: Sequence[Coupled], family: dict[str, int]) -> Table | None:
    """The rows these couplings exchange, or None if they do something else."""
    if len(block) == 1:
        return None  # one exchange does not show which unit of a pair belongs to which of the next
    moved_by: dict[str, set[int]] = defaultdict(set)
    for number, coupling in enumerate(block):
        for unit in (unit for pair in coupling for unit in pair):
            moved_by[unit].add(number)
    rows: dict[frozenset[int], list[str]] = defaultdict(list)
    for unit in sorted(moved_by, key=lambda unit: (family[unit], unit)):
        rows[frozenset(moved_by[unit])].append(unit)
    table = tuple(tuple(row) for row in rows.values())
    families = {tuple(family[unit] for unit in row) for row in table}
    if len(families) != 1 or len(set(next(iter(families)))) != len(table[0]):
        return None
    exchanged = [{frozenset(pair) for pair in coupling} for coupling in block]
    if all(any(_exchange(one, other) == pairs for one in table for other in table) for pairs in exchanged):
        return table
    return None


def _exchange(one: Sequence[str], other: Sequence[str]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in zip(one, other, strict=True)}
