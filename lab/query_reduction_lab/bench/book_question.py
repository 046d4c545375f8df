"""One question about a long text, asked in a process that has the model: prints seconds and answer as JSON."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from query_reduction.model import StoryModel, load
from query_reduction.text.formats.lines import text_lines

__all__: list[str] = []

_WARM_UP = "Nothing was there. Nobody came."


def main() -> None:
    """Read the file and answer, once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("story", type=Path)
    parser.add_argument("question")
    options = parser.parse_args()
    model = load(options.model)
    assert isinstance(model, StoryModel)
    model.answer_from([_WARM_UP], options.question)
    started = time.perf_counter()
    answer = model.answer_from(text_lines(options.story, []), options.question)
    print(json.dumps({"seconds": time.perf_counter() - started, "answer": answer.text}))


if __name__ == "__main__":
    main()
