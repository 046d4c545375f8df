"""Stories that people write: the default training on domains of one's own, collected from finished runs.

    qrn train --data own-domains/wards --out runs/wards
    python -m query_reduction_lab.studies.own_domains runs/wards runs/home

Each run says by which command, at which commit and on which data it was trained; the test was looked at once, at the
end.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from query_reduction.training.run_folder import RESULT_FILE
from query_reduction_lab.studies.publish import RESULTS, publish

_KEPT = (
    "command",
    "commit",
    "version",
    "machine",
    "data",
    "network",
    "questions",
    "seconds",
    "dev_error",
    "test_error",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished trainings")
    parser.add_argument("--out", type=Path, default=RESULTS / "own-domains.json")
    chosen = parser.parse_args()
    domains = {}
    for folder in chosen.runs:
        result = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
        about = {name: result[name] for name in _KEPT}
        about["restarts"] = [restart["test_error"] for restart in result["restarts"]]
        about["seed"] = result["settings"]["recipe"]["seed"]
        domains[result["data"]["name"]] = about
    publish(chosen.out, {"domains": domains}, "own_domains.py")


if __name__ == "__main__":
    main()
