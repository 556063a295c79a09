"""From a raw question set to a verified subset, in named stages: one module a stage, the rest carries them.

Lower modules never import higher ones: the records and settings, then the stages, then the steps that bind a stage to
its settings and evidence, then the run, then the commands. An embedder or a judge comes in as a callable.
"""
