"""The public interface changes on purpose only: what it is stands in public_api.txt.

After a change that is meant, ``QRN_WRITE_API=1 pytest tests/test_public_api.py`` writes the file anew.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import query_reduction

FILE = Path(__file__).with_name("public_api.txt")


def described() -> Iterator[str]:
    for name in sorted(query_reduction.__all__):
        value = getattr(query_reduction, name)
        if inspect.isclass(value):
            yield f"class {name}"
            fields = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
            yield from (f"  {name}.{field}" for field in fields)
            for member, own in inspect.getmembers(value):
                if not member.startswith("_") and member not in fields and not hasattr(Exception, member):
                    yield f"  {name}.{member}{_signature(own)}"
        elif callable(value):
            yield f"{name}{_signature(value)}"
        else:
            yield name


def _signature(value: object) -> str:
    """Names and defaults; how annotations are shown differs between versions of Python."""
    if not callable(value):
        return ""
    parameters = inspect.signature(value).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain))


def test_the_public_interface_is_as_written_down() -> None:
    text = "\n".join(described()) + "\n"
    if os.environ.get("QRN_WRITE_API"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text
