"""Every Python example of the documentation runs, in the order of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "```python" in path.read_text(encoding="utf-8")]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "examples.py"
    script.write_text("\n".join(_BLOCK.findall(page.read_text(encoding="utf-8"))), encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_tutorial_adds_a_network_in_sixty_lines() -> None:
    first = _BLOCK.findall((DOCS / "adding-a-network.md").read_text(encoding="utf-8"))[0]
    assert len(first.splitlines()) <= 60
