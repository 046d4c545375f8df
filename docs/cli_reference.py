"""A hook of mkdocs: pages that are made when the site is built, so that they are never out of date.

They are the reference of the command line, and the results, whose files are outside of the documentation.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from query_reduction.cli.reference import reference


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    files.append(File.generated(config, "reference/command-line.md", content=reference()))
    results = Path(config.config_file_path).parent / "results" / "README.md"
    plain = re.sub(r"!?\[([^]]*)\]\((?!http)[^)]*\)", r"\1", results.read_text(encoding="utf-8"))
    files.append(File.generated(config, "results.md", content=plain))
    return files
