"""Labels into files of other programs and back, and into calibration sets."""
