"""qrn demo"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from query_reduction import worlds
from query_reduction.cli.interrupt import train_with_progress
from query_reduction.cli.output import console, notes, print_json
from query_reduction.explain.terminal import gate_table
from query_reduction.model import StoryModel, model_of
from query_reduction.native.threads import available_cores, use_threads
from query_reduction.settings import Between
from query_reduction.sources.named import load_parts
from query_reduction.training.run import Run, best_restart, run_result, trained_model
from query_reduction.training.run_folder import RunFolder
from query_reduction.training.setup import setup

__all__ = ["Demo"]

_TASK = "2"
_QUESTIONS = 2000
_RESTARTS = 6
_EPOCHS = 60
_NEXT = """
Next, try one of these:
  qrn ask task2 --story "Mary got the milk. Mary went home." --question "Where is the milk?"
  qrn serve            watch the question being rewritten, on a page of this machine
  qrn train --data YOUR-STORIES.jsonl"""


@dataclass(frozen=True)
class Demo:
    """See it work, in under a minute.

    Generates stories that need two facts, trains a 2r network on them, and answers a question about a new story.

        qrn demo
        qrn demo --seed 7
    """

    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """A different seed gives different stories and initial weights."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> int:
        """Generate, train, evaluate, answer and explain."""
        use_threads(available_cores())
        notes.print(f"generating {_QUESTIONS} questions that need two facts each …")
        parts = load_parts("generated", _TASK, questions=_QUESTIONS, seed=self.seed)
        settings = {"restarts": _RESTARTS, "max_epochs": _EPOCHS, "seed": self.seed}
        run = Run(parts, setup("2r", changes=settings))
        if stop := train_with_progress(run, RunFolder()):
            return stop.code
        result = run_result(run, "demo")
        model = model_of(trained_model(run, best_restart(run)))
        assert isinstance(model, StoryModel)
        story = worlds.generate(int(_TASK), 5, seed=self.seed + 1, split="test")[-1]
        question = story.questions[-1]
        sentences = story.sentences[: question.after]
        trace = model.explain(sentences, question.text, endings=False)
        if self.json:
            print_json(
                result.as_json() | {"question": question.text, "answer": trace.answer, "right_answer": question.answer}
            )
            return 0
        console.print(
            f"test accuracy [bold]{100 - (result.chosen.test_error or 0.0):.1f}%[/] on {result.questions['test']} "
            f"questions of unseen stories (best of {_RESTARTS} restarts on development questions; "
            f"{result.seconds:.0f} s)\n"
        )
        console.print("A story it has never seen, and its gates: which sentences matter to the query?")
        console.print(gate_table(trace, width=console.width))
        console.print(f"answer: [bold]{trace.answer}[/] ({trace.confidence:.0%} sure); true: {question.answer}")
        console.print(_NEXT, markup=False, highlight=False)
        return 0
