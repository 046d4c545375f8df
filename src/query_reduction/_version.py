"""The version, in a module of its own so that ``qrn --version`` need not load anything else."""

__version__ = "0.2.0"
