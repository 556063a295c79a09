"""Write prediction_powered.json: prediction-powered means and their intervals from ppi-python.

Made with ppi-python 0.2.3, numpy 2.4.6 and scipy 1.17.1 on Python 3.11. Run in this folder, in an environment that has
ppi-python: ``python make_prediction_powered.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate


def case(seed: int, n: int, n_others: int, right: float, power: float | None) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + n_others) < 0.4).astype(float)
    verdicts = np.array([rng.binomial(3, right if label else 1 - right) / 3 for label in truth])
    labelled = truth[:n], verdicts[:n], verdicts[n:]
    low, high = ppi_mean_ci(*labelled, alpha=0.05, lam=power)
    return {
        "truth": labelled[0].tolist(),
        "predicted": labelled[1].tolist(),
        "unlabelled": labelled[2].tolist(),
        "power": power,
        "value": float(np.squeeze(ppi_mean_pointestimate(*labelled, lam=power))),
        "low": float(np.squeeze(low)),
        "high": float(np.squeeze(high)),
    }


if __name__ == "__main__":
    cases = [
        case(seed, n, n_others, right, power)
        for seed, (n, n_others) in enumerate([(20, 80), (50, 50), (60, 30), (100, 100)])
        for right in (0.9, 0.6)
        for power in (None, 0.0, 0.5, 1.0)
    ]
    Path("prediction_powered.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="utf-8")
