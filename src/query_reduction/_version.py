"""The version, in a separate module so that ``qrn --version`` need not load anything else."""

__version__ = "0.3.0"
