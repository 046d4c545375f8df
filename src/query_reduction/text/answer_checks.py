"""Answers and columns: how answers are written, how many there are, and whether they stand where they belong."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from query_reduction.text.findings import Finding, Severity, counted, shortened
from query_reduction.text.stories import Question, Story
from query_reduction.text.tracks import is_tracked
from query_reduction.text.words import compose, fold

__all__ = [
    "FEW_QUESTIONS",
    "check_answers",
    "check_columns",
    "check_ids",
    "few_questions",
    "finding_at",
    "plain_answer",
]

FEW_QUESTIONS = 20
"""Fewer questions than this teach nothing, and measure nothing."""
_FEW_STORIES = 3
"""An answer of fewer stories than this can hardly be learned."""
_MANY_RARE = 0.3
_SKEWED = 0.8
_NEARLY_ONE = 0.95
_SHIFTED = 0.15
"""By so much more of the answers are found in a neighbour's story than in their own, if they slipped by a row."""
_MISSING = "n/a #n/a nan null todo tbd #ref! #value! #name? #div/0! undefined"
_PLACEHOLDERS = frozenset(_MISSING.split())
_HEADERS = (frozenset(["question", "query"]), frozenset(["answer", "answers", "target", "label"]))
_COMMA = re.compile(r"\s*,\s*")
_WHOLE = re.compile(r"(-?\d+)\.0+")
_WORD = re.compile(r"\w+")
_ASKED_AND_ANSWERED = re.compile(r"\?\s+\w+(?:[ ,]\w+)*(?:\s+\d+)*$")


def few_questions(asked: Sequence[Question], severity: Severity) -> Iterator[Finding]:
    """An example for a format is a fine file; training on it is not."""
    if 0 < len(asked) < FEW_QUESTIONS:
        what = f"only {counted(len(asked), 'question')}"
        todo = "a hundred are a start for learning, and for measuring"
        yield Finding("few-questions", severity, len(asked), what, todo)


def check_answers(stories: Sequence[Story], asked: Sequence[Question], training: bool) -> Iterator[Finding]:
    """How answers are written, how many there are, and how often each occurs."""
    if not asked:
        return
    yield from _spellings(asked)
    missing = [question for question in asked if question.answer.lower() in _PLACEHOLDERS]
    if missing:
        yield finding_at(
            missing[0],
            "placeholder",
            "warning",
            len(missing),
            f"{counted(len(missing), 'answer')} that look{'s' * (len(missing) == 1)} like a missing value",
            "give the answer, or leave the question out",
            shortened(missing[0].answer),
        )
    if is_tracked(stories):
        return  # states are phrases of their stories: they may all be different, or nearly all "?"
    counts = Counter(question.answer for question in asked)
    answer, most = counts.most_common(1)[0]
    if len(counts) == 1 and len(asked) > 1:
        yield finding_at(
            asked[0],
            "one-answer",
            "error" if training else "warning",
            len(asked),
            f"all {len(asked)} questions have the same answer",
            "there is nothing to learn: add questions with other answers",
            shortened(answer),
        )
    elif most == 1 and len(asked) > 2:
        yield finding_at(
            asked[0],
            "unique-answers",
            "warning",
            len(asked),
            f"all {len(asked)} answers are different",
            "use answers that several stories have, or train with --head span, which points at answers in the text",
            shortened(asked[0].answer),
        )
    elif training and len(asked) >= FEW_QUESTIONS:
        yield from _rare(stories, asked)
        if most >= _SKEWED * len(asked):
            yield finding_at(
                next(question for question in asked if question.answer == answer),
                "skewed",
                "warning" if most >= _NEARLY_ONE * len(asked) else "note",
                most,
                f"{most / len(asked):.0%} of the answers are the same",
                "whoever always says so is right as often: add questions with other answers",
                shortened(answer),
            )


def _rare(stories: Sequence[Story], asked: Sequence[Question]) -> Iterator[Finding]:
    having: Counter[str] = Counter()
    for story in stories:
        having.update({question.answer for question in story.questions})
    rare = [question for question in asked if having[question.answer] < _FEW_STORIES]
    answers = {question.answer for question in rare}
    if rare:
        share = len(rare) / len(asked)
        yield finding_at(
            rare[0],
            "rare-answers",
            "warning" if share > _MANY_RARE else "note",
            len(answers),
            f"{counted(len(answers), 'answer')} of {len(having)} in fewer than {_FEW_STORIES} stories ({share:.0%} of "
            "the questions)",
            "tell more stories with these answers, or merge answers that mean the same",
            shortened(rare[0].answer),
        )


