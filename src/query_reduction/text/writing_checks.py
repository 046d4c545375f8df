"""How texts are written: scripts and languages mixed, broken or invisible characters, markup, endless sentences."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from query_reduction.text.findings import Finding, Severity, counted, shortened
from query_reduction.text.stories import Story

__all__ = ["check_writing"]

_LONG_SENTENCE = 300
"""Words; whoever writes longer ones has forgotten to end them."""
_FEW = 0.02
"""The share of questions in another script or language that is called a mixture; at least two questions."""
_HABITS: tuple[tuple[str, re.Pattern[str], Severity, str, str], ...] = (
    (
        "broken-characters",
        re.compile("\ufffd|Ã[\x80-\xbf€-™]|â€|Â[\xa0-\xbf]"),
        "warning",
        "with broken characters",
        "the file was converted between encodings: save the original as UTF-8 again",
    ),
    (
        "invisible-characters",
        re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]"),
        "warning",
        "with invisible characters",
        "remove them: they make two words of one",
    ),
    (
        "markup",
        re.compile(
            r"(?i)</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dhr]|table|u|ul)\b[^<>]*>"
            r"|&(?:amp|lt|gt|quot|nbsp|#\d+);"
        ),
        "warning",
        "with HTML in it",
        "remove tags and entities: they are read as words",
    ),
)
_ALIKE = frozenset(["LATIN", "CYRILLIC", "GREEK"])
"""Scripts with letters that look the same."""
_TOGETHER = {"CJK": "Chinese or Japanese", "HIRAGANA": "Chinese or Japanese", "KATAKANA": "Chinese or Japanese"}
_COMMON_WORDS = {
    "English": "the is was to of and in where what who did he she they it with",
    "German": "der die das ist war und zu im wo wer was hat er sie es mit nicht den dem",
    "French": "le la les est et dans où qui une des du il elle avec à était",
    "Spanish": "el los las es y en dónde quién una del con está fue ella qué",
    "Italian": "il lo gli è e di dove chi una della con nel ha che sono",
    "Portuguese": "o os é em onde quem uma com foi está ela ele não do da",
    "Dutch": "de het een is en van waar wie naar met hij zij niet op",
    "Turkish": "ve bir nerede kim ne gitti aldı bu ile için",
}
_WORD = re.compile(r"\w+")


class _Text(NamedTuple):
    text: str
    line: int


def check_writing(stories: Sequence[Story]) -> Iterator[Finding]:
    """What is remarkable about how stories and questions are written."""
    first: dict[str, int] = {}
    for story in stories:
        line = story.questions[0].line if story.questions else 0
        for text in (*_all(story), *(question.answer for question in story.questions)):
            first.setdefault(text, line)
    texts = [_Text(text, line) for text, line in first.items()]
    for kind, pattern, severity, what, todo in _HABITS:
        found = [one for one in texts if pattern.search(one.text)]
        yield from _finding(found, kind, severity, f"{counted(len(found), 'text')} {what}", todo)
    mixed = [one for one in texts if not one.text.isascii() and any(map(_mixes, _WORD.findall(one.text)))]
    what = f"{counted(len(mixed), 'text')} with words of letters from two scripts, which only look the same"
    yield from _finding(mixed, "mixed-words", "warning", what, "type these words again, in one script")
    endless = [one for one in texts if len(one.text) > 2 * _LONG_SENTENCE and len(one.text.split()) > _LONG_SENTENCE]
    what = f"{counted(len(endless), 'sentence')} of more than {_LONG_SENTENCE} words"
    yield from _finding(endless, "long-sentence", "warning", what, "end sentences with a full stop, or one per line")
    yield from _mixture(stories, "mixed-scripts", "script", [_script_of(_all(story)) for story in stories])
    yield from _mixture(stories, "mixed-languages", "language", [_language_of(_all(story)) for story in stories])


def _finding(found: Sequence[_Text], kind: str, severity: Severity, what: str, todo: str) -> Iterator[Finding]:
    if found:
        yield Finding(kind, severity, len(found), what, todo, shortened(found[0].text), line=found[0].line)


def _mixture(stories: Sequence[Story], kind: str, noun: str, labels: Sequence[str]) -> Iterator[Finding]:
    """Stories in several scripts or languages, each of them with more than a few questions."""
    counts: Counter[str] = Counter()
    for story, label in zip(stories, labels, strict=True):
        counts[label] += max(1, len(story.questions))
    counts.pop("", None)
    common = [(label, count) for label, count in counts.most_common() if count >= max(2, _FEW * counts.total())]
    if len(common) > 1:
        other = labels.index(common[1][0])
        line = stories[other].questions[0].line if stories[other].questions else 0
        shares = ", ".join(f"{count} {label}" for label, count in common[:4])
        yield Finding(
            kind,
            "warning",
            sum(count for _, count in common[1:]),
            f"questions in {len(common)} {noun}s ({shares})",
            f"train a model for each {noun}: words of one teach nothing about the other",
            shortened(stories[other].sentences[0]),
            line=line,
        )


def _all(story: Story) -> Iterable[str]:
    return (*story.sentences, *(question.text for question in story.questions))


def _mixes(word: str) -> bool:
    return not word.isascii() and len({_script(letter) for letter in word} & _ALIKE) > 1


def _script_of(texts: Iterable[str]) -> str:
    """The script of most letters, as it is called; empty if there is none."""
    counts: Counter[str] = Counter()
    for text in texts:
        if text.isascii():
            counts["LATIN"] += len(text)
        else:
            counts.update(_script(letter) for letter in text)
    counts.pop("", None)
    name = counts.most_common(1)[0][0] if counts else ""
    return _TOGETHER.get(name, name.capitalize())


@cache
def _script(letter: str) -> str:
    """The script of a letter; empty for everything else."""
    return unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""


def _language_of(texts: Iterable[str]) -> str:
    """The language whose common words a text has most of; empty if that is not clear."""
    words = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    scores = Counter(
        {language: sum(words[word] for word in common.split()) for language, common in _COMMON_WORDS.items()}
    )
    (best, most), (_, second) = scores.most_common(2)
    return best if most >= 2 and most >= 2 * second else ""
