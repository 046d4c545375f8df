"""A hook of mkdocs: the reference of the command line is made when the site is built, so it is never out of date."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from query_reduction.cli.reference import reference


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, "reference/command-line.md", content=reference()))
    return files
