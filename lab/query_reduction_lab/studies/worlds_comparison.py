"""How alike two sets of stories are: their words, sentence templates, lengths, proofs and answers.

Distributions are compared by total variation: how much of one has to be moved to make it the other, 0 to 1. Two
samples of the same source differ too, by chance; ``compare`` reports how much, so that a reader can judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from query_reduction.text.stories import Story
from query_reduction.worlds.words import Words

__all__ = ["Comparison", "Profile", "compare", "profile", "template_of", "total_variation"]

_WORD = re.compile(r"\w+")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Profile:
    """The properties of a set of stories that are compared."""

    stories: int
    questions: int
    vocabulary: frozenset[str]
    mean_length: float
    length_quantiles: tuple[int, ...]
    """Sentences per story at the 5th, 25th, 50th, 75th and 95th percentile."""
    counts: Mapping[str, Counter[Hashable]]
    """The distributions, by name."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two profiles side by side."""

    published: Profile
    generated: Profile
    distance: Mapping[str, float]
    """Total variation between the two, for each distribution."""
    chance: Mapping[str, float]
    """The largest found between two samples of generated stories, each as large as the published one."""

    @property
    def missing_words(self) -> list[str]:
        """Published words that are not generated."""
        return sorted(self.published.vocabulary - self.generated.vocabulary)

    @property
    def added_words(self) -> list[str]:
        """Generated words that are not published."""
        return sorted(self.generated.vocabulary - self.published.vocabulary)

    @property
    def missing_templates(self) -> list[str]:
        """Published templates that are not generated."""
        return sorted(map(str, self.published.counts["templates"].keys() - self.generated.counts["templates"].keys()))

    @property
    def added_templates(self) -> list[str]:
        """Generated templates that are not published."""
        return sorted(map(str, self.generated.counts["templates"].keys() - self.published.counts["templates"].keys()))


def compare(
    published: Sequence[Story], generate: Callable[[int, int], Sequence[Story]], words: Words, *, samples: int = 4
) -> Comparison:
    """Compare stories with generated ones; ``generate`` makes a given number of questions with a seed."""
    expected = profile(published, words)
    found = [profile(generate(expected.questions, seed), words) for seed in range(samples)]
    return Comparison(
        expected,
        found[0],
        {name: total_variation(expected.counts[name], found[0].counts[name]) for name in expected.counts},
        {
            name: max(total_variation(one.counts[name], other.counts[name]) for one, other in combinations(found, 2))
            for name in expected.counts
        },
    )


def profile(stories: Sequence[Story], words: Words) -> Profile:
    """The profile of these stories."""
    lengths = sorted(len(story.sentences) for story in stories)
    questions = [question for story in stories for question in story.questions]
    texts = [
        *(sentence for story in stories for sentence in story.sentences),
        *(question.text for question in questions),
    ]
    distinct = Counter(texts)
    templates: Counter[Hashable] = Counter()
    for text, count in distinct.items():
        templates[template_of(text, words)] += count
    return Profile(
        len(stories),
        len(questions),
        frozenset(
            word for text in [*distinct, *{question.answer for question in questions}] for word in _WORD.findall(text)
        ),
        sum(lengths) / len(lengths),
        tuple(lengths[int(len(lengths) * quantile)] for quantile in QUANTILES),
        {
            "templates": templates,
            "story lengths": Counter(lengths),
            "questions a story": Counter(len(story.questions) for story in stories),
            "supporting facts": Counter(len(question.support) for question in questions),
            "places of the facts": Counter(question.after - min(question.support, default=0) for question in questions),
            "answers": Counter(question.answer for question in questions),
        },
    )


def total_variation(one: Counter[Hashable], other: Counter[Hashable]) -> float:
    """How much of one distribution must be moved to make it the other."""
    one_total, other_total = one.total(), other.total()
    return sum(abs(one[value] / one_total - other[value] / other_total) for value in one.keys() | other.keys()) / 2


def template_of(text: str, words: Words) -> str:
    """The text with people, places, things, animals, colours and shapes replaced by their kind."""
    kinds, pattern = _entities(words)
    return pattern.sub(lambda match: f"<{kinds[match[0].lower()]}>", text)


@cache
def _entities(words: Words) -> tuple[dict[str, str], re.Pattern[str]]:
    kinds: dict[str, str] = {}

    def add(kind: str, names: Iterable[str]) -> None:
        for name in names:
            kinds.setdefault(name.lower(), kind)

    for lexicon in (words.people, words.places, words.things, words.containers, words.shapes, words.colours):
        for group in (*lexicon.groups.values(), lexicon.more):
            add(lexicon.kind, group)
    for group in (*words.animals.groups.values(), words.animals.more):
        add("animals", group)
        add("several animals", (words.plural(name) for name in group))
    add("things", (motive.thing for motive in words.motives))
    longest_first = sorted(kinds, key=len, reverse=True)
    return kinds, re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
