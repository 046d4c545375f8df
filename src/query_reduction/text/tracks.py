"""Things that are tracked: one story, one thing, an answer before the first and after every sentence.

A track is a question asked again and again: its text names the thing (several names of it are separated by ";"), and
it is asked after 0, 1, 2 … sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

from query_reduction.text.stories import Question, Story

__all__ = ["ABSENT", "is_tracked", "story_of_tracks", "tracks_of"]

ABSENT = "-"
"""The state of a thing that does not exist."""


def tracks_of(story: Story) -> dict[str, dict[int, str]]:
    """The things of a story, and what is said of each after so many sentences."""
    tracks: dict[str, dict[int, str]] = {}
    for question in story.questions:
        tracks.setdefault(question.text, {})[question.after] = question.answer
    return tracks


def story_of_tracks(
    sentences: Sequence[str], tracks: Sequence[tuple[str, Sequence[str]]], *, name: str = "", task: str = ""
) -> Story:
    """A story with the states of things; each has one state per sentence, or one more, before the first."""
    questions = [
        Question(thing, state, after, id=name)
        for thing, states in tracks
        for after, state in enumerate(states, start=len(sentences) + 1 - len(states))
    ]
    return Story(tuple(sentences), tuple(sorted(questions, key=lambda question: question.after)), task)


def is_tracked(stories: Sequence[Story]) -> bool:
    """Whether every question is asked after every sentence of its story, of two or more."""
    asked = [story for story in stories if story.questions]
    return any(len(story.sentences) > 1 for story in asked) and all(
        {*range(1, len(story.sentences) + 1)} <= states.keys()
        for story in asked
        for states in tracks_of(story).values()
    )
