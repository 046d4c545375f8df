"""What people say, in the words a dialog model knows: "In Paris, for 4." becomes "in paris for four".

A word the model does not know is looked up in lower case, with composed accents, without the punctuation around it or
with that of the training dialogs, with or without its apostrophe, as a number in words, and as a misspelt name. Names
that are ruled out ("not French, Italian") are dropped. Words that remain unknown are ignored and reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import takewhile

from query_reduction.dialog.mentions import Lexicon
from query_reduction.dialog.phrases import EDGE, Phrase
from query_reduction.heads.slots import API_CALL
from query_reduction.text.formats.dialog import SILENCE, speakers
from query_reduction.text.stories import Question, Story
from query_reduction.text.words import compose

__all__ = ["Heard", "Hearing", "understood"]

_NUMBERS = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty""".split()  # noqa: SIM905 - twenty-one quoted words would be harder to read
)
_ALIKE = tuple(
    tuple(group.split())
    for group in (
        "no nope nah nothing none neither",
        "perfect great yes yeah yep yup fine okay ok excellent wonderful lovely awesome agreed deal sounds good take",
        "hello hi hey howdy greetings evening afternoon",
        "thanks thank cheers ta",
        "like want need wish love",
        "people persons person guests adults friends",
        "cheap inexpensive affordable budget low",
        "moderate medium mid-range reasonable average",
        "expensive pricey upscale luxury luxurious posh high",
        "phone telephone",
        "else other another different",
        "book reserve get",
        "food dishes meal kitchen",
    )
)
"""English words that mean about the same: an unknown one is replaced by the first one the model knows."""
_GREETING = frozenset("hello hi hey howdy greetings good morning afternoon evening day there to you".split())  # noqa: SIM905
_PIECES = re.compile(r"[^\s,;!?()\"“”…/]+")
_EDGES = re.compile(r"^[^\w<$#]+|[^\w>$#]+$")
_TAKEN_BACK = re.compile(
    r"(?:\bno|\b(?:not|nor|without|except|hate|than|instead of|don'?t (?:want|like|need))(?: \S+){0,2})$"
)
"""What precedes a name that is ruled out."""
_CLAUSE_ENDS = re.compile(r"[,;!?]|\.(?!\w)|\s[-–—]+\s|\bbut\b")
_CLOSE = 0.84
_SHORTEST = 5
"""Names shorter than this are not matched to misspellings."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An utterance as a model reads it."""

    text: str
    unknown: tuple[str, ...] = ()
    """Words unknown to the model, as written."""
    assumed: tuple[tuple[str, str], ...] = ()
    """Words that were taken for a name that means about the same, and that name."""


