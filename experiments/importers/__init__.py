"""What other tools have recorded: their samples as items, their graders' replies as completions.

One module a tool reads its files into :class:`~experiments.importers.answers.ImportedAnswer`; the rest of the
room turns these into a run of the store, or into the folder of a set.
"""
