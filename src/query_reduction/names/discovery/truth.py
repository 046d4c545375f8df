"""Truth only: kinds whose units are not equally frequent, or too rare to say, but equally true.

The other evidence asks that renamed stories be as likely; it rejects a chocolate for a chest, since no chocolate ever
holds anything. Here only the answer matters. Suppose all units of a class are interchangeable: then questions whose
units are linked by the same facts, whatever the names, have the same answer. A chain of facts that had one answer in
all other stories predicts it; if nearly every answer is predicted and hardly any contradicted, the units are of one
kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, permutations, product

from query_reduction.names.discovery.corpus import Asked, Corpus, Encoded, Told
from query_reduction.names.discovery.couplings import Coupling
from query_reduction.names.discovery.kinds import Trial

__all__ = ["join_by_truth"]

_FORETOLD = 0.95
_FORETOLD_OF_EACH = 0.9
_CONTRADICTED = 0.005
_QUESTIONS = 40
"""The number of questions every unit must occur in."""
_COMMONPLACE = 0.8
"""If this share of questions has the same answer, predicting it proves nothing."""
_STORIES = 3
"""Other stories in which a chain of facts must have had the same answer, and no other."""
_PRECEDES = 10
"""How often a word must stand before a unit to belong to it."""
_CHAIN = 3
_CHAINS = 32
_ELEMENTS = 64
_NO_KIND = -1

_Name = tuple[int, int]
_Key = tuple[tuple[_Name, ...], ...]


def join_by_truth(trial: Trial, kinds: Sequence[Sequence[int]], couplings: Sequence[Coupling]) -> list[list[int]]:
    """The kinds, with those of a class merged where the answers support it."""
    if trial.budget.spent():
        return [list(kind) for kind in kinds]
    coupled = {unit for coupling in couplings for pair in coupling for unit in pair}
    presence = trial.presence
    joined = [list(kind) for kind in kinds]
    for family in sorted({int(trial.candidates.classes[unit]) for unit in trial.candidates.in_class}):
        units = [unit for unit in sorted(trial.candidates.in_class) if trial.candidates.classes[unit] == family]
        asked_of = [unit for unit in units if presence.told[unit].any() and presence.asked[unit].any()]
        already = any(set(asked_of) <= set(kind) for kind in joined)
        if len(asked_of) < 3 or already or coupled & set(asked_of):
            continue
        apart = [kind for kind in joined if not set(kind) & set(asked_of)]
        if not _preceded_alike(trial, asked_of):
            continue
        if _predicted(trial.corpus, frozenset(asked_of), _Names([*apart, asked_of], couplings)):
            joined = [*apart, asked_of]
    return joined


def _preceded_alike(trial: Trial, units: Sequence[int]) -> bool:
    """Whether no word stands often before one of these units and never before another, as articles of a gender do.

    Answers would stay true, but "dem Küche" is none of the language, and no network should learn it.
    """
    before: dict[int, Counter[int]] = {unit: Counter() for unit in units}
    for story in trial.corpus.stories:
        for text in (*story.sentences, *(question.text for question in story.questions)):
            for left, unit in pairwise(text):
                if unit in before and left not in trial.candidates.in_class:
                    before[unit][left] += 1
    often = {word for words in before.values() for word, count in words.items() if count >= _PRECEDES}
    return all(words.keys() >= often for words in before.values())


def _predicted(corpus: Corpus, units: frozenset[int], names: _Names) -> bool:
    """Whether other stories predict the answers to questions about these units."""
    seen: dict[_Key, dict[_Key, set[int]]] = defaultdict(lambda: defaultdict(set))
    asked: list[tuple[int, frozenset[int], list[tuple[_Key, _Key]]]] = []
    for number, story in enumerate(corpus.stories):
        for question in story.questions:
            chains = islice(_chains(story, question, units), _CHAINS)
            known = [names.canonical(question, chain) for chain in chains]
            for key, answer in known:
                seen[key][answer].add(number)
            asked.append((number, units.intersection(question.text), known))
    total: Counter[int] = Counter()
    right: Counter[int] = Counter()
    wrong: Counter[int] = Counter()
    for number, about, known in asked:
        total.update(about)
        # The chain most frequent elsewhere decides: an irrelevant one may have had a single answer by chance.
        support, agrees = 0, False
        for key, answer in known:
            elsewhere = {given: len(stories - {number}) for given, stories in seen[key].items()}
            predicted = [given for given, count in elsewhere.items() if count]
            if len(predicted) == 1 and elsewhere[predicted[0]] > support:
                support, agrees = elsewhere[predicted[0]], predicted[0] == answer
        if support >= _STORIES:
            (right if agrees else wrong).update(about)
    return (
        all(total[unit] >= _QUESTIONS and right[unit] >= _FORETOLD_OF_EACH * total[unit] for unit in units)
        and right.total() >= _FORETOLD * total.total()
        and wrong.total() <= _CONTRADICTED * total.total()
        and _telling(corpus, units)
    )


def _telling(corpus: Corpus, units: frozenset[int]) -> bool:
    """Whether questions about these units have different answers."""
    answers = Counter(
        question.answer for story in corpus.stories for question in story.questions if units.intersection(question.text)
    )
    return max(answers.values(), default=0) <= _COMMONPLACE * answers.total()


def _chains(story: Told, question: Asked, units: frozenset[int]) -> Iterator[tuple[Encoded, ...]]:
    """Chains of up to three facts from the first unit a question is about to the second."""
    about = [unit for unit in question.text if unit in units]
    if len(about) != 2:
        return
    facts: dict[int, list[tuple[int, Encoded]]] = defaultdict(list)
    for sentence in dict.fromkeys(story.sentences[: question.after]):
        for one, other in permutations(units.intersection(sentence), 2):
            facts[one].append((other, sentence))
    waiting: list[tuple[tuple[int, ...], tuple[Encoded, ...]]] = [((about[0],), ())]
    for units_met, chain in waiting:  # grows during iteration: short chains come first
        for unit, fact in facts[units_met[-1]]:
            if unit == about[1]:
                yield (*chain, fact)
            elif unit not in units_met and len(chain) + 1 < _CHAIN:
                waiting.append(((*units_met, unit), (*chain, fact)))


class _Names:
    """Names that reveal only the kind of a unit, and which units of a text are the same."""

    def __init__(self, kinds: Sequence[Sequence[int]], couplings: Sequence[Coupling]) -> None:
        self._kind = {unit: number for number, kind in enumerate(kinds) for unit in kind}
        self._exchanges = list(islice(_products(couplings), _ELEMENTS))

    def canonical(self, asked: Asked, chain: Sequence[Encoded]) -> tuple[_Key, _Key]:
        """Question and chain, and the answer: the same for any two of which one is a renaming of the other."""
        return min(self._named((asked.text, *chain), asked.answer, exchange) for exchange in self._exchanges)

    def _named(self, texts: Sequence[Encoded], answer: Encoded, exchange: dict[int, int]) -> tuple[_Key, _Key]:
        given: dict[int, _Name] = {}
        met: Counter[int] = Counter()
        for text in (*texts, answer):
            for unit in text:
                if unit not in given:
                    other = exchange.get(unit, unit)
                    kind = self._kind.get(other, _NO_KIND)
                    given[unit] = (kind, other if kind == _NO_KIND else met[kind])
                    met[kind] += 1
        named = [tuple([given[unit] for unit in text]) for text in (*texts, answer)]
        return tuple(named[:-1]), tuple(named[-1:])


def _products(couplings: Sequence[Coupling]) -> Iterator[dict[int, int]]:
    """Products of couplings, each taken or left: not all there are, but all of them true."""
    for taken in product((False, True), repeat=len(couplings)):
        mapped: dict[int, int] = {}
        for coupling, chosen in zip(couplings, taken, strict=True):
            if chosen:
                exchange = {unit: other for pair in coupling for unit, other in (pair, pair[::-1])}
                mapped = {
                    unit: exchange.get(mapped.get(unit, unit), mapped.get(unit, unit)) for unit in {*mapped, *exchange}
                }
        yield mapped
