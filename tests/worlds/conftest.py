"""A busy machine is not a failure: no test of the worlds has a time limit."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("worlds", deadline=None)
settings.load_profile("worlds")