@dataclass(frozen=True)
class Hearing:
    """What a model knows about words, for reading what people write."""

    words: frozenset[str]
    """The words of its vocabulary, in lower case."""
    lexicon: Lexicon = field(default_factory=lambda: Lexicon({}))
    slots: frozenset[str] = frozenset()
    """The kinds of names that responses use."""
    doubled: frozenset[str] = frozenset()
    """Those of which one response may use several."""
    phrases: Mapping[str, Phrase] = field(default_factory=dict)
    """How names are said, by their kinds."""
    said: frozenset[str] = frozenset()
    """The words that users say in training; empty if that is not known. The others mean nothing from a user."""

    @staticmethod
    def of(
        words: Iterable[str],
        responses: Iterable[str],
        lexicon: Lexicon | None,
        phrases: Mapping[str, Phrase],
        said: frozenset[str] = frozenset(),
    ) -> Hearing:
        """What there is to know, from a vocabulary, the responses there are, and what is known of names."""
        slots: Counter[str] = Counter()
        for response in responses:
            found = Counter(word for word in response.split() if word.startswith("<") and word.endswith(">"))
            slots |= found
        doubled = frozenset(kind for kind, count in slots.items() if count > 1)
        known = frozenset(word.lower() for word in words)
        return Hearing(known, lexicon or Lexicon({}), frozenset(slots), doubled, phrases, said)

    def hear(self, text: str) -> Heard:
        """One utterance."""
        if text == SILENCE:
            return Heard(text)
        heard: list[str] = []
        unknown: list[str] = []
        assumed: dict[str, str] = {}
        for clause in _CLAUSE_ENDS.split(compose(text).replace("’", "'")):
            before = ""
            for piece in self._join_names(_PIECES.findall(clause)):
                word = self._word(piece)
                kind = self._kind(word) if word else None
                if word and kind in self.slots and self._is_assumed(piece, word):
                    # "A moderate budget" is moderate: what was only assumed never replaces what was said.
                    if any(self._kind(other) == kind and other not in assumed.values() for other in heard):
                        continue
                    assumed[_EDGES.sub("", piece)] = word
                if kind is not None and (taken_back := _TAKEN_BACK.search(before)):
                    for said in reversed(taken_back[0].split()):
                        if heard and heard[-1] == self._word(said):
                            heard.pop()
                    continue
                if kind in self.slots and kind not in self.doubled:
                    # If a kind is named twice, the last one wins: "Italian, no wait, French".
                    heard = [other for other in heard if self._kind(other) != kind]
                if word:
                    heard.append(word)
                elif any(letter.isalnum() for letter in piece):
                    unknown.append(_EDGES.sub("", piece))
                before = f"{before} {piece.lower()}".strip()
        kept = tuple((piece, word) for piece, word in assumed.items() if word in heard)
        return Heard(" ".join(self._in_phrases(heard)), tuple(dict.fromkeys(unknown)), kept)

    def _in_phrases(self, words: Sequence[str]) -> list[str]:
        """The words, where names in a context that their kind never has in training are put into their phrase."""
        kinds = [self._kind(word) for word in words]
        general = [kind or word for kind, word in zip(kinds, words, strict=True)]
        said: list[str] = []
        skip = 0
        for place, (word, kind) in enumerate(zip(words, kinds, strict=True)):
            phrase = self.phrases.get(kind or "")
            if skip:
                skip -= 1
            elif phrase is None or (
                (general[place - 1] if place else EDGE) in phrase.lefts
                and (general[place + 1] if place + 1 < len(words) else EDGE) in phrase.rights
            ):
                said.append(word)
            else:
                while said and said[-1] in phrase.before:
                    said.pop()
                said += (*phrase.before, word, *phrase.after)
                skip = sum(1 for _ in takewhile(phrase.after.__contains__, words[place + 1 :]))
        return said

    def wishes(self, heard: str) -> dict[str, str]:
        """The names of slots in an utterance that was heard, by their kinds."""
        named = ((self._kind(word), word) for word in heard.split())
        return {kind: self.lexicon.aliases.get(word, word) for kind, word in named if kind in self.slots}

    def request(self, wishes: Mapping[str, str]) -> str:
        """All wishes in one utterance, as the training dialogs say them."""
        plain = Phrase((), (), frozenset(), frozenset())
        said = ((self.phrases.get(kind, plain), name) for kind, name in wishes.items())
        return " ".join(word for phrase, name in said for word in (*phrase.before, name, *phrase.after))

    @cached_property
    def greeting(self) -> str | None:
        """A greeting word that the model knows."""
        return next((word for word in ("hello", "hi", "hey") if word in self.words), None)

    def only_greets(self, heard: str) -> bool:
        """Whether an utterance that was heard is a greeting and nothing else."""
        return _GREETING.issuperset(heard.split())

    def _kind(self, word: str) -> str | None:
        return self.lexicon.kinds.get(self.lexicon.aliases.get(word, word))

    def _known(self, word: str) -> bool:
        return word in self.words or word in self.lexicon.kinds or word in self.lexicon.aliases

    def _word(self, piece: str) -> str | None:
        """The word a piece of text stands for, if there is one."""
        written = piece.lower()
        bare = _EDGES.sub("", written)
        if bare.isdecimal() and len(bare) <= 2:
            return self._number(bare) or self._otherwise.get(bare)
        for form in (written, bare):
            if self._known(form):
                # "ok" that only the system says is a "yes" of the user's.
                return form if self._means_something(form) else self._alike.get(form, form)
        found = self._otherwise.get(bare.replace("'", ""))
        if found is None and (known := self.lexicon.kinds.keys() & {bare.replace("-", "_")}):
            (found,) = known
        found = found or self._slip(bare) or self._alike.get(bare)
        if found is None and "'" in bare and self._known(stem := bare.partition("'")[0]):
            found = stem  # "that's" has "that" in it
        return found

    def _is_assumed(self, piece: str, word: str) -> bool:
        bare = _EDGES.sub("", piece.lower())
        return bare != word and self._alike.get(bare) == word

    def _means_something(self, word: str) -> bool:
        """Whether a word says something when a user says it."""
        return self._known(word) and (not self.said or word in self.said or self._kind(word) is not None)

    def _number(self, digits: str) -> str | None:
        """A number as the model's dialogs say it: a numeral may be known only as something nobody asks for."""
        spoken = _NUMBERS[int(digits)] if int(digits) < len(_NUMBERS) else ""
        kind = self._kind(digits)
        if self._known(digits) and (kind is None or kind in self.slots):
            return digits
        return spoken if self._known(spoken) else None

    def _slip(self, word: str) -> str | None:
        if len(word) < _SHORTEST:
            return None
        # The first letter must match: "inexpensive" is not a misspelling of "expensive".
        alike = [name for name in self._names if name[0] == word[0]]
        close = [name for name in alike if word.startswith(name)] or get_close_matches(word, alike, 1, _CLOSE)
        return close[0] if close else None

    def _join_names(self, pieces: Sequence[str]) -> list[str]:
        """Pieces that are a name together ("new york" where the dialogs have "new_york") as one."""
        joined: list[str] = []
        start = 0
        while start < len(pieces):
            length = 1
            for longer in range(min(5, len(pieces) - start), 1, -1):
                name = "_".join(_EDGES.sub("", piece.lower()) for piece in pieces[start : start + longer])
                if name in self.lexicon.kinds:
                    length = longer
                    break
            joined.append("_".join(pieces[start : start + length]))
            start += length
        return joined

    @cached_property
    def _otherwise(self) -> dict[str, str]:
        """Known words, indexed by their form without surrounding punctuation and apostrophes."""
        plain = {_EDGES.sub("", word).replace("'", ""): word for word in sorted(self.words) if word[0] not in "<$#"}
        return {bare: word for bare, word in plain.items() if bare}

    @cached_property
    def _alike(self) -> dict[str, str]:
        known = ((group, next(filter(self._means_something, group), None)) for group in _ALIKE)
        return {word: found for group, found in known if found for word in group}

    @cached_property
    def _names(self) -> list[str]:
        """Names of slots that people may misspell."""
        return sorted(
            name
            for name, kind in self.lexicon.kinds.items()
            if kind in self.slots and len(name) >= _SHORTEST and "_" not in name
        )


