"""Reading a verdict in a reply: a label, or a failure with its reason, never a default."""

from __future__ import annotations

from graders.parsing.verdict_parser import PARSER_VERSION, parse_completion, parse_verdict

__all__ = ["PARSER_VERSION", "parse_completion", "parse_verdict"]
