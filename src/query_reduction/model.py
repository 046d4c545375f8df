"""A trained model, ready to use: it answers questions about stories, or takes the system's side of a dialog.

model = load("task2")
model.answer(["Mary got the milk.", "Mary went to the garden."], "Where is the milk?").text
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from query_reduction.dialog.responses import Response
from query_reduction.errors import InputError
from query_reduction.explain.trace import Trace, trace_answer, trace_story
from query_reduction.model_file import MODEL_FILE, SavedModel, file_format, load_model, save_model
from query_reduction.models import find_model
from query_reduction.network import Network
from query_reduction.qrn.reader import QueryReduction
from query_reduction.reading.predictions import Prediction, in_chunks, predict_answers, predict_responses
from query_reduction.reading.protocol import Given, Scores, Task
from query_reduction.reading.reading import check_asked
from query_reduction.reading.stories import Answer, StoryTask
from query_reduction.rivals.registry import name_of
from query_reduction.text.stories import Question, Story

if TYPE_CHECKING:
    from query_reduction.dialog.dialogs import DialogTask
    from query_reduction.network import Floats
    from query_reduction.pointing.model import PointerModel
    from query_reduction.qrn.streaming import Streaming

__all__ = ["DialogModel", "Model", "StoryModel", "load", "load_listed", "model_of"]

_POINTING = "query-reduction pointing model"


class Model(ABC):
    """What models of stories and of dialogs have in common."""

    task: Task

    def __init__(self, saved: SavedModel) -> None:
        self.saved = saved
        self.network: Network = saved.network()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.network_name}, {len(self.task.vocabulary.answers)} answers>"

    @property
    def shows_reading(self) -> bool:
        """Whether its network has gates or attention to show."""
        return self.network.shows_reading

    @property
    def network_name(self) -> str:
        """The short name of its network: ``2r``, ``gru``."""
        return name_of(self.saved.config)

    @property
    def card(self) -> dict[str, Any]:
        """Where it comes from and what it scored."""
        return dict(self.saved.card)

    def evaluate(self, stories: Sequence[Story]) -> Scores:
        """Its error on all questions of some stories or dialogs."""
        if not any(story.questions for story in stories):
            raise InputError("stories: there are no questions to evaluate on")
        return self.task.score([self.network], stories)[0]

    def given(self, stories: Sequence[Story]) -> list[Given]:
        """Its answers to all questions of some stories or dialogs, and whether each is right."""
        return self.task.given(self.network, stories)

    def predict(self, stories: Iterable[Story]) -> Iterator[Prediction]:
        """Its answers to all questions of some stories, or its responses to all turns of some dialogs, in order.

        Stories are taken as they are needed, a few thousand questions at a time: there may be any number of them.
        """
        for chunk in in_chunks(stories):
            yield from self.predict_together(chunk)

    @abstractmethod
    def predict_together(self, stories: Sequence[Story]) -> list[Prediction]:
        """The same for as many stories as fit into memory."""

    def save(self, path: str | Path) -> Path:
        """Write the model: to a file that ends in .safetensors, or into a folder. Returns the file."""
        target = Path(path)
        file = target if target.suffix == ".safetensors" else target / MODEL_FILE
        save_model(file, self.saved)
        return file


class StoryModel(Model):
    """Answers questions about stories."""

    task: StoryTask

    def __init__(self, saved: SavedModel, task: StoryTask) -> None:
        super().__init__(saved)
        self.task = task

    @property
    def decodes_questions(self) -> bool:
        """Whether the model can decode its reduced queries into words."""
        return bool(getattr(self.saved.config, "decode_questions", False))

    def answer(self, story: str | Sequence[str], question: str) -> Answer:
        """Answer one question about a story: a text, or a list of sentences."""
        return self.answer_many([(story, question)])[0]

    def answer_many(self, asked: Sequence[tuple[str | Sequence[str], str]]) -> list[Answer]:
        """Answer several questions, each about its own story, in one batch."""
        for story, question in asked:
            check_asked(story, question)
        return self.task.answer(self.network, asked)

    def answer_from(
        self, lines: Iterable[str], question: str, *, progress: Callable[[int], None] | None = None
    ) -> Answer:
        """Answer a question about a text of any length, given line by line: an open file, or any iterator.

        Query-Reduction Networks, and all models that read only the last sentences, need no more memory for a longer
        text. Unknown names are not read as known ones, and sentences that are left out are not listed. ``progress`` is
        told from time to time how many sentences were read.
        """
        # Only long texts need these.
        from query_reduction.reading.streaming import answer_recent, answer_streaming

        if not question.strip():
            raise InputError("question: it is empty")
        task = self.task
        if task.options.memory or not isinstance(self.network, QueryReduction):
            return answer_recent(self.answer, task, lines, question, progress)
        return answer_streaming(*self.streaming, task, lines, question, progress)

    @cached_property
    def streaming(self) -> tuple[Streaming, Floats]:
        """Its Query-Reduction Network, reading block by block, and the weights that turn a state into answers."""
        from query_reduction.qrn.streaming import Streaming

        if not isinstance(self.network, QueryReduction):
            raise InputError(f"{self.network_name} cannot read block by block: a Query-Reduction Network is needed")
        return Streaming(self.network), self.network.weights["answer_weight"]

    def predict_together(self, stories: Sequence[Story]) -> list[Prediction]:
        """See ``Model``."""
        return predict_answers(self.network, self.task, stories)

    def explain(self, story: str | Sequence[str], question: str, *, endings: bool = True) -> Trace:
        """What the network did at every sentence: gates, reduced queries and contributions. Notebooks draw it.

        With ``endings`` the story is also read up to each sentence, for the answer if it had ended there.
        """
        check_asked(story, question)
        return trace_story(self.network, self.task, story, question, endings=endings)


class DialogModel(Model):
    """Gives the system's side of dialogs."""

    task: DialogTask

    def __init__(self, saved: SavedModel, task: DialogTask) -> None:
        super().__init__(saved)
        self.task = task

    def respond(self, history: Sequence[str], utterance: str) -> Response:
        """The system's next words, after a history in which user and system take turns, the user first."""
        if isinstance(history, str):
            raise InputError("history: a list of utterances is needed, not one text")
        if len(history) % 2:
            raise InputError("history: user and system take turns, so it must hold an even number of utterances")
        turns = [
            Question(said, answered, after)
            for after, (said, answered) in zip(
                range(0, len(history), 2), zip(history[::2], history[1::2], strict=True), strict=True
            )
        ]
        return self.respond_to(Story(tuple(history), (*turns, Question(utterance, "", len(history)))))

    def respond_to(self, dialog: Story) -> Response:
        """The response to the last question of a dialog."""
        return self.task.respond_to_last(self.network, dialog)

    def predict_together(self, stories: Sequence[Story]) -> list[Prediction]:
        """See ``Model``."""
        return predict_responses(self.network, self.task, stories)

    def explain_dialog(self, dialog: Story) -> Trace:
        """What the network did with a dialog, as it reads it, at the last question."""
        return trace_answer(self.network, self.task, self.task.story(self.task.understand(dialog)), endings=False)

    def with_knowledge(self, rows: Sequence[tuple[str, str, str]]) -> DialogModel:
        """The same model for conversations about another knowledge base."""
        return DialogModel(self.saved, self.task.with_knowledge(rows))


def load(name: str | Path) -> StoryModel | DialogModel | PointerModel:
    """Open a model file, the folder of a training run, or a ready model by its name (``task2``)."""
    path = find_model(name)
    file = path / MODEL_FILE if path.is_dir() else path
    if file.is_file() and file_format(file).startswith(_POINTING):
        from query_reduction.pointing.model import PointerModel  # models with a list of answers do without

        return PointerModel.open(file)
    return model_of(load_model(path))


def load_listed(name: str | Path) -> StoryModel | DialogModel:
    """The same for what needs a model whose answers are a list; one that points at the text is an error."""
    model = load(name)
    if isinstance(model, Model):
        return model
    raise InputError(f"{name} points at the text: it works with 'qrn ask', 'qrn track' and 'qrn evaluate'")


def model_of(saved: SavedModel) -> StoryModel | DialogModel:
    """The usable model of a saved one."""
    if isinstance(saved.task, StoryTask):
        return StoryModel(saved, saved.task)
    from query_reduction.dialog.dialogs import DialogTask  # stories do without

    if isinstance(saved.task, DialogTask):
        return DialogModel(saved, saved.task)
    raise TypeError(f"no model for {type(saved.task).__name__}")
