"""Attack everything, and write the outcome to results/attack.md.

The arguments of ``python -m query_reduction_lab.attack``:

(none)           all rows, in full: about two hours
--short          a small part of each, as CI does it; nothing is written without --write
kills fuzz       some rows; the others keep what is written
fuzz:models      one target of the fuzzing; or one command of kills: or signals:, or one attacker of load:
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module

from query_reduction.origin import provenance
from query_reduction_lab.attack.attackers import KINDS
from query_reduction_lab.attack.commands import COMMANDS
from query_reduction_lab.attack.fuzz_targets import TARGETS
from query_reduction_lab.attack.record import Row
from query_reduction_lab.attack.report import write_report
from query_reduction_lab.attack.sanitizers import KINDS as SANITIZERS
from query_reduction_lab.attack.signals import SIGNALLED

_ROWS = ("flips", "same_bits", "fuzz", "kills", "signals", "sanitizers", "load", "cluster", "growth")


def main() -> int:
    """Run; exit code 1 if something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    split: dict[str, Iterable[str]] = {
        "fuzz": TARGETS,
        "kills": COMMANDS,
        "signals": SIGNALLED,
        "sanitizers": SANITIZERS,
        "load": KINDS,
    }
    parts = [f"{name}:{part}" for name, names in split.items() for part in names]
    parser.add_argument("rows", nargs="*", choices=[[], *_ROWS, *parts], help="which; default: all")
    parser.add_argument("--short", action="store_true", help="a small part of each")
    parser.add_argument("--write", action="store_true", help="with --short: write what it found all the same")
    chosen = parser.parse_args()
    held = True
    origin = provenance()  # before results are written: the commit they come from is the one without them
    for name in chosen.rows or _ROWS:
        module, _, part = name.partition(":")
        found: list[Row] = import_module(f"query_reduction_lab.attack.{module}").run(
            chosen.short, *([part] if part else [])
        )
        for row in found:
            held = held and row.held
            print(f"{'held  ' if row.held else 'FAILED'}  {row.test}: {row.tries} tries; {row.found}", flush=True)
        if chosen.write or not chosen.short:
            write_report(name, found, origin)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