def _spellings(asked: Sequence[Question]) -> Iterator[Finding]:
    """Answers that differ only in case, full stop, space or Unicode form."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for question in asked:
        forms[plain_answer(question.answer)][question.answer] += 1
    several = [found for found in forms.values() if len(found) > 1]
    if several:
        odd = {form for found in several for form in list(dict(found.most_common()))[1:]}
        wrong = [question for question in asked if question.answer in odd]
        yield finding_at(
            wrong[0],
            "spelling",
            "warning",
            len(wrong),
            f"{counted(len(wrong), 'answer')} that differ{'s' * (len(wrong) == 1)} from another only in case, full "
            "stop or space",
            "write the same answer in the same way; they count as different answers",
            " and ".join(map(shortened, list(several[0])[:3])),
        )


def plain_answer(answer: str) -> str:
    """The answer without what is only a matter of writing."""
    text = _COMMA.sub(",", " ".join(fold(compose(answer)).split()).strip(" .!?;:"))
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def check_columns(stories: Sequence[Story], asked: Sequence[Question]) -> Iterator[Finding]:
    """Whether stories, questions and answers stand where they belong."""
    if not asked:
        return
    if all(len(story.sentences) == 1 and story.sentences[0].endswith("?") for story in stories) and not any(
        question.text.endswith("?") for question in asked
    ):
        what = f"{'all ' * (len(stories) > 1)}{counted(len(stories), 'story', 'stories')} made of a question alone"
        todo = "exchange the columns story and question"
        example = shortened(stories[0].sentences[0])
        yield finding_at(asked[0], "swapped", "error", len(stories), what, todo, example)
    swapped = [question for question in asked if question.answer.endswith("?") and not question.text.endswith("?")]
    if len(swapped) * 2 > len(asked):
        what = f"{counted(len(swapped), 'answer')} of {len(asked)} with a question mark, to questions without"
        todo = "exchange the columns question and answer"
        yield finding_at(swapped[0], "swapped", "error", len(swapped), what, todo, shortened(swapped[0].answer))
    headers = [one for one in asked if one.text.lower() in _HEADERS[0] and one.answer.lower() in _HEADERS[1]]
    if headers:
        what = f"{counted(len(headers), 'row')} with the names of the columns"
        todo = "remove the header lines inside the table"
        yield finding_at(headers[0], "header", "warning", len(headers), what, todo, shortened(headers[0].text))
    copied = [question for question in asked if question.answer == question.text]
    if copied:
        what = f"{counted(len(copied), 'answer')} that repeat{'s' * (len(copied) == 1)} the question"
        todo = "give the answer instead"
        yield finding_at(copied[0], "copied", "warning", len(copied), what, todo, shortened(copied[0].answer))
    yield from _tabless(stories)
    yield from _shifted(stories)


def _tabless(stories: Sequence[Story]) -> Iterator[Finding]:
    """Sentences that are a question with its answer: the tab between them is missing."""
    found = [text for story in stories for text in story.sentences if _ASKED_AND_ANSWERED.search(text)]
    if found:
        what = f"{counted(len(found), 'sentence')} that look{'s' * (len(found) == 1)} like a question with its answer"
        todo = "put a tab between question and answer; it is read as a sentence"
        yield Finding("no-tab", "warning", len(found), what, todo, shortened(found[0]))


def _shifted(stories: Sequence[Story]) -> Iterator[Finding]:
    """Whether answers slipped by a row: they are found in the story before or after rather than in their own."""
    if len(stories) < FEW_QUESTIONS or any(len(story.questions) != 1 for story in stories):
        return
    words = [set(_WORD.findall(fold(" ".join(story.sentences)))) for story in stories]
    answers = [set(_WORD.findall(fold(story.questions[0].answer))) for story in stories]
    own, after, before = (
        sum(answer <= words[(place + step) % len(words)] for place, answer in enumerate(answers)) for step in (0, 1, -1)
    )
    if max(after, before) - own > _SHIFTED * len(stories):
        where = "next" if after > before else "previous"
        what = f"{max(after, before)} of {len(stories)} answers are in the {where} story, {own} in their own"
        todo = "the column of answers seems to have slipped by a row: move it back"
        first = stories[0].questions[0]
        yield finding_at(first, "shifted", "warning", len(stories), what, todo, shortened(first.answer))


def check_ids(stories: Sequence[Story]) -> Iterator[Finding]:
    """Ids that questions of several stories have."""
    counts = Counter(name for story in stories for name in {question.id for question in story.questions} if name)
    repeated = [question for story in stories for question in story.questions if counts[question.id] > 1]
    if repeated:
        names = len({question.id for question in repeated})
        yield finding_at(
            repeated[0],
            "repeated-id",
            "warning",
            names,
            f"{counted(names, 'id')} that several questions have",
            "give every question an id of its own, or none",
            shortened(repeated[0].id),
        )


def finding_at(
    question: Question, kind: str, severity: Severity, count: int, what: str, todo: str, example: str
) -> Finding:
    """A finding whose example is this question."""
    return Finding(kind, severity, count, what, todo, example, line=question.line)
