"""qrn export"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, print_json
from query_reduction.cli.story_input import sentences_from
from query_reduction.errors import InputError
from query_reduction.export.targets import export_model
from query_reduction.model import load_listed

__all__ = ["Export"]


@dataclass(frozen=True)
class Export:
    """Write a trained model for use elsewhere.

    page.html: one file that answers and shows its gates in any browser, without a server. model.onnx: the network for
    onnxruntime and others (extra 'export'). A folder: safetensors, config.json and a model card for the Hugging Face
    Hub. Pages and ONNX are made of Query-Reduction Networks that read stories, folders of any model.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    to: Path
    """Where to: a name that ends in .html or .onnx, or a folder."""
    story: str | None = None
    """With .html: a text file with the story the page opens with; by default one of its own data, or a generated one
    for ready models."""
    question: str | None = None
    """With .html: the question it opens with."""
    json: bool = False
    """Print what was written as one JSON object."""

    def run(self) -> int:
        """Export."""
        if (self.story is None) != (self.question is None):
            raise InputError("--story and --question belong together")
        story = [] if self.story is None else sentences_from(self.story)
        written = export_model(load_listed(self.model), self.to, story=story, question=self.question or "")
        sizes = {str(path): path.stat().st_size for path in written}
        if self.json:
            print_json({"files": sizes})
        else:
            for path, size in sizes.items():
                console.print(f"{path} ({size / 1000:.0f} kB)", markup=False)
        return 0
