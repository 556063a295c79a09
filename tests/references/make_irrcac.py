"""Write irrcac.json: Fleiss' kappa, Gwet's AC1 and AC2 and Krippendorff's alpha of small tables by irrCAC 0.4.4.

Run in an environment of its own: ``pip install irrCAC``, then ``python make_irrcac.py``.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from irrCAC.raw import CAC

LABELS = ["1", "2", "3", "4"]


def make_ratings(seed, n, raters, missing):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, size=n)
    codes = np.where(rng.random((n, raters)) < 0.4, rng.integers(1, 5, size=(n, raters)), truth[:, None])
    gone = rng.random((n, raters)) < missing
    gone[:, 0] = False
    return [
        [None if away else int(code) for code, away in zip(*row, strict=True)] for row in zip(codes, gone, strict=True)
    ]


def coefficients(ratings, weights):
    cac = CAC(pd.DataFrame(ratings, dtype=float), weights=weights, categories=[1.0, 2.0, 3.0, 4.0], digits=12)
    found = {name: getattr(cac, name)()["est"] for name in ("fleiss", "gwet", "krippendorff")}
    return {name: float(est["coefficient_value"]) for name, est in found.items()} | {
        "raw": float(found["fleiss"]["pa"])
    }


examples = []
for seed, n, raters, missing in [(1, 12, 3, 0.0), (2, 30, 5, 0.0), (3, 30, 4, 0.35), (4, 20, 6, 0.6)]:
    ratings = make_ratings(seed, n, raters, missing)
    by_weights = {name: coefficients(ratings, name) for name in ("identity", "linear", "quadratic")}
    examples.append({"ratings": ratings, "coefficients": by_weights})
text = json.dumps({"irrCAC": version("irrCAC"), "labels": LABELS, "examples": examples})
Path(__file__).with_name("irrcac.json").write_text(text + "\n", encoding="utf-8")
