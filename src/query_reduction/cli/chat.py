"""qrn chat"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, notes, print_json
from query_reduction.dialog.knowledge import KnowledgeBase
from query_reduction.dialog_session import Said, Session
from query_reduction.errors import InputError
from query_reduction.explain.terminal import gate_table
from query_reduction.files import write_atomically
from query_reduction.model import StoryModel, load_listed

__all__ = ["Chat"]

_COMMANDS = (
    "/why shows the gates behind the last response, /reset starts over, /save FILE, /quit; an empty line is silence"
)
_ENDINGS = frozenset(["quit", "exit", "bye", "goodbye", "bye bye"])


@dataclass(frozen=True)
class Chat:
    """Talk to a model trained on dialogs.

    When it calls the knowledge base, the rows found enter the conversation and it continues by itself, so that a table
    can be booked from the greeting to the phone number.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model."""
    kb: Path | None = None
    """The knowledge base: bAbI rows (1 the_place R_cuisine thai), or .jsonl with one place per line. Default: the
    places a copying model saw in training."""
    json: bool = False
    """Print each response as one JSON object."""

    def run(self) -> int:
        """Run a conversation until the input ends."""
        model = load_listed(self.model)
        if isinstance(model, StoryModel):
            raise InputError(
                f"{self.model} answers questions about stories: use 'qrn ask', or train with --data dialog"
            )
        knowledge = KnowledgeBase.read(self.kb) if self.kb else KnowledgeBase(model.task.known_rows())
        model = model.with_knowledge(knowledge.rows)
        session = Session(model, knowledge)
        if not self.json:
            notes.print(_COMMANDS, style="dim", markup=False)
        while (line := _next_line()) is not None:
            command, _, argument = line.partition(" ")
            if line.lower().strip("/ .!") in _ENDINGS:
                break
            if command == "/reset":
                session = Session(model, knowledge)
                notes.print("a new conversation", style="dim")
            elif command == "/why":
                _show_why(session)
            elif command == "/save":
                _save(session, argument.strip())
            elif command.startswith("/"):
                notes.print(f"no command {command}: {_COMMANDS}", style="dim", markup=False)
            else:
                for said in session.say(line):
                    self._show(said)
        return 0

    def _show(self, said: Said) -> None:
        response = said.response
        if self.json:
            print_json((asdict(response) if response else {}) | {"rows": list(said.rows), "advice": list(said.advice)})
            return
        if response:
            console.print(f"bot: {response.text}", style="bold", markup=False, soft_wrap=True)
        if said.rows:
            console.print(f"     ({len(said.rows)} rows from the knowledge base)", style="dim", markup=False)
        for line in said.advice:
            console.print(f"     ({line})", style="yellow", markup=False, soft_wrap=True)
        if response and response.unknown_words:
            unknown = ", ".join(response.unknown_words[:10])
            console.print(f"     (words ignored: {unknown})", style="yellow", markup=False)


def _next_line() -> str | None:
    try:
        # What is piped in needs no prompt, and what is piped out must hold nothing but responses.
        return input("you: " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None
    except UnicodeDecodeError:
        notes.print("that was not UTF-8 text; please say it again", style="yellow")
        return ""


def _show_why(session: Session) -> None:
    trace = session.trace()
    if trace is None:
        notes.print("the network read nothing for the last response", style="dim")
    else:
        console.print(gate_table(trace, width=console.width))


def _save(session: Session, name: str) -> None:
    if not name:
        notes.print("name a file: /save FILE", style="yellow")
        return
    try:
        write_atomically(Path(name), session.as_text())
    except InputError as error:
        notes.print(str(error), style="yellow", markup=False)
    else:
        notes.print(f"saved as {name}", style="dim", markup=False)
