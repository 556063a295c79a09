"""Regimes: the same question with nothing, with its concepts, with its documents, and with distractors among them."""
