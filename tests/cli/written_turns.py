"""Bookings as people write them: what they say, turn by turn, and the place they must end up with.

Greetings, capitals, commas, numerals, refusals and changes of mind; and wishes that nothing fits, where the talk must
end with what to change. What stands in brackets is said only if the system asks whether there is anything else to
update. ``SECOND`` was written when the rules of ``tasks.utterances`` worked on ``FIRST``, to see what they miss, and
``THIRD`` when they worked on both: people who do not answer what they are asked, or ask for what there is not.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FIRST", "NOTHING_FITS", "SECOND", "THIRD", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """A dialog: what the user says, and the place that is booked (empty if nothing fits)."""

    turns: tuple[str, ...]
    place: str = ""


def _place(cuisine: str, location: str, price: str, rating: int) -> str:
    return f"resto_{location}_{price}_{cuisine}_{rating}stars"


FIRST = (
    Written(
        ("Hello!", "Can you book a table in Paris, for 4, with Spanish food, cheap please?", "Great, I love that!"),
        _place("spanish", "paris", "cheap", 8),
    ),
    Written(
        (
            "Hi there.",
            "I'd like to book a table.",
            "Italian.",
            "In Rome.",
            "For 2 people.",
            "Cheap, please.",
            "Perfect.",
        ),
        _place("italian", "rome", "cheap", 8),
    ),
    Written(
        ("Good morning", "May I have a table for 8 in London?", "British food", "Expensive", "Let's do it!"),
        _place("british", "london", "expensive", 8),
    ),
    Written(
        ("I want a table for six in Madrid, French cuisine, in an expensive price range.", "It's perfect!"),
        _place("french", "madrid", "expensive", 8),
    ),
    Written(
        ("Hello", "A table for four people in Rome please", "British", "Cheap", "No.", "No, I don't like that", "Yes"),
        _place("british", "rome", "cheap", 3),
    ),
    Written(
        ("hey", "book a table in bombay", "Not French, Italian.", "for 6", "moderate", "that looks great"),
        _place("italian", "bombay", "moderate", 8),
    ),
    Written(
        ("HELLO", "CAN YOU BOOK A TABLE IN PARIS", "FRENCH FOOD", "WE WILL BE EIGHT", "MODERATE", "I LOVE THAT"),
        _place("french", "paris", "moderate", 8),
    ),
    Written(
        (
            "Good evening,",
            "could I get a table for 2 in London?",
            "French, please.",
            "an expensive one",
            "Yes, please!",
        ),
        _place("french", "london", "expensive", 8),
    ),
    Written(
        (
            "Hi",
            "Can you make a restaurant reservation in Paris for 4 people with Italian food in a moderate price range?",
            "Actually, I would prefer Spanish food.",
            "Cheap instead.",
            "(No)",
            "Let's do it",
        ),
        _place("spanish", "paris", "cheap", 8),
    ),
    Written(
        (
            "Hello,",
            "I'd like a table in Rome for 6 with Indian food, cheap.",
            "No, this does not work for me.",
            "It's perfect.",
        ),
        _place("indian", "rome", "cheap", 5),
    ),
    Written(
        (
            "hi",
            "may i have a table in madrid",
            "indian food please",
            "for 8",
            "cheap",
            "Do you have something else?",
            "ok",
        ),
        _place("indian", "madrid", "cheap", 7),
    ),
    Written(
        ("Hello", "Table for two in Bombay", "Indian", "cheap", "I love that", "May I have the phone number?"),
        _place("indian", "bombay", "cheap", 7),
    ),
    Written(
        (
            "Hi!",
            "I would like to book a table for 6 in London with Indian food in a moderate price range",
            "Instead could it be in Rome?",
            "And cheap, please.",
            "(No, thank you)",
            "Great!",
        ),
        _place("indian", "rome", "cheap", 7),
    ),
    Written(
        ("Hello.", "Italian, no wait, Spanish food in Rome.", "We will be 8.", "moderate", "I love that."),
        _place("spanish", "rome", "moderate", 8),
    ),
    Written(
        ("Hi", "A table for 4 in Madrid, not London.", "Italian food.", "Expensive.", "No", "That looks great."),
        _place("italian", "madrid", "expensive", 5),
    ),
    Written(
        ("Good morning!", "Can you book a table?", "With French food!", "London!", "6!", "Cheap!", "Let's do it!"),
        _place("french", "london", "cheap", 6),
    ),
    Written(
        ("Hello", "I’d like to book a table for two in Bombay", "I love french food", "moderate", "no", "it’s perfect"),
        _place("french", "bombay", "moderate", 7),
    ),
    Written(
        ("hi", "we need a table in Rome", "Spanish", "six of us", "expensive", "no", "no", "I love that"),
        _place("spanish", "rome", "expensive", 3),
    ),
    Written(
        (
            "Hello",
            "Please book me a table in Paris for 6 people, Indian, cheap",
            "Actually, could it be in Rome instead?",
            "(No.)",
            "Perfect, thanks.",
        ),
        _place("indian", "rome", "cheap", 7),
    ),
    Written(
        ("Hi", "Spanish food in Bombay, for 4, moderate price", "Do you have something else", "Let’s do it."),
        _place("spanish", "bombay", "moderate", 5),
    ),
    Written(
        ("hello", "can you book a table with itallian food", "in Londn", "for 8 people", "expensive", "yes"),
        _place("italian", "london", "expensive", 6),
    ),
    Written(
        # The only place that fits is refused, so a wish is changed.
        (
            "Hi",
            "Can you book a table for 8 in London with Spanish food, cheap?",
            "No",
            "Rome, moderate",
            "(no)",
            "Yes!",
        ),
        _place("spanish", "rome", "moderate", 8),
    ),
    Written(
        # Nothing fits at first.
        ("Hi", "A table for 4 in Paris with French food, cheap", "Spanish then", "(no)", "I love that"),
        _place("spanish", "paris", "cheap", 8),
    ),
    Written(
        ("Hello", "Italian food in Rome for 2, please. Cheap!", "Hmm, no.", "no", "That looks great"),
        _place("italian", "rome", "cheap", 4),
    ),
    Written(
        ("Hey!", "Could you reserve a table for 6 people in Madrid?", "French", "pricey", "yes please"),
        _place("french", "madrid", "expensive", 8),
    ),
)
"""Dialogs that end in a booking."""

SECOND = (
    Written(
        (
            "Good afternoon!",
            "We're looking for a place to eat in Rome.",
            "Four of us.",
            "British.",
            "Cheap.",
            "Sounds good!",
        ),
        _place("british", "rome", "cheap", 8),
    ),
    Written(
        ("hi, i want to book a table for two people in london", "french", "expensive", "nope", "ok fine"),
        _place("french", "london", "expensive", 5),
    ),
    Written(
        ("Hello, my name is Anna.", "A table for 6 in Madrid", "French cuisine, please", "Expensive", "I'll take it"),
        _place("french", "madrid", "expensive", 8),
    ),
    Written(
        ("Can I have Indian food in Madrid tonight?", "There are 8 of us", "cheap please", "Yes!"),
        _place("indian", "madrid", "cheap", 8),
    ),
    Written(
        ("Hi", "Do you have a table for 4 in Paris?", "Anything but... no, Spanish.", "A cheap one.", "Perfect!"),
        _place("spanish", "paris", "cheap", 8),
    ),
    Written(
        (
            "Hello",
            "Book a table in Bombay for 6, Italian, moderate.",
            "No, not Italian. Spanish!",
            "(no)",
            "Let's do it.",
        ),
        _place("spanish", "bombay", "moderate", 7),
    ),
    Written(
        ("Hey there", "table for 8, paris, french food, moderate prices", "something else please", "great"),
        _place("french", "paris", "moderate", 7),
    ),
    Written(
        ("Hello", "I'm looking for a cheap Italian restaurant in Rome", "2", "I don't like that.", "It's perfect"),
        _place("italian", "rome", "cheap", 5),
    ),
    Written(
        (
            "hi",
            "a table for four in madrid with italian food in an expensive price range",
            "sorry, make that French and cheap",
            "(no)",
            "i love that",
        ),
        _place("french", "madrid", "cheap", 8),
    ),
    Written(
        ("Good day.", "I need a table.", "Spanish food, I think.", "Rome, please.", "6.", "Expensive.", "Let's do it"),
        _place("spanish", "rome", "expensive", 7),
    ),
    Written(
        ("Hello!", "Table for 2 in Bombay with French food.", "Moderate.", "No.", "No!", "Okay, that's great."),
        _place("french", "bombay", "moderate", 6),
    ),
    Written(
        ("hi", "british food in london for 8, expensive", "What is the address?", "no", "it's perfect"),
        _place("british", "london", "expensive", 7),
    ),
    Written(
        ("Hi!", "Italian restaurant in London for eight", "expensive", "Actually for 6, and cheap.", "(No.)", "Great!"),
        _place("italian", "london", "cheap", 6),
    ),
    Written(
        ("Hello", "I'd like Thai food in Tokyo for 2, cheap", "Instead, Italian in Rome.", "(no)", "I love that"),
        _place("italian", "rome", "cheap", 8),
    ),
    Written(
        ("Hello hello", "May I reserve a table for 8 people in Rome? French, cheap.", "no thanks", "yes"),
        _place("french", "rome", "cheap", 6),
    ),
)
"""More of them."""

THIRD = (
    Written(
        (
            "Good evening!",
            "We'd love some indian food tonight",
            "london",
            "there are 4 of us",
            "not too pricey - cheap",
            "sounds good",
        ),
        _place("indian", "london", "cheap", 7),
    ),
    Written(
        ("hi", "I don't care which cuisine", "in paris", "for 4 people", "cheap", "Italian, then.", "Great!"),
        _place("italian", "paris", "cheap", 8),
    ),
    Written(
        ("hi", "english food in london for eight", "expensive", "British, then", "I like it"),
        _place("british", "london", "expensive", 8),
    ),
    Written(
        ("Could I get a table at 7pm in Berlin?", "Paris then", "Spanish", "3 people", "cheap", "four", "(no)", "Yes!"),
        _place("spanish", "paris", "cheap", 8),
    ),
    Written(
        ("Hello, Italian in Madrid for 6, expensive", "Actually make that London", "(no)", "yes please"),
        _place("italian", "london", "expensive", 4),
    ),
    Written(
        ("Hi. In Paris. For 4. Not French, Italian. Cheap.", "No", "I'll take it"),
        _place("italian", "paris", "cheap", 6),
    ),
    Written(
        ("i'd like thai food", "italian then, in rome, for 2, cheap", "no no I meant spanish", "(no)", "great"),
        _place("spanish", "rome", "cheap", 5),
    ),
)
NOTHING_FITS = (
    Written(("Hello!", "I'd like a table for 4 in Paris, French food, cheap.")),
    Written(("Hi", "Can you book a table in Paris?", "French.", "For 4.", "Cheap.")),
    Written(("Hello", "A table for 8 in London with Spanish food, cheap", "No, I don't like that.")),
)
"""Dialogs in which nothing fits, or nothing but what was refused."""
