"""Unknown names: read as known names of their kind that the story does not use, and translated back afterwards.

"Zelda went to the attic. Where is Zelda?" is as good as "Mary went to the kitchen. Where is Mary?" if Mary and the
kitchen are not in the story: the network answers with the kitchen, and the kitchen is the attic.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from query_reduction.names.contexts import GAP, kind_numbers
from query_reduction.names.forms import likeness
from query_reduction.names.renaming import Sentences
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import TextKind, plain, words_of
from query_reduction.text.pronouns import POSSESSIVE, pronouns
from query_reduction.text.short_texts import remember_short
from query_reduction.text.words import POSSESSIVE_ENDINGS, WORD, compose

__all__ = ["KnownReading", "NameReader", "read_unknown"]

_SOME_KIND = re.compile(r"@\d+")
_OTHER = "@?"
"""Another unknown name in the same sentence: it may be of any kind."""
_MOST_VARIED = 3
"""Articles are tried in sentences with at most so many unknown names."""
_LONGEST_NAME = 12
"""Unknown words one after the other are looked at for names among them if they are no more than this."""
_SAME_NAME = 0.65
"""The likeness of letters from which two unknown names are forms of one, in a language that has forms."""
_TEXTS_KEPT = 20_000
"""The number of split texts that are cached: stories repeat sentences, and questions repeat stories."""


@dataclass(frozen=True)
class KnownReading:
    """A story and a question in known words only, as far as that was possible."""

    sentences: tuple[str, ...]
    question: str
    names: Mapping[str, str]
    """What each substituted known name stands for."""
    unplaced: tuple[str, ...]
    """Unknown words that fit no kind, or one whose names are all taken; they are left as they are."""
    crowded: tuple[str, ...] = field(default=())
    """Those of them that fit a kind whose names are all taken."""
    strange: int = 0
    """How many sentences have an unknown name in a place, or with an article, where no known one is."""

    def name_back(self, answer: str) -> str:
        """The answer with the names of the story."""
        parts = answer.split(",")
        return ",".join([self.names.get(part.strip().lower(), part) for part in parts])

    def in_known_names(self, answer: str) -> str:
        """The reverse: an answer in the story's names with the substituted ones."""
        known = {compose(name).lower(): unit for unit, name in self.names.items()}
        return ",".join([known.get(compose(part).strip().lower(), part) for part in answer.split(",")])


@dataclass(frozen=True, slots=True)
class _Run:
    """Unknown words one after the other: taken to be one name."""

    name: str
    start: int
    end: int
    kinds: frozenset[int] = frozenset()
    """The kinds that could occur there; none if no sentence of this form is known."""
    article: str = ""
    """A word that known names have before them there, and this one has not: "to pier 4", but "to the garden"."""
    covered: int = -1
    """Where the word begins that is left out before this name, as known names have none there ("the nurse", but
    "Mary"); otherwise where the name begins."""
    opens: bool = False
    """Whether the text begins with it."""

    @property
    def strange(self) -> bool:
        """Whether known names do not stand like this."""
        return not self.kinds or bool(self.article) or self.covered != self.start


@dataclass(frozen=True, slots=True)
class _Taken:
    """One way to take an unknown name: alone, with the unit before it, or with an article."""

    run: _Run
    with_unit_before: bool = False

    @property
    def changed(self) -> bool:
        return self.with_unit_before or bool(self.run.article)


@dataclass(frozen=True, slots=True)
class _Apart:
    """A text split into words."""

    text: str
    units: tuple[str, ...]
    runs: tuple[_Run, ...]

    @property
    def placed(self) -> bool:
        """Whether every unknown name is where a known one could be."""
        return all(run.kinds for run in self.runs)

    def ends_after(self, run: _Run, first: str) -> bool:
        """Whether a name may end after its first words: before "walked" in "Zoë walked", never in "Zoë's cat"."""
        words = list(WORD.finditer(self.text, run.start, run.end))
        last, following = words[first.count(" ")], words[first.count(" ") + 1]
        if self.text.startswith(POSSESSIVE_ENDINGS, last.end()):
            return False
        # A word without a capital letter after one with it: "Zoë then", but not "Zoë Washburne".
        return not run.kinds or (words[0][0][0].isupper() and following[0][0].islower())