def understood(dialog: Story, hearing: Hearing) -> Story:
    """A dialog with what the user says as it is heard, and without what has become obsolete.

    Models learn that requests change after a call without results. So when they change after options were shown,
    the conversation goes back to the call: rows and offers since then are forgotten. And whoever says all wishes again
    before the first call starts over: what was said since the greeting is forgotten.
    """
    sentences: list[str] = []
    questions: list[Question] = []
    call = ""
    options = -1
    """Where the rows shown for the last call begin; -1 if there are none."""
    turns = {question.after: question for question in dialog.questions}
    for place, speaker in enumerate((*speakers(dialog), "user")):
        turn = turns.get(place)
        if turn is not None:
            heard = hearing.hear(turn.text).text or SILENCE
            if not call and _says_all_again(heard, questions, hearing):
                greeted = 1 if hearing.only_greets(questions[0].text) or questions[0].text == SILENCE else 0
                del sentences[2 * greeted :], questions[greeted:]
            if options >= 0 and _changes(heard, call, hearing):
                del sentences[options:]
                questions = [question for question in questions if question.after < options]
                options = -1
            questions.append(Question(heard, turn.answer, len(sentences)))
        if place == len(dialog.sentences):
            break
        text = dialog.sentences[place]
        if speaker == "system" and text.split()[:1] == [API_CALL]:
            call, options = text, -1
        elif speaker == "row" and call and options < 0:
            options = len(sentences)
        sentences.append(text if turn is None else questions[-1].text)
    return Story(tuple(sentences), tuple(questions), dialog.task)


def _says_all_again(heard: str, before: Sequence[Question], hearing: Hearing) -> bool:
    """Whether an utterance repeats every wish so far, which took several turns."""
    said: dict[str, str] = {}
    for turn in before:
        said |= hearing.wishes(turn.text)
    return len(said) > 1 and heard != SILENCE and said.items() <= hearing.wishes(heard).items()


def _changes(heard: str, call: str, hearing: Hearing) -> bool:
    """Whether an utterance asks for something other than the call does."""
    called = {hearing.lexicon.kinds.get(word): word for word in call.lower().split()}
    return any(kind in called and called[kind] != name for kind, name in hearing.wishes(heard).items())
