"""mistrial: every case judged once by a judge behind an OpenAI-compatible address, with its cache on disk."""

from __future__ import annotations

import json
import os

from measured import measured, read_options, read_prompts

OPTIONS = read_options(__doc__)
os.environ["MISTRIAL_BASE_URL"] = OPTIONS.url


def main() -> None:
    from mistrial.cli import app
    from typer.testing import CliRunner

    cases = OPTIONS.folder / "cases.jsonl"
    with cases.open("w", encoding="utf-8") as file:
        for row in read_prompts(OPTIONS):
            case = {"id": row["id"], "inputs": row["prompt"], "outputs": row["response"]}
            file.write(json.dumps({**case, "reference_outputs": row["reference"]}) + "\n")
    arguments = ["run", str(cases), "-j", "custom:object", "--runs", str(OPTIONS.choices)]
    arguments += ["-c", str(OPTIONS.connections), "--out-dir", str(OPTIONS.folder / "kept"), "--html", "none"]
    with measured(OPTIONS) as measure:
        result = CliRunner().invoke(app, arguments)
        if result.exit_code:
            raise SystemExit(result.output)
        runs = sorted((OPTIONS.folder / "kept" / "runs").glob("*.json"))
        verdicts = json.loads(runs[-1].read_text(encoding="utf-8"))["run"]["verdicts"]
        measure.verdicts = sum(verdict["value"] is not None for verdict in verdicts)


main()
