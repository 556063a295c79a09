"""How commands that correct for a grader's errors are told where these were measured."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.store.store_place import StorePlace, parse_place

__all__ = ["CalibrationGraderOption", "CalibrationStoreOption", "OtherGraderOption"]

CalibrationStoreOption = Annotated[
    StorePlace | None,
    typer.Option(
        "--calibration-store", parser=parse_place, metavar="PATH", help="Store of the calibration, if it is another."
    ),
]
CalibrationGraderOption = Annotated[
    str | None, typer.Option("--calibration-grader", help="Grader of the calibration, where it is another.")
]
OtherGraderOption = Annotated[
    bool, typer.Option("--other-grader-assumed", help="Take another grader's errors for those of --grader.")
]
