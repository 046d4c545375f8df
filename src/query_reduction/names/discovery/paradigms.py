"""Paradigms: which words are forms of one name, and which words merely agree with another.

Two sources, neither of which knows a language. *Letters*: if the words of one slot ("в _") and those of another
(answers) can be paired by their letters, and no two of a pair ever stand in the same slot, they are forms of the same
names. *Agreement*: words that no context leaves a choice between ("den", "die", "das"), because a neighbour decides,
are forms of one word.

Treating forms as one is safe only if nothing is lost: different texts must stay different. What may then be exchanged
is for the evidence to decide, as for any other unit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from query_reduction.names.discovery.candidates import Candidates, find_candidates
from query_reduction.names.discovery.corpus import Corpus, Encoded, read_corpus
from query_reduction.names.forms import likeness
from query_reduction.names.units import TextKind, Units, find_phrases
from query_reduction.text.stories import Story

__all__ = ["find_units"]

_ROUNDS = 4
"""Forms found let others be found: where verbs agree, people of both genders only then stand in the same contexts."""
_ALIKE = 0.5
_ALIKE_ON_AVERAGE = 0.6
"""The likeness of the letters of two forms, and of all pairs of forms of two slots."""
_TEXTS = 5
"""The number of texts a form must be in."""
_PAIRED = 0.8
"""The fraction of the words of a slot that must be in the other slot, or have a partner there."""
_DECIDED = 10
"""How often a neighbour must have decided as before, over all its texts: by chance, once in 2^10 times."""
_FRAMES = 3
_FILLERS = 20
"""A gap of two words that more words fill says nothing about agreement."""
_WORTHWHILE = 0.9
"""Forms are joined if that leaves at most this fraction of units and patterns."""
_SLOTS = 200
"""The number of slots whose words are compared, the fullest first."""
_NO_UNIT = -1

_Slot = tuple[TextKind, int, int, int]
_Texts = Sequence[tuple[TextKind, Encoded]]


def find_units(stories: Sequence[Story]) -> Units:
    """How these stories are cut into units: names of several words, and forms that are one name.

    Whether phrases or forms are looked for first matters ("das Buch" is a phrase if "der", "die" and "das" are not
    known to be one word); of both ways, and of leaving all forms apart, the one is taken that needs the fewest
    patterns.
    """
    plain = Units(find_phrases(stories))
    if not find_candidates(read_corpus(stories, plain)).pairs:
        return plain
    ways = [plain, Units(plain.phrases, names=_find_names(stories, plain.phrases, {})), _forms_first(stories)]
    costs = [_patterns(stories, units) for units in ways]
    # Of equals the one with the fewest phrases: a phrase cannot take part in a pattern by its words.
    best = min(range(len(ways)), key=lambda way: (costs[way], len(ways[way].phrases)))
    return ways[best] if costs[best] <= _WORTHWHILE * costs[0] else ways[0]


def _patterns(stories: Sequence[Story], units: Units) -> int:
    """The number of units, and of texts that differ by more than the units of a class."""
    corpus = read_corpus(stories, units)
    classes = find_candidates(corpus).classes
    return len(corpus.names) + len({(kind, *classes[list(text)].tolist()) for kind, text in _texts(corpus)})


def _forms_first(stories: Sequence[Story]) -> Units:
    names = _find_names(stories, frozenset(), {})
    phrases = find_phrases(stories, names)
    rank = _rank(stories, Units(phrases))
    of_words: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for phrase in phrases:
        of_words[tuple([names.get(word, word) for word in phrase])].add(" ".join(phrase))
    names = {form: name for form, name in names.items() if form in rank}
    for forms in of_words.values():
        if len(forms) > 1:
            names.update(dict.fromkeys(forms, max(sorted(forms), key=lambda form: rank[form])))
    # A form may be left only inside phrases: what stands for the others must be one of them.
    groups: dict[str, list[str]] = defaultdict(list)
    for form, name in names.items():
        groups[name].append(form)
    names = {}
    for members in groups.values():
        if len(members) > 1:
            names.update(dict.fromkeys(members, max(sorted(members), key=lambda form: rank[form])))
    return Units(phrases, names=_find_names(stories, phrases, names))


def _find_names(stories: Sequence[Story], phrases: frozenset[tuple[str, ...]], names: dict[str, str]) -> dict[str, str]:
    """For every form of a name or word that has several: the form that stands for all."""
    rank = _rank(stories, Units(phrases))
    for _ in range(_ROUNDS):
        before = names
        for find in (_agreeing, _lettered):
            corpus = read_corpus(stories, Units(phrases, names=names))
            pairs = find(corpus, find_candidates(corpus), _texts(corpus))
            names = _joined(names, pairs, rank, stories, phrases)
        if names == before:
            break
    return names


def _rank(stories: Iterable[Story], units: Units) -> Counter[str]:
    """How well a form stands for all: best as an answer, then in a question, then by frequency."""
    weight: dict[TextKind, int] = {"answer": 1_000_000, "question": 1000, "sentence": 1}
    rank: Counter[str] = Counter()
    for story in stories:
        texts: list[tuple[TextKind, str]] = [("sentence", sentence) for sentence in story.sentences]
        for question in story.questions:
            texts += [("question", question.text), ("answer", question.answer)]
        for kind, text in texts:
            for form in units.of_text(text, kind):
                rank[form] += weight[kind]
    return rank


def _texts(corpus: Corpus) -> list[tuple[TextKind, Encoded]]:
    seen: set[tuple[TextKind, Encoded]] = set()
    for story in corpus.stories:
        seen.update(("sentence", sentence) for sentence in story.sentences)
        for question in story.questions:
            seen.add(("question", question.text))
            seen.update(("answer", (unit,)) for unit in question.answer)
    return sorted(seen)


def _joined(
    names: dict[str, str],
    pairs: Iterable[tuple[str, str]],
    rank: Mapping[str, int],
    stories: Sequence[Story],
    phrases: frozenset[tuple[str, ...]],
) -> dict[str, str]:
    """The names with these forms joined, one pair after the other, as long as different texts stay different."""
    texts = _Distinct(stories, phrases)
    for one, other in pairs:
        group = {names.get(one, one), names.get(other, other)}
        if len(group) == 1:
            continue
        members = {form for form, name in names.items() if name in group} | group
        best = max(sorted(members), key=lambda form: rank[form])
        trial = {**names, **dict.fromkeys(members, best)}
        if texts.stay_different(trial, members):
            names = trial
    return names


class _Distinct:
    """All texts of the stories in their forms, to see whether they stay different."""

    def __init__(self, stories: Iterable[Story], phrases: frozenset[tuple[str, ...]]) -> None:
        units = Units(phrases)
        texts: set[tuple[TextKind, str]] = set()
        for story in stories:
            texts.update(("sentence", sentence) for sentence in story.sentences)
            for question in story.questions:
                texts.update([("question", question.text), ("answer", question.answer)])
        self._with: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for kind, text in texts:
            forms = (kind, *units.of_text(text, kind))
            for form in forms:
                self._with[form].add(forms)

    def stay_different(self, names: Mapping[str, str], members: Iterable[str]) -> bool:
        told: dict[tuple[str, ...], tuple[str, ...]] = {}
        for forms in {forms for member in members for forms in self._with[member]}:
            named = tuple([names.get(form, form) for form in forms])
            if told.setdefault(named, forms) != forms:
                return False
        return True


def _agreeing(corpus: Corpus, candidates: Candidates, texts: _Texts) -> Iterator[tuple[str, str]]:
    """Words between which a neighbour always decides, the most certain first.

    Only words that no context leaves a choice between: of those that are in a class only letters tell which are one.
    """
    frames: dict[tuple[TextKind, int, int], set[int]] = defaultdict(set)
    for kind, text in texts:
        for place in range(len(text)):
            if text[place] in candidates.in_class:
                continue
            for side in (-1, 1):
                other = place + side
                if 0 <= other < len(text):
                    low = min(place, other)
                    frames[kind, side, hash((text[:low], text[low + 2 :]))].add(text[place])
    together: Counter[tuple[int, int, int]] = Counter()
    for (_, side, _), words in frames.items():
        for one, other in combinations(sorted(words), 2) if len(words) <= _FILLERS else ():
            together[side, one, other] += 1
    decided: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    neighbours: dict[tuple[int, int], set[int]] = defaultdict(set)
    for text in _told(corpus):
        for place, unit in enumerate(text):
            for side in (-1, 1):
                if 0 <= place + side < len(text):
                    decided[side, text[place + side]][unit] += 1
                    neighbours[side, unit].add(text[place + side])
    found = []
    for (side, one, other), count in together.items():
        if count < _FRAMES or not neighbours[side, one].isdisjoint(neighbours[side, other]):
            continue
        near = neighbours[side, one] | neighbours[side, other]
        certain = sum(decided[side, unit][one] + decided[side, unit][other] - 1 for unit in near)
        # "Квадрат" and "ромб" beside their only colours are parts of names; "был" and "была" are not.
        fewest, most = sorted((len(neighbours[side, one]), len(neighbours[side, other])))
        like = likeness(corpus.names[one], corpus.names[other]) >= _ALIKE_ON_AVERAGE
        if certain >= _DECIDED and (fewest > 1 or most > 2 or like):
            found.append((-certain, corpus.names[one], corpus.names[other]))
    for _, first, second in sorted(found):
        yield first, second


def _told(corpus: Corpus) -> Iterator[Encoded]:
    for story in corpus.stories:
        yield from story.sentences
        yield from (question.text for question in story.questions)


def _lettered(corpus: Corpus, candidates: Candidates, texts: _Texts) -> Iterator[tuple[str, str]]:
    """Words of different slots that are pairs by their letters, the most alike first."""
    filled: dict[_Slot, set[int]] = defaultdict(set)
    apart = _Apart(corpus)
    for kind, text in texts:
        units = (_NO_UNIT, *text, _NO_UNIT)
        classes = [unit if unit == _NO_UNIT else int(candidates.classes[unit]) for unit in units]
        for place, unit in enumerate(text):
            # Next to some unit of a class, and next to this one: verbs agree with a person, not with people.
            filled[kind, 0, classes[place], classes[place + 2]].add(unit)
            filled[kind, 1, units[place], units[place + 2]].add(unit)
    slots_of: dict[int, set[_Slot]] = defaultdict(set)
    fillers: set[frozenset[int]] = set()
    for slot, words in filled.items():
        for unit in words if slot[1] == 0 else ():
            slots_of[unit].add(slot)
        kept = frozenset(
            unit
            for unit in words
            if (unit in candidates.in_class or unit in apart.answers)
            and apart.occurs[unit] >= _TEXTS
            and len(corpus.names[unit]) > 1
        )
        if len(kept) > 1:
            fillers.add(kept)
    sets = sorted(sorted(fillers, key=lambda units: (-len(units), sorted(units)))[:_SLOTS], key=sorted)
    found: set[tuple[str, str]] = set()
    for one, other in combinations(sets, 2):
        for a, b in _partners(corpus.names, one, other):
            if slots_of[a].isdisjoint(slots_of[b]) or apart.never_alike(a, b):
                found.add((min(corpus.names[a], corpus.names[b]), max(corpus.names[a], corpus.names[b])))
    yield from sorted(found, key=lambda pair: (-likeness(*pair), pair))


class _Apart:
    """What stands beside each word, and how often."""

    def __init__(self, corpus: Corpus) -> None:
        self.occurs: Counter[int] = Counter()
        self.answers = {unit for story in corpus.stories for question in story.questions for unit in question.answer}
        self._near: dict[tuple[int, int], Counter[tuple[TextKind, int]]] = defaultdict(Counter)
        for story in corpus.stories:
            texts: list[tuple[TextKind, Encoded]] = [("sentence", sentence) for sentence in story.sentences]
            for question in story.questions:
                texts.append(("question", question.text))
                texts += [("answer", (unit,)) for unit in question.answer]
            for kind, text in texts:
                units = (_NO_UNIT, *text, _NO_UNIT)
                self.occurs.update(text)
                for place, unit in enumerate(text):
                    self._near[unit, 0][kind, units[place]] += 1
                    self._near[unit, 1][kind, units[place + 2]] += 1

    def never_alike(self, one: int, other: int) -> bool:
        """Whether what stands before the two words, or after them, always decides which of them it is."""
        return any(
            near.keys().isdisjoint(others.keys())
            and near.total() + others.total() - len(near) - len(others) >= _DECIDED
            for near, others in ((self._near[one, side], self._near[other, side]) for side in (0, 1))
        )


def _partners(names: Sequence[str], one: frozenset[int], other: frozenset[int]) -> list[tuple[int, int]]:
    """The words that only one of two slots has, paired by their letters; none if too few can be paired."""
    left, right = sorted(one - other), sorted(other - one)
    if not left or not right:
        return []
    ranked = sorted((-likeness(names[a], names[b]), a, b) for a in left for b in right)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    total = 0.0
    for distance, a, b in ranked:
        last = len(pairs) + 1 == min(len(left), len(right))
        # The last two may be unlike each other if several others are not: "Tom" and "to" alone make no "in" of "Ben".
        if a in pairs or b in taken or (-distance < _ALIKE and not (last and len(pairs) > 1 and -distance > 0)):
            continue
        pairs[a] = b
        taken.add(b)
        total -= distance
    covered = len(pairs) + len(one & other)
    if not pairs or covered < 2 or covered < _PAIRED * min(len(one), len(other)):
        return []
    if total / len(pairs) < _ALIKE_ON_AVERAGE:
        return []
    return list(pairs.items())
