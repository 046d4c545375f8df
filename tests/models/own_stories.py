"""Short stories as somebody makes them up who tries a model for the first time: (model, story, question, answer)."""

from __future__ import annotations

OWN_STORIES: list[tuple[str, str, str, str]] = [
    ("task1", "Mary went to the kitchen.", "Where is Mary?", "kitchen"),
    (
        "task1",
        "Mary went to the kitchen. John moved to the garden. Mary went to the office.",
        "Where is Mary?",
        "office",
    ),
    ("task2", "Mary got the milk. Mary went to the garden.", "Where is the milk?", "garden"),
    ("task2", "Mary went to the kitchen. Mary got the milk. Mary went to the garden.", "Where is the milk?", "garden"),
    (
        "task2",
        "Mary went to the kitchen. Mary got the milk there. Mary went to the garden.",
        "Where is the milk?",
        "garden",
    ),
    (
        "task2",
        "John moved to the office. John took the apple. John went to the hallway. John dropped the apple. "
        "John went to the garden.",
        "Where is the apple?",
        "hallway",
    ),
    ("task2", "Sandra went to the bedroom.", "Where is Sandra?", "bedroom"),
    (
        "task3",
        "Mary got the milk. Mary went to the kitchen. Mary went to the garden.",
        "Where was the milk before the garden?",
        "kitchen",
    ),
    ("task4", "The kitchen is north of the office.", "What is north of the office?", "kitchen"),
    ("task5", "Mary gave the milk to Fred.", "Who did Mary give the milk to?", "Fred"),
    ("task6", "Mary went to the kitchen.", "Is Mary in the garden?", "no"),
    ("task6", "Mary went to the kitchen.", "Is Mary in the kitchen?", "yes"),
    ("task7", "Mary got the milk. Mary took the apple.", "How many objects is Mary carrying?", "two"),
    ("task8", "Mary got the milk. Mary took the apple. Mary dropped the milk.", "What is Mary carrying?", "apple"),
    ("task9", "Mary is not in the kitchen.", "Is Mary in the kitchen?", "no"),
    ("task10", "Bill is either in the kitchen or the park.", "Is Bill in the park?", "maybe"),
    ("task11", "Mary went to the kitchen. Then she went to the garden.", "Where is Mary?", "garden"),
    ("task12", "Mary and John went to the garden.", "Where is John?", "garden"),
    ("task13", "Mary and John went to the garden. Then they went to the office.", "Where is John?", "office"),
    (
        "task14",
        "Julie went to the school yesterday. This morning Julie went to the park.",
        "Where was Julie before the park?",
        "school",
    ),
    ("task15", "Mice are afraid of cats. Gertrude is a mouse.", "What is gertrude afraid of?", "cat"),
    ("task16", "Lily is a swan. Lily is white. Greg is a swan.", "What color is Greg?", "white"),
    (
        "task17",
        "The triangle is above the pink rectangle. The blue square is to the left of the triangle.",
        "Is the pink rectangle to the right of the blue square?",
        "yes",
    ),
    (
        "task18",
        "The chocolate fits inside the box. The box fits inside the suitcase.",
        "Does the suitcase fit in the chocolate?",
        "no",
    ),
    (
        "task19",
        "The kitchen is north of the hallway. The garden is east of the kitchen.",
        "How do you go from the hallway to the garden?",
        "n,e",
    ),
    ("task20", "Jason is thirsty.", "Where will jason go?", "kitchen"),
    ("task20", "Sumit is bored.", "Where will sumit go?", "garden"),
]
