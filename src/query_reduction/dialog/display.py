"""What people see of a dialog: names and responses as one would print them.

A table that anyone can edit (JSON) says how: ``{"names": {"the_place": "The Place"}, "responses": {"here it is _":
"There you go: _"}}``. An underscore in a response stands for its names, in their order. What the table does not have is
shown with its underscores as spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.heads.slots import API_CALL, cut
from query_reduction.text.formats.fields import BadRecordError, parse_json
from query_reduction.text.formats.stored import Bounds

__all__ = ["Display"]

_READ = Bounds(entries=1_000_000, letters=10_000)
_LARGEST_FILE = 50_000_000


@dataclass(frozen=True, slots=True)
class Display:
    """Display names, and templates of responses."""

    names: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, str] = field(default_factory=dict)
    """By response without its names, with an underscore for each."""

    def response(self, text: str) -> str:
        """A response as a person should see it."""
        said, *names = cut(text)
        if said == API_CALL:
            return f"looking for {', '.join(map(self.name, names))}"
        template = self.responses.get(said, said)
        parts = template.split("_")
        shown = self._joined(names)
        if len(parts) - 1 != len(shown):
            return self._plain(text)
        return "".join(part + name for part, name in zip(parts, [*shown, ""], strict=True))

    def name(self, name: str) -> str:
        """A name as a person should see it."""
        return self.names.get(name, name.replace("_", " "))

    def row(self, text: str) -> str:
        """A row of the knowledge base."""
        subject, relation, *value = text.split(maxsplit=2)
        return f"{self.name(subject)}: {relation.lower().removeprefix('r_')} {self.name(' '.join(value))}"

    def _plain(self, text: str) -> str:
        return " ".join(self.name(word) if "_" in word else word for word in text.split())

    def _joined(self, slots: list[str]) -> list[str]:
        """Names with the attribute that follows them, if it is one: ``phone``, ``address``."""
        shown: list[str] = []
        for slot in slots:
            if shown and "_" not in slot and slot not in self.names:
                shown[-1] = f"{slot.replace('_', ' ')} of {shown[-1]}"
            else:
                shown.append(self.name(slot))
        return shown

    @staticmethod
    def read(path: Path) -> Display:
        """Read a table; anything but names and texts is an error that says where."""
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise InputError(f"{path}: larger than {_LARGEST_FILE // 1_000_000} MB")
            return Display.from_json(parse_json(path.read_text(encoding="utf-8")))
        except (BadRecordError, UnicodeDecodeError, InputError) as error:
            raise InputError(f"{path}: {error}") from error
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"names": dict(self.names), "responses": dict(self.responses)}

    @staticmethod
    def from_json(value: Any) -> Display:
        """The inverse of ``as_json``."""
        table = _READ.mapping(value, "the display table")
        unknown = sorted(table.keys() - {"names", "responses"})
        if unknown:
            raise InputError(f"the display table has {unknown[0]!r}, but only names and responses are known")
        return Display(
            _READ.table(table.get("names", {}), "names"), _READ.table(table.get("responses", {}), "responses")
        )
