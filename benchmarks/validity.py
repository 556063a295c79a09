"""Check intervals, tests and corrections by simulation, and write ``docs/validity.md``.

Run it where the package is installed: ``python benchmarks/validity.py --full --out docs/validity.md``. With ``--parts``
only some sections are made; the others are kept as they stand in the file. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from validity.correction_page import correction_section
from validity.interval_page import interval_section
from validity.rejection_page import rejection_section

SECTIONS: dict[str, Callable[..., str]] = {
    "intervals": interval_section,
    "tests": rejection_section,
    "corrections": correction_section,
}
HEAD = """\
# Validity: what the error bars are worth

Simulated data sets with a known truth, given to the package's own functions: how often intervals hold the truth, how
often tests reject where nothing differs, and how far corrected scores are off. All of this file is written by

    {command}

with seed {seed}, and the same command writes the same file. A share found in S data sets has a Monte Carlo error of
sqrt(p (1 - p) / S); differences of less than two such errors mean nothing. `--quick` takes a minute and shows the
same tables from few data sets. Reduced grids of all three parts are in the slow part of the tests.

"""


def main() -> None:
    """Simulate the parts asked for and write the document, anew after each part."""
    options = parse_options()
    sections = read_sections(options.out) if options.out else {}
    for part in options.parts:
        started = time.monotonic()
        sections[part] = SECTIONS[part](quick=options.quick, seed=options.seed, processes=options.processes)
        print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        text = write_document(sections, quick=options.quick, seed=options.seed)
        if options.out:
            options.out.write_text(text, encoding="utf-8")
    if not options.out:
        print(text)


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Validity of intervals, tests and corrections, by simulation.")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="a few cells and data sets: under a minute")
    size.add_argument("--full", action="store_true", help="the whole grid: under 25 minutes on two cores")
    parser.add_argument("--out", type=Path, help="file to write; printed without it")
    parser.add_argument("--parts", type=read_parts, default=list(SECTIONS), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args(arguments)


def read_parts(text: str) -> list[str]:
    """Names of parts, divided by commas."""
    parts = text.split(",")
    strange = [part for part in parts if part not in SECTIONS]
    if strange:
        raise argparse.ArgumentTypeError(f"unknown part {strange[0]!r}; expected some of {','.join(SECTIONS)}")
    return parts


def read_sections(path: Path) -> dict[str, str]:
    """Sections of a document written before, by part."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    pieces = re.split(r"^<!-- part: (\w+) -->\n", text, flags=re.MULTILINE)
    return {name: body.rstrip("\n") + "\n" for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def write_document(sections: dict[str, str], *, quick: bool, seed: int) -> str:
    """The whole document: head, then each part that has been made."""
    size = "--quick" if quick else "--full"
    command = f"python benchmarks/validity.py {size} --out docs/validity.md" + (f" --seed {seed}" if seed != 1 else "")
    bodies = [f"<!-- part: {name} -->\n{sections[name]}" for name in SECTIONS if name in sections]
    return HEAD.format(command=command, seed=seed) + "\n".join(bodies)


if __name__ == "__main__":
    main()
