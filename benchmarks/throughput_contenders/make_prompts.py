"""Made-up items and what a grader reads of each, one JSON object a line: ``make_prompts.py FILE NUMBER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from calibration_sets import Item, parse_reference
from graders.prompt_library import load_prompt


def main() -> None:
    prompt = load_prompt("simpleqa@1.0.0")
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for number in range(int(sys.argv[2])):
            row = {
                "id": f"item-{number}",
                "question": f"In which year was observatory number {number} founded?",
                "reference": f"{1500 + number % 500}",
                "response": f"Observatory number {number} was founded in {1500 + number * 7 % 500}.",
            }
            item = Item(row["id"], row["question"], parse_reference(row["reference"]), row["response"], row["id"])
            file.write(json.dumps({**row, "prompt": prompt.render(item)}) + "\n")


main()