class NameReader:
    """Reads unknown names using what was learned about known ones."""

    def __init__(self, symmetries: Symmetries, known_words: Collection[str]) -> None:
        self.symmetries = symmetries
        # "pallet 3" may be known as one name: that alone does not make "pallet" a known word.
        self._known = {part for word in known_words if " " not in word for part in WORD.findall(word.lower())}
        self._kind = kind_numbers(symmetries.fillers)
        self._contexts: dict[int, list[tuple[list[str], frozenset[int]]]] = defaultdict(list)
        for context, kinds in symmetries.contexts.items():
            words = context.split(" ")
            self._contexts[len(words)].append((words, frozenset(kinds)))
        before = {words[words.index(GAP) - 1] for same in self._contexts.values() for words, _ in same}
        self._articles = sorted(word for word in before if not word.startswith("@"))
        self._apart = remember_short(self._take_apart, _TEXTS_KEPT)
        self._units_of = remember_short(symmetries.units.of_text, _TEXTS_KEPT)
        self._sentences = Sentences(symmetries.units, written=symmetries.written, forms=symmetries.forms)

    def read(self, sentences: Sequence[str], question: str) -> KnownReading:
        """Replace unknown names by unused known ones of the kind whose contexts they fill.

        Where there are too few, those come first that the question asks about, and then those told last.
        """
        texts = self._with_names_apart(
            [*(self._apart(text, "sentence") for text in sentences), self._apart(question, "question")]
        )
        fitting: dict[str, frozenset[int] | None] = {}
        written: dict[str, str] = {}
        used: set[str] = set()
        for apart in reversed(texts):
            used.update(apart.units)
            for run in reversed(apart.runs):
                written[run.name] = apart.text[run.start : run.end]
                fits = fitting.setdefault(run.name, None)
                # A sentence of an unknown form says nothing about its words.
                if run.kinds:
                    fitting[run.name] = run.kinds if fits is None else fits & run.kinds
        chosen: dict[str, str] = {}
        crowded = []
        same = self._same_names(texts, fitting) if self.symmetries.forms.several else {}
        for name, fits in fitting.items():
            if same.get(name, name) in chosen:
                chosen[name] = chosen[same[name]]
                continue
            # In a table (mouse, mice) one form does not determine the others, so only plain kinds provide names.
            kinds = self.symmetries.lending_kinds
            if fits is None or len(fits) != 1 or min(fits) >= len(kinds):
                continue
            free = next((unit for unit in kinds[min(fits)] if unit not in used), None)
            if free is None:
                crowded.append(name)
            else:
                chosen[name] = free
                used.add(free)
        replaced = (
            self._in_forms([_replaced(apart, chosen) for apart in texts]) if chosen else [apart.text for apart in texts]
        )
        return KnownReading(
            tuple(replaced[:-1]),
            replaced[-1],
            {
                self._sentences.written(unit).lower(): written[name]
                for name, unit in reversed(chosen.items())
                if name not in same
            },
            tuple(name for name in reversed(fitting) if name not in chosen),
            tuple(crowded),
            sum(any(run.strange for run in apart.runs) for apart in texts),
        )

    def untold(self, sentences: Iterable[str], question: str) -> tuple[str, ...]:
        """The known names of a question that are in none of these sentences, though training always told of them."""
        told_of = {unit for number in self.symmetries.told_of for unit in self.symmetries.fillers[number]}
        asked = [unit for unit in self._units_of(question, "question") if unit in told_of]
        if asked:
            told = {unit for sentence in sentences for unit in self._units_of(sentence, "sentence")}
            asked = [unit for unit in dict.fromkeys(asked) if unit not in told]
        return tuple([self._sentences.written(unit) for unit in asked])

    def _in_forms(self, texts: Sequence[str]) -> list[str]:
        """Sentences and a question, last, with all names in the forms that their places demand."""
        return [
            *(self._sentences.in_forms(text, "sentence") for text in texts[:-1]),
            self._sentences.in_forms(texts[-1], "question"),
        ]

    def _same_names(self, texts: Sequence[_Apart], fitting: Mapping[str, frozenset[int] | None]) -> dict[str, str]:
        """For every name that is a form of one before it in ``fitting``: that one.

        Forms of a name are alike in letters, may be of the same kind, and never stand in the same sentence.
        """
        together = [{run.name for run in apart.runs} for apart in texts]
        same: dict[str, str] = {}
        for name, fits in fitting.items():
            for other, other_fits in fitting.items():
                if other == name:
                    break
                if (
                    other not in same
                    and likeness(name, other) >= _SAME_NAME
                    and (fits is None or other_fits is None or fits & other_fits)
                    and not any(name in names and other in names for names in together)
                ):
                    same[name] = other
                    break
        return same

    def _with_names_apart(self, texts: Sequence[_Apart]) -> list[_Apart]:
        """The texts, with names that have a place elsewhere apart from other words: Zoë in "Zoë walked", "Then Zoë"."""
        names = {run.name for apart in texts for run in apart.runs if run.kinds}
        inside = {run.name for apart in texts for run in apart.runs if not run.opens}
        found = []
        for number, apart in enumerate(texts):
            ended = set()
            openers = set()
            for run in apart.runs:
                for first, rest in _in_two(run.name):
                    if first in names and apart.ends_after(run, first):
                        ended.add(first)
                    elif rest in names and run.name not in inside:
                        openers.add(first)
            of: TextKind = "question" if number == len(texts) - 1 else "sentence"
            cut = tuple(sorted(ended)), tuple(sorted(openers))
            found.append(self._apart(apart.text, of, *cut) if any(cut) else apart)
        return found

    def _take_apart(self, text: str, of: TextKind, ended: Sequence[str] = (), openers: Sequence[str] = ()) -> _Apart:
        """A text split into words; after the names of ``ended`` and after ``openers`` another name begins."""
        text = compose(text)
        runs = self._unknown_runs(text, {*ended, *openers})
        apart = self._in_some_way(text, of, runs)
        opener = bool(openers) and runs[0].name in openers
        # "Then Mary went to pier 4": what comes before a sentence does not change the places of its names.
        if opener or (len(runs) > 1 and not apart.placed and runs[0].opens and runs[0].name not in ended):
            rest = self._in_some_way(text, of, runs[1:], after=runs[0].end)
            if opener or rest.placed:
                return replace(rest, runs=(runs[0], *rest.runs))
        return apart

    def _in_some_way(self, text: str, of: TextKind, runs: Sequence[_Run], after: int = 0) -> _Apart:
        """The text from ``after`` on with its unknown names taken so that all have a place, or else as they stand."""
        units: list[str] = []
        places = []
        for run in runs:
            units += self._units(text, after, run.start, of)
            places.append(len(units))
            units.append(_OTHER)
            after = run.end
        units += self._units(text, after, len(text), of)
        first = None
        for taken in self._ways(text, units, dict(zip(places, runs, strict=True))):
            apart = self._placed(text, units, dict(zip(places, taken, strict=True)), of)
            if apart.placed:
                return apart
            first = first or apart
        assert first is not None
        return first

    def _units(self, text: str, start: int, end: int, of: TextKind) -> list[str]:
        """The units of a part of a text."""
        return self.symmetries.units.of_words([word.lower() for word in WORD.findall(text, start, end)], of)

    def _ways(self, text: str, units: Sequence[str], runs: Mapping[int, _Run]) -> Iterator[tuple[_Taken, ...]]:
        """How the unknown names of a text can be taken: as they stand first, then with as few changes as possible."""
        yield tuple(map(_Taken, runs.values()))
        if 0 < len(runs) <= _MOST_VARIED:
            each = [self._taken(text, units[place - 1] if place else "", run) for place, run in runs.items()]
            ways = sorted(product(*each), key=lambda way: sum(taken.changed for taken in way))
            yield from ways[1:]

    def _taken(self, text: str, before: str, run: _Run) -> list[_Taken]:
        ways = [_Taken(run)]
        match = next(reversed(list(WORD.finditer(text, 0, run.start))), None)
        if before in self._articles and match:
            ways.append(_Taken(replace(run, covered=match.start()), with_unit_before=True))
        capital = text[run.start].isupper()
        # "office 2" and "Mary Smith" are not the office and Mary; "Mary quickly" is.
        own_name = run.name[0].isdecimal() or (capital and match is not None and match[0][0].isupper())
        if before in self._kind and match and match[0].lower() == before and own_name:
            joined = replace(run, name=f"{before} {run.name}", start=match.start(), covered=match.start())
            ways.append(_Taken(joined, with_unit_before=True))
        # One can go to Paris and to pier 4; who goes to sleep goes to no place.
        if capital or any(map(str.isdecimal, run.name)):
            ways += [_Taken(replace(run, article=word)) for word in self._articles if word != before]
        return ways

    def _placed(self, text: str, units: Sequence[str], taken: Mapping[int, _Taken], of: TextKind) -> _Apart:
        """The text with its unknown names taken in one way, and the kinds that fit there."""
        kept = [place for place in range(len(units)) if place + 1 not in taken or not taken[place + 1].with_unit_before]
        pattern = [f"@{of}"]
        gaps = []
        for place in kept:
            if place in taken and taken[place].run.article:
                pattern.append(taken[place].run.article)
            if place in taken:
                gaps.append(len(pattern))
            pattern.append(f"@{self._kind[units[place]]}" if units[place] in self._kind else units[place])
        found = [each.run for each in taken.values()]
        if sum(unit.count(" ") + 1 for unit in pattern) in self._contexts:  # most foreign sentences have another length
            for number, gap in enumerate(gaps):
                kinds = self._fitting([*pattern[:gap], GAP, *pattern[gap + 1 :]])
                found[number] = replace(found[number], kinds=self._with_pronouns(text, found[number], kinds))
        return _Apart(text, tuple(units[place] for place in kept), tuple(found))

    def _with_pronouns(self, text: str, run: _Run, kinds: frozenset[int]) -> frozenset[int]:
        """Those kinds that have the pronouns of a name, if it has any: "Later they" may be read as "then they"."""
        within = [word for word in (pronouns(text) if kinds else ()) if run.start <= word.start() < run.end]
        words = [word[0].lower() for word in within]
        if within and within[0].start() == run.start and within[0].end() < run.end and words[0] in POSSESSIVE:
            del words[0]  # her cat
        return frozenset(kind for kind in kinds if self._words_of_kind[kind].issuperset(words)) if words else kinds

    @cached_property
    def _words_of_kind(self) -> list[set[str]]:
        fillers = self.symmetries.fillers
        return [{word for unit in kind for word in words_of(plain(unit))} for kind in fillers]

    def _unknown_runs(self, text: str, cut: Collection[str]) -> list[_Run]:
        matches = list(WORD.finditer(text))
        words = [match[0].lower() for match in matches]
        spans: list[tuple[int, int]] = []
        last_known = True
        start = 0
        for length in self.symmetries.units.lengths(words):
            known = length > 1 or words[start] in self._known or words[start] in self._kind
            if not known and (last_known or _is_cut(words, *spans[-1], cut)):
                spans.append((start, start + 1))
            elif not known:
                spans[-1] = (spans[-1][0], start + 1)
            last_known = known
            start += length
        names = [" ".join(words[first:end]) for first, end in spans]
        places = [(matches[first].start(), matches[end - 1].end()) for first, end in spans]
        return [
            _Run(name, begin, stop, covered=begin, opens=first == 0)
            for name, (begin, stop), (first, _) in zip(names, places, spans, strict=True)
        ]

    def _fitting(self, pattern: Sequence[str]) -> frozenset[int]:
        # Phrases are several words of a context, so both are compared as words.
        words = " ".join(pattern).split(" ")
        kinds = (kinds for context, kinds in self._contexts.get(len(words), ()) if _matches(context, words))
        return frozenset().union(*kinds)


