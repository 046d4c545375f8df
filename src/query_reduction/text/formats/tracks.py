"""Stories with the states of things after every sentence, as objects of JSON. Of one's own:

    {"sentences": ["Rain falls.", "Plants drink it."], "tracks": {"water": ["cloud", "soil", "plants"]}}

and as ProPara has them (Dalvi et al., 2018):

    {"para_id": "7", "sentence_texts": [...], "participants": ["water"], "states": [["cloud", "soil", "plants"]]}

A thing has one state per sentence, or one more in front: its state before the first. ``-`` is a thing that does not
exist, ``?`` one that is somewhere; any other state is where (or what) it is. Names of one thing are separated by ";".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from query_reduction.text.formats.fields import BadRecordError, checked_text, label_of, plain, shown
from query_reduction.text.stories import Story
from query_reduction.text.tracks import story_of_tracks

__all__ = ["has_tracks", "story_with_tracks"]


def has_tracks(value: Mapping[str, Any]) -> bool:
    """Whether an object tells what becomes of things."""
    return "tracks" in value or ("participants" in value and "states" in value)


def story_with_tracks(value: Mapping[str, Any]) -> Story:
    """A story whose questions are its things, asked after every sentence."""
    own = "tracks" in value
    name = "sentences" if own else "sentence_texts"
    sentences = _texts(value.get(name), f"'{name}'")
    if not sentences:
        raise BadRecordError("a story needs at least one sentence")
    if own:
        tracks = plain(value["tracks"])
        if not isinstance(tracks, Mapping):
            raise BadRecordError(
                f"'tracks' must be an object with a list of states for each thing, not {shown(tracks)}"
            )
        pairs = list(tracks.items())
    else:
        things, states = _texts(value["participants"], "'participants'"), plain(value["states"])
        if not isinstance(states, list) or len(states) != len(things):
            raise BadRecordError("'states' must be a list with a list for each of the 'participants'")
        pairs = list(zip(things, states, strict=True))
    checked = [(thing, _texts(states, f"the states of {shown(thing)}")) for thing, states in pairs]
    for thing, states in checked:
        if len(states) - len(sentences) not in (0, 1):
            raise BadRecordError(
                f"{shown(thing)} has {len(states)} states; {len(sentences)} or {len(sentences) + 1} are needed"
            )
        if not thing.strip():
            raise BadRecordError("a thing needs a name")
    label = label_of(value.get("id" if own else "para_id"), "the story's id")
    return story_of_tracks(sentences, checked, name=label, task=label_of(value.get("task"), "'task'"))


def _texts(value: Any, name: str) -> list[str]:
    found = plain(value)
    if not isinstance(found, list):
        raise BadRecordError(f"{name} must be a list of texts, not {shown(found)}")
    texts = [checked_text(text, f"an entry of {name}") for text in found]
    if not all(texts):
        raise BadRecordError(f"{name} has an empty text")
    return texts
