"""How wide: a benchmark's scores corrected for the grader's errors, ranked and compared."""
