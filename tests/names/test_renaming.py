from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from query_reduction.names import Renamer, Renaming, Symmetries
from query_reduction.names.groups import elements, product
from query_reduction.names.renaming import Sentences
from query_reduction.names.units import Units
from query_reduction.text.stories import Question, Story

COMPASS = (
    (("north", "south"), ("n", "s")),
    (("east", "west"), ("e", "w")),
    (("north", "east"), ("south", "west"), ("n", "e"), ("s", "w")),
)
FOUND = Symmetries(
    kinds=(("mary", "john", "sandra"), ("box", "box of chocolates", "chest")),
    tables=((("mouse", "mice"), ("wolf", "wolves"), ("sheep", "sheep#2")),),
    couplings=COMPASS,
    units=Units(
        frozenset({("box", "of", "chocolates")}),
        {"sheep": {("sentence", "a", ""): 0, ("sentence", "", "are"): 1, ("sentence", "of", ""): 1}},
    ),
    written={"mary": "Mary", "john": "John", "sandra": "Sandra"},
)
STORY = Story(
    ("Mary is a sheep.", "Sheep are afraid of wolves.", "The box of chocolates is north of the box!"),
    (Question("Where is mary?", "box,box of chocolates", 3, (1,)), Question("How?", "n,e", 3)),
    "0",
)


@given(st.integers())
def test_a_renaming_is_a_bijection_and_its_inverse_takes_it_back(seed: int) -> None:
    renaming = FOUND.sample(random.Random(seed), Sentences(FOUND.units, [STORY], FOUND.written))
    assert sorted(renaming.mapping) == sorted(renaming.mapping.values())
    # A renamed story is read again: names of several words are found again, and words by their columns.
    assert renaming.inverse().story(renaming.story(STORY)) == STORY


@given(st.integers())
def test_a_seed_always_draws_the_same(seed: int) -> None:
    drawn = [FOUND.sample(random.Random(seed)).mapping for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_all_permutations_of_a_kind_are_drawn() -> None:
    rng = random.Random(0)
    drawn = [FOUND.sample_mapping(rng) for _ in range(200)]
    assert len({tuple(mapping.get(name, name) for name in FOUND.kinds[0]) for mapping in drawn}) == 6


def test_the_compass_has_eight_symmetries_and_all_are_drawn_together_with_the_letters() -> None:
    known = elements(COMPASS)
    assert known is not None and len(known) == 8
    rng = random.Random(0)
    drawn = set()
    for _ in range(300):
        mapping = FOUND.sample_mapping(rng)
        words = tuple(mapping.get(word, word) for word in ("north", "south", "east", "west"))
        assert tuple(mapping.get(letter, letter) for letter in "nsew") == tuple(word[0] for word in words)
        drawn.add(words)
    assert len(drawn) == 8


def test_a_group_too_large_to_list_is_still_drawn_from() -> None:
    swaps = tuple(((f"a{n}", f"a{n + 1}"), (f"b{n}", f"b{n + 1}")) for n in range(9))
    found = Symmetries(couplings=swaps)
    assert elements(swaps) is None
    mapping = found.sample_mapping(random.Random(0))
    assert mapping and all(
        mapping[f"b{unit[1:]}"] == f"b{other[1:]}" for unit, other in mapping.items() if unit[0] == "a"
    )


def test_products_apply_one_after_the_other() -> None:
    assert product({"a": "b", "b": "a"}, {"b": "c", "c": "b"}) == {"a": "c", "b": "a", "c": "b"}
    assert product({"a": "b", "b": "a"}, {"a": "b", "b": "a"}) == {}


def test_case_punctuation_columns_and_names_of_several_words() -> None:
    mapping = {"mary": "john", "john": "mary", "box": "box of chocolates", "box of chocolates": "box"}
    mapping |= {"sheep": "mouse", "mouse": "sheep", "sheep#2": "mice", "mice": "sheep#2"}
    renamed = Renaming(mapping, Sentences(FOUND.units, [STORY], FOUND.written)).story(STORY)
    assert renamed.sentences == (
        "John is a mouse.",
        "Mice are afraid of wolves.",
        "The box is north of the box of chocolates!",
    )
    assert renamed.questions[0] == Question("Where is john?", "box of chocolates,box", 3, (1,))
    assert renamed.questions[1] == STORY.questions[1]
    assert renamed.task == "0"


def test_capitals_within_a_name_stay() -> None:
    units = Units(frozenset({("dock", "b"), ("dock", "a")}))
    story = Story(
        ("Eva drove to dock B.", "Eva drove to dock A.", "eva left the yard."), (Question("Where?", "dock B", 3),)
    )
    sentences = Sentences(units, [story], {"eva": "Eva"})
    renaming = Renaming({"dock b": "yard", "yard": "dock b"}, sentences)
    assert renaming.story(story).sentences == ("Eva drove to yard.", "Eva drove to dock A.", "eva left the dock B.")
    assert renaming.story(story).questions[0].answer == "yard"


def test_every_story_has_a_renaming_of_its_own() -> None:
    stories = [STORY] * 30
    renamed = Renamer(FOUND, stories).stories(stories, random.Random(0))
    assert len(set(renamed)) > 15
