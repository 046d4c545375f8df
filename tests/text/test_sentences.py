"""Prose as sentences: what ends one, what does not, and what may never happen to the text."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from query_reduction.text.formats.readers import read_file
from query_reduction.text.sentences import _of_line, sentences_of_lines, split_sentences, unwrapped

# A bar stands where a sentence ends.
PROSE = [
    "Mary went to the kitchen.| John went to the garden.",
    "mary went to the kitchen. |john went to the garden",
    "MARY WENT HOME. |JOHN STAYED.",
    "Mr. Smith met Mrs. Jones. |They talked.",
    "mr. smith left. |he was tired.",
    "Dr. J. R. Smith of the U.S. Army lives in St. Louis.",
    "She lives in the U.S. |The weather is fine.",
    "He chose plan B. |The plan failed.",
    "It was I. |Nobody else knew.",
    "Bring fruit, e.g. Apples or pears, i.e. Something sweet.",
    "Pens, paper, etc. are here. |Ink etc. |The rest is there.",
    "It costs 3.5 dollars. |Version 2.0.1 is out. |20 people came in 1999. |Then 7 left.",
    "See fig. 3 and No. 7 on p. 12. |The answer is no. |He drew a fig. |She loves art. |We sat. |They left.",
    "We meet at 7 p.m. in Rome. |He left at 8 a.m. |Mary stayed.",
    "Wait... what? |Yes! |No?! |Well… |Perhaps.",
    "It was … odd. |... and so it was.",
    '"Really?" she asked. |"Go." |He said "Stop!" |Then he left. |(He came back.) |Good.',
    "„Wo ist er?“ |« Ici ! »",
    "¿Dónde está? |¡Aquí! |Él está en casa.",
    "where is mary? |she left.",
    "1. Open the lid. |2. Pour the milk. |(a) Drink. |b. Sleep.",
    "玛丽去了厨房。|约翰去了花园！|谁在那里？|「好。」|他说",
    "मरियम बगीचे में गयी। |वह सोयी।",
    "One line.\n|Another line without a stop\n|\n\r\n Third one.",
    "Visit example.com today. |Write to a.b@c.de now.",
    "Pallet 7 is in bay 4. |Bay 4 is cold.",
    "No stop at all",
    "Tabs.\tToo.".replace("\t", "\t|"),
    "A non-breaking\u00a0space. |Here.",
    "!",
    "",
]


@pytest.mark.parametrize("marked", PROSE)
def test_prose(marked: str) -> None:
    expected = [sentence.strip() for sentence in marked.split("|") if sentence.strip()]
    assert split_sentences(marked.replace("|", "")) == expected


words = ["Mr", "e.g", "U.S", "etc", "a", "I", "B", "The", "mary", "Mary", "3", "12", "no"]
pieces = st.sampled_from([*".!?…。！\"'”)(“ \n\t\x1c\u2028", *words])


@given(st.one_of(st.text(), st.lists(pieces, max_size=20).map("".join)))
@example(". (")
@example("a. \"'")
def test_only_white_space_is_lost_and_sentences_stay_whole(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)
    assert [part for sentence in sentences for part in split_sentences(sentence)] == sentences


@given(st.lists(pieces, max_size=8).map("".join))
@example("Hello. )")
@example('"Hi!"')
def test_a_quick_look_finds_what_a_close_one_does(text: str) -> None:
    lines = unwrapped([line.strip() for line in text.splitlines()])
    assert split_sentences(text) == [sentence for line in lines for sentence in _of_line(line)]


@given(
    st.lists(
        st.sampled_from(
            [
                "Mary got the milk there.",
                "Then Sandra and John moved to the hallway with Daniel.",
                "Where is Mr. Smith?",
                "Daniel Washburne, who is old, went to Paris with Zoë!",
                "the nurse left.",
            ]
        ),
        min_size=2,
        max_size=8,
    ),
    st.integers(24, 100),
)
def test_wrapped_prose_is_prose(told: list[str], width: int) -> None:
    text = " ".join(["Mary went to the kitchen, and John and Sandra went on to the garden.", *told])
    lines = textwrap.fill(text, width, break_on_hyphens=False)
    assert split_sentences(lines) == split_sentences(text)
    assert list(sentences_of_lines(lines.splitlines())) == split_sentences(text)
    assert split_sentences(f"{lines}\n\n{lines}") == 2 * split_sentences(text)


@pytest.mark.parametrize(
    "lines",
    [
        ["Mary got the milk", "Mary went to the garden", "John left"],
        ["mary got the milk", "mary went to the garden", "john left."],
        ["Mary got the milk.", "Mary went to the big garden", "John left."],
        ["Mary got the milk.", "John left.", "Mary went to the garden."],
        ["- the milk", "- the apple", "That is all."],
        ["1. Open the lid", "2. pour the milk", "3. Drink it."],
        ["Things to buy", "", "milk and bread."],
    ],
)
def test_a_sentence_per_line_stays_one(lines: list[str]) -> None:
    assert split_sentences("\n".join(lines)) == [line for line in lines if line]


def test_a_long_text_is_read_line_by_line() -> None:
    told = [f"Mary went to the garden {number}." for number in range(3000)]
    assert list(sentences_of_lines(iter(told))) == told
    without = [line.rstrip(".") for line in told]
    assert list(sentences_of_lines(iter(without))) == without


def test_published_stories_stay_as_they_are_and_are_found_again(real_babi: Path) -> None:
    for path in sorted((real_babi / "en").glob("qa*_test.txt")):
        for story in read_file(path)[:50]:
            assert split_sentences("\n".join(story.sentences)) == list(story.sentences)
            assert split_sentences(" ".join(story.sentences)) == list(story.sentences)
            assert split_sentences(" ".join(story.sentences).lower()) == [s.lower() for s in story.sentences]


@pytest.mark.parametrize("piece", ["Mary went home. ", "J. ", "J.\t", "(. ", "e.g. ", "x", ". ", ".", ".'", "。", "'"])
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    begun = time.process_time()
    assert len(split_sentences(piece * 100_000)) in (1, 50_000, 100_000)
    assert time.process_time() - begun < 5