def read_unknown(
    symmetries: Symmetries, sentences: Sequence[str], question: str, known_words: Collection[str]
) -> KnownReading:
    """Read one story; a ``NameReader`` reads many faster."""
    return NameReader(symmetries, known_words).read(sentences, question)


def _in_two(name: str) -> list[tuple[str, str]]:
    """Every way to take the words of a name apart into first ones and the rest."""
    words = name.split(" ")
    if len(words) > _LONGEST_NAME:
        return []
    return [(" ".join(words[:length]), " ".join(words[length:])) for length in range(1, len(words))]


def _is_cut(words: Sequence[str], first: int, end: int, cut: Collection[str]) -> bool:
    """Whether these words are a name after which another one begins."""
    return bool(cut) and end - first <= _LONGEST_NAME and " ".join(words[first:end]) in cut


def _matches(context: Sequence[str], words: Sequence[str]) -> bool:
    return all(
        ours == theirs or (ours == _OTHER and _SOME_KIND.fullmatch(theirs) is not None)
        for ours, theirs in zip(words, context, strict=True)
    )


def _replaced(apart: _Apart, chosen: Mapping[str, str]) -> str:
    text = apart.text
    pieces = []
    done = 0
    for run in apart.runs:
        if run.name in chosen:
            name = plain(chosen[run.name])
            capital = text[run.covered].isupper()
            pieces += [text[done : run.covered], f"{run.article} " if run.article else ""]
            pieces.append(name[0].upper() + name[1:] if capital else name)
            done = run.end
    return "".join([*pieces, text[done:]])
