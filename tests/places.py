"""Where tests find things: the repository, and the published data files where they exist."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
REAL_DATA = Path(os.environ.get("QRN_DATA", ROOT.parent / "shared" / "data"))
"""The folder of the published files; ``QRN_DATA`` names another one. Tests that need it are skipped without it."""
