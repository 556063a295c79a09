"""Make variance_components.json: intraclass correlations by pingouin 0.7.0 (numpy and pandas as it brings them).

Run in an environment of its own: ``pip install pingouin==0.7.0``, then ``python make_variance_components.py``. The
first table is that of Shrout and Fleiss (1979, table 2: six targets, four judges), the others are random.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def correlate(table: np.ndarray) -> dict[str, object]:
    targets, judges = table.shape
    long = pd.DataFrame(
        {
            "target": np.repeat(np.arange(targets), judges),
            "judge": np.tile(np.arange(judges), targets),
            "score": table.ravel().astype(float),
        }
    )
    result = pingouin.intraclass_corr(long, targets="target", raters="judge", ratings="score")
    return {
        "table": table.tolist(),
        "icc": [float(value) for value in result["ICC"][:3]],
        "types": list(result["Type"][:3]),
    }


def main() -> None:
    rng = np.random.default_rng(1979)
    normal = rng.normal(size=(30, 1)) + rng.normal(size=(1, 5)) / 2 + rng.normal(size=(30, 5))
    binary = (rng.random((80, 3)) < rng.beta(0.6, 1.4, size=(80, 1))).astype(int)
    tables = {"shrout_fleiss": np.array(SHROUT_FLEISS), "normal": normal.round(3), "binary": binary}
    made = {"pingouin": pingouin.__version__, **{name: correlate(table) for name, table in tables.items()}}
    path = Path(__file__).with_name("variance_components.json")
    path.write_text(json.dumps(made, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
