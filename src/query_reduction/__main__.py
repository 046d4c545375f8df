"""``python -m query_reduction`` is ``qrn``."""

import sys

from query_reduction.cli import main

sys.exit(main())
