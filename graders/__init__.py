"""Who judges: versioned grader prompts, models, and how their replies are read."""

from __future__ import annotations

from graders.client import ModelClient, Request
from graders.errors import GraderError, PromptError, UnknownModelError
from graders.grader import Grader
from graders.parsing import parse_completion, parse_verdict
from graders.prompt import GraderPrompt
from graders.prompt_library import list_prompts, load_prompt
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion, ParsedVerdict, Usage, Verdict

__all__ = [
    "CallFailure",
    "Completion",
    "Grader",
    "GraderError",
    "GraderPrompt",
    "ModelClient",
    "ParsedVerdict",
    "PromptError",
    "Request",
    "Sampling",
    "UnknownModelError",
    "Usage",
    "Verdict",
    "list_prompts",
    "load_prompt",
    "parse_completion",
    "parse_verdict",
]
