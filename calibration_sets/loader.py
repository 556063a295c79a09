"""Calibration sets from folders.

A set is a folder of three files, all UTF-8, all read strictly: an unknown key, a missing one or a
value of another type is an error that names file and line.

``set.toml``
    ``name``, ``version`` (such as ``1.0.0``), ``rubric`` (``name@version``), ``scale`` (the name of
    one of :data:`calibration_sets.scale.SCALES`, or a table of ``labels``, worst first, and, where
    wanted, ``name``, ``level``, ``letters``, ``words``, ``positive``), ``label_source`` (``human``,
    ``published`` or ``construction``), ``licence``, ``source``, ``description``. All are needed.

``items.jsonl``
    One JSON object a line, records end at line feeds only. Needed: ``id``, ``question``,
    ``reference`` (as published), ``response`` (may be empty, not null). If wanted: ``aliases`` (list
    of strings), ``cluster`` (default: derived from the question's text), ``kind``, ``topic``,
    ``answer_type``, ``respondent`` (strings), ``metadata`` (object).

``human_labels.jsonl``
    One JSON object a line, one line for each rater, item and rubric. Needed: ``item`` (an id of
    ``items.jsonl``), ``digest`` (of the item's content that the person saw), ``rater``, ``label``.
    If wanted: ``rubric`` (default: the set's). :func:`calibration_sets.writer.stamp_labels` fills in
    the digests of a file written by hand. A set without labels has the file, with no lines in it,
    or has no such file.
"""
