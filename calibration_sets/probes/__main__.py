"""Write the set of probes: ``python -m calibration_sets.probes [FOLDER]``, default the one that ships.

Prints the table of kinds that ``docs/probes.md`` shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

from calibration_sets.probes.builder import build_probes
from calibration_sets.probes.kind_table import render_kind_table
from calibration_sets.writer import write_set

__all__ = ["main"]

_SHIPPED = Path(__file__).resolve().parent.parent / "data" / "probes"


def main(arguments: list[str]) -> int:
    """Write the set into the folder that the first argument names; the process's exit status."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]) if arguments else _SHIPPED
    probes = build_probes()
    write_set(probes, folder, overwrite=True)
    print(f"{len(probes.items)} items, {len(probes.human_labels)} labels in {folder}; digest {probes.digest[:16]}")
    print(render_kind_table(probes), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
