"""How many tokens a request will take, before it is made."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from graders.client import Request
from graders.grader import Grader
from graders.reading_turns import most_turns
from graders.verdict import Usage

__all__ = ["TokenEstimate", "estimate_request", "estimate_tokens"]

_CHARACTERS_A_TOKEN = 4.0
"""Of English text in the vocabularies in use (https://help.openai.com/en/articles/4936856)."""

_BYTES_A_TOKEN_AT_LEAST = 2.0
"""No text that people write takes more tokens than one for two bytes of UTF-8."""

_OVERHEAD = 16
"""Tokens that a chat's form adds to its text, and a schema or tool a few dozen more."""

_FORM_TOKENS = {"json": 60, "tool": 80}
_REPLY_TOKENS = {
    "letter": 2,
    "word": 4,
    "logprobs": 1,
    "json": 12,
    "tool": 20,
    "score": 250,
    "reasons": 150,
    "confidence": 60,
    "concepts": 150,
}
_THINKING_TOKENS = 400
"""What a reasoning model is expected to think about one item; it varies widely."""

_TOOL_TOKENS, _CALL_TOKENS = 120, 40
"""Of the description of a tool that opens documents, and of one call of it."""

_ENCODING = "o200k_base"
_ENCODING_FILE = f"https://openaipublic.blob.core.windows.net/encodings/{_ENCODING}.tiktoken"


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Tokens as expected and at most, and by what they were counted."""

    expected: int
    most: int
    method: str


def estimate_tokens(text: str, model: str) -> TokenEstimate:
    """Tokens of a text for a model.

    OpenAI's models are counted with their tokeniser where tiktoken is installed and holds its
    vocabulary already; nothing is fetched. Elsewhere the number of characters tells.
    """
    encoding = _encoding() if model.startswith("openai/") else None
    if encoding is not None:
        counted = len(encoding.encode(text, disallowed_special=()))
        return TokenEstimate(counted, counted, f"tiktoken {_ENCODING}")
    size = len(text.encode("utf-8", "surrogatepass"))
    expected = math.ceil(size / _CHARACTERS_A_TOKEN)
    return TokenEstimate(expected, math.ceil(size / _BYTES_A_TOKEN_AT_LEAST), "one token for four characters")


def estimate_request(request: Request, grader: Grader, n_choices: int) -> tuple[Usage, Usage]:
    """Tokens of all repeats of a request: as expected, and at most.

    At most, an item's text takes one token a byte, and no vocabulary needs more: numbers and rare
    scripts come near it.

    Parameters
    ----------
    request
        An item and its repeats.
    grader
        Its prompt, model and sampling.
    n_choices
        Repeats that one call asks for; each call bills the prompt once.
    """
    if request.prompt is None:
        return Usage(0, 0), Usage(0, 0)
    if request.prompt.reads_by_tool:
        return _estimate_reading(request, grader)
    n_repeats = len(request.repeats)
    n_calls = math.ceil(n_repeats / max(1, n_choices))
    prompt = _prompt_tokens(request.prompt.text, grader.model)
    text = request.prompt.item_text(request.item)
    own = estimate_tokens(text, grader.model)
    form = _OVERHEAD + _FORM_TOKENS.get(grader.sampling.channel, 0)
    most = grader.sampling.max_tokens
    expected = Usage(n_calls * (prompt.expected + own.expected + form), n_repeats * min(most, _reply_tokens(grader)))
    return expected, Usage(
        n_calls * (prompt.most + len(text.encode("utf-8", "surrogatepass")) + form), n_repeats * most
    )


def _estimate_reading(request: Request, grader: Grader) -> tuple[Usage, Usage]:
    """Tokens where documents are opened by a tool: every turn bills again all that stood before it.

    As expected, each document is opened once; at most, all turns are used, and the longest documents come first.
    """
    assert request.prompt is not None
    texts, n_repeats = request.prompt.openable(request.item), len(request.repeats)
    prompt = request.prompt.render(request.item)
    head = estimate_tokens(prompt, grader.model).expected
    usual = [estimate_tokens(text, grader.model).expected for text in texts]
    longest = sorted((len(text.encode("utf-8", "surrogatepass")) for text in texts), reverse=True)
    reply, limit, n_most = _reply_tokens(grader), grader.sampling.max_tokens, most_turns(len(texts))
    expected = _sum_turns(head + _TOOL_TOKENS, usual, len(texts) + 1, said=_CALL_TOKENS)
    most = _sum_turns(
        len(prompt.encode("utf-8", "surrogatepass")) + _TOOL_TOKENS, longest, n_most, said=limit + _CALL_TOKENS
    )
    calls = len(texts) * min(limit, _CALL_TOKENS)
    return (
        Usage(n_repeats * expected, n_repeats * (calls + min(limit, reply))),
        Usage(n_repeats * most, n_repeats * n_most * limit),
    )


def _sum_turns(head: int, opened: Sequence[int], n_turns: int, *, said: int) -> int:
    """Input of all turns: the head in each, a document in those after it was opened, and what was said before each."""
    documents = sum((n_turns - 1 - place) * tokens for place, tokens in enumerate(opened))
    return n_turns * head + documents + said * n_turns * (n_turns - 1) // 2


def _reply_tokens(grader: Grader) -> int:
    effort = grader.sampling.reasoning_effort
    thinks = bool(grader.capabilities.efforts) and effort not in ("none", "minimal")
    return _REPLY_TOKENS[grader.sampling.channel] + (_THINKING_TOKENS if thinks else 0)


@lru_cache(maxsize=64)
def _prompt_tokens(text: str, model: str) -> TokenEstimate:
    return estimate_tokens(text, model)


@lru_cache(maxsize=1)
def _encoding() -> Any:
    try:
        import tiktoken
    except ImportError:
        return None
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folder = folder or str(Path(tempfile.gettempdir()) / "data-gym-cache")
    kept = Path(folder) / hashlib.sha1(_ENCODING_FILE.encode(), usedforsecurity=False).hexdigest()
    return tiktoken.get_encoding(_ENCODING) if kept.is_file() else None
