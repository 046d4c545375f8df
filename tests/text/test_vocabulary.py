"""Words of texts as people write them: composed or not, in any case, with signs; and as version 0.1.0 read them."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.text.encoding import encode_stories
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary, case_matters
from query_reduction.text.words import Tokens, _text_pattern, compose, fold, signs, split_words


def story(*sentences: str, question: str = "Who left?", answer: str = "Mary") -> Story:
    return Story(sentences, (Question(question, answer, len(sentences)),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mary went to the kitchen.", ["Mary", "went", "to", "the", "kitchen"]),
        ("Don't, won’t; well-known 'quoted' - dash-", ["Don't", "won't", "well-known", "quoted", "dash"]),
        ("3.5 of 1,000 at 10:30, 7.", ["3.5", "of", "1,000", "at", "10:30", "7"]),
        ("a_b #7 50% 5€ $9 a&b +1", ["a_b", "#", "7", "50", "%", "5", "€", "$", "9", "a", "&", "b", "+", "1"]),
        ("Zoe\u0308 ate", ["Zoë", "ate"]),
        ("मरियम बगीचे में गयी।", ["मरियम", "बगीचे", "में", "गयी"]),
        ("می\u200cروم", ["می\u200cروم"]),
        ("ok🙂👍🏽!", ["ok", "🙂", "👍🏽"]),
        ("👩\u200d🚀 ❤\ufe0f", ["👩\u200d🚀", "❤\ufe0f"]),
        ("玛丽去了厨房。", ["玛", "丽", "去", "了", "厨", "房"]),
        ("\ud800 \0 …", []),
        ("", []),
    ],
)
def test_words_of_texts(text: str, words: list[str]) -> None:
    assert split_words(text, "text") == words


@given(st.text())
def test_no_letter_number_or_symbol_is_lost(text: str) -> None:
    said = "".join(split_words(text, "text"))
    for character in compose(text):
        if character.isalnum() or unicodedata.category(character) in ("Sc", "So", "Sm"):
            assert character in said
    assert split_words(unicodedata.normalize("NFD", text), "text") == split_words(text, "text")


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_read_as_any_text_is(text: str) -> None:
    assert split_words(text + " é", "text") == [*split_words(text, "text"), "é"]


def test_case_is_folded_where_wanted() -> None:
    told = [story("Mary left.", "The ball is in Bay 7.", answer="Bay 7")]
    plain, folding = (Vocabulary.from_stories(told, "text", fold_case=choice) for choice in (False, True))
    assert "Mary" in plain.words
    assert "mary" in folding.words
    for text in ("mary LEFT", "MARY left", "Mary left."):
        assert folding.numbers(text) == folding.numbers("Mary left.")
        assert UNKNOWN_WORD not in folding.numbers(text)
    assert plain.numbers("mary") == [UNKNOWN_WORD]
    assert folding.unknown_words(["MARY met Zoë"]) == ["met", "Zoë"], "as it is written"
    assert folding.answers == ("Bay 7",)
    assert (folding.answer_number("bay 7"), plain.answer_number("bay 7")) == (0, -1)


def test_an_older_vocabulary_may_be_read_without_case() -> None:
    older = Vocabulary(("Mary", "The", "left", "the"), ("Mary",), 3)
    newer = replace(older, fold_case=True)
    for text in ("Mary left", "The the", "left Mary the The"):
        assert newer.numbers(text) == older.numbers(text), "what it knew is read as before"
    assert newer.numbers("mary LEFT THE") == older.numbers("Mary left the")
    assert newer.answer_number("MARY") == 0


@pytest.mark.parametrize("tokens", ["words", "spaces", "text"])
def test_decomposed_letters_are_known(tokens: Tokens) -> None:
    vocabulary = Vocabulary.from_stories([story("Zoë left.", answer="Zoë")], tokens)
    decomposed = unicodedata.normalize("NFD", "Zoë left.")
    assert decomposed != "Zoë left."
    assert vocabulary.numbers(decomposed) == vocabulary.numbers("Zoë left.")
    assert vocabulary.answer_number(unicodedata.normalize("NFD", "Zoë")) == 0
    assert vocabulary.unknown_words([decomposed]) == []


def test_a_vocabulary_of_decomposed_words_reads_them_as_before() -> None:
    decomposed = unicodedata.normalize("NFD", "Zoë left.")
    vocabulary = Vocabulary.from_stories([story(decomposed)])
    assert vocabulary.words == ("Who", "Zoe", "left")
    assert UNKNOWN_WORD not in vocabulary.numbers(decomposed)


def test_signs_do_not_vanish() -> None:
    older = Vocabulary.from_stories([story("Mary left.")])
    assert older.numbers("Mary 🙂 left €") == older.numbers("Mary left")
    assert older.unknown_words(["Mary 🙂 left, 5 € (or 5 %)."]) == ["5", "or", "🙂", "€", "%"]
    newer = Vocabulary.from_stories([story("Mary left.")], "text")
    assert newer.unknown_words(["Mary 🙂 left €."]) == ["🙂", "€"]
    assert signs('Mary left, "at last" (7): don\'t!') == []


@pytest.mark.parametrize(
    ("sentences", "answer", "matters"),
    [
        (("Mary left.", "The ball is red.", "Then the ball fell."), "Mary", False),
        (("Bill sent the bill.",), "Bill", False),
        (("Then Bill sent the bill.",), "Mary", True),
        (("I saw it.", "Then i left."), "Mary", False),
        (("Mary left.",), "mary", True),
    ],
)
def test_whether_case_matters(sentences: tuple[str, ...], answer: str, matters: bool) -> None:
    assert case_matters([story(*sentences, answer=answer), story("x y", answer="Mary")]) is matters


@given(st.text(), st.text())
def test_folding_is_folding(one: str, other: str) -> None:
    assert fold(fold(one)) == fold(one)
    assert fold(one.lower()) == fold(one) or not one.isascii()
    assert compose(compose(other)) == compose(other)


def test_case_does_not_matter_in_the_published_stories(real_babi: Path) -> None:
    for path in sorted((real_babi / "en").glob("qa*_train.txt")):
        assert not case_matters(read_file(path)), path.name


def test_numbers_are_those_of_version_0_1_0(real_babi: Path) -> None:
    """Stored models and results mean these numbers."""
    digest = hashlib.sha256()
    for path in sorted((real_babi / "en").glob("qa*_train.txt")):
        told = read_file(path)
        for tokens in ("words", "spaces"):
            vocabulary = Vocabulary.from_stories(told, tokens)
            encoded = encode_stories(told, vocabulary, memory=50)
            digest.update(repr((vocabulary.words, vocabulary.answers, vocabulary.longest_sentence)).encode())
            for runs in (encoded.sentences, encoded.stories):
                for numbers in (runs.numbers, runs.first, runs.length):
                    digest.update(numbers.tobytes())
            digest.update(encoded.questions.tobytes() + encoded.answers.tobytes())
    assert digest.hexdigest() == "1c19b8012218e152f8813fa1706b71ed88b712a910ced3da372f834511a7035e"


@given(st.text("abZ_09 .,:;!?()\"'-$%\n\té", max_size=40))
def test_plain_texts_are_split_as_all_others(text: str) -> None:
    """The fast way for plain texts finds what the pattern for all of Unicode finds."""
    assert split_words(text, "text") == _text_pattern().findall(compose(text).replace("’", "'"))


@given(st.lists(st.sampled_from(["went", "Went", "back", "to", "WENT", "home", "xyzzy"]), max_size=8))
def test_names_of_several_words_have_one_number(words: list[str]) -> None:
    story = Story(("went back home to",), ())
    vocabulary = Vocabulary.from_stories([story], "text", fold_case=True, phrases=[("went", "back")])
    joined = vocabulary.joined(words)
    assert vocabulary.numbers(" ".join(words)) == [vocabulary._number(word) for word in joined]
    assert ("went back" in [word.lower() for word in joined]) == ("went back" in " ".join(words).lower())
