"""The ledger against the service itself: one cheap request a capability, through the real adapters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities, TokenLimit
from graders.client import Request
from graders.dispatch.service import AsyncService, CallError
from graders.errors import ServiceError
from graders.grader import Grader
from graders.pricing import NO_COST, Cost, cost
from graders.prompt import GraderPrompt
from graders.sampling import Channel, Sampling
from graders.verdict import Completion

__all__ = ["CheckResult", "Finding", "check_capabilities", "render_findings"]

_REFUSALS = ("unsupported", "bad_request")
_FATAL = ("bad_key", "not_found", "quota_exhausted")
_PERHAPS_PAID = ("unreadable_reply", "timeout", "connection")
_LOOSE = ("openai-compatible/", "vllm-server/")
"""Servers that pass over fields they do not know: that they take one says nothing."""

_REPLY_TOKENS = 64
_ITEM = Item("check", "What is two and two?", parse_reference("four"), "four", "check")
_OTHER_LIMIT: dict[TokenLimit, TokenLimit] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One capability: what the ledger says, what the service did, and whether the ledger is wrong.

    ``wrong`` is false also where the service's answer does not tell.
    """

    capability: str
    ledger: str
    service: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All findings on one model, and what asking cost."""

    model: str
    findings: tuple[Finding, ...]
    cost: Cost

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """Where the ledger is wrong."""
        return tuple(finding for finding in self.findings if finding.wrong)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a call told: completions, or that and why it was refused."""

    completions: tuple[Completion, ...] = ()
    refused: bool = False
    parameter: str | None = None
    message: str = ""


@dataclass(slots=True)
class _Check:
    """One model under check; ``base`` is what is known of it by now, ``effort`` the one that keeps calls cheap."""

    grader: Grader
    base: Capabilities
    effort: str | None = None
    findings: list[Finding] = field(default_factory=list)
    cost: Cost = NO_COST

    async def ask(
        self, base: Capabilities, *, channel: Channel = "letter", temperature: float = 1.0, n: int = 1
    ) -> _Told:
        """One call with these capabilities taken for granted, so that what is asked is really sent."""
        limit = base.default_max_tokens or _REPLY_TOKENS
        sampling = Sampling(temperature, n, max_tokens=limit, channel=channel, reasoning_effort=self.effort)
        grader = replace(self.grader, sampling=sampling, prompt=_prompt(channel), capabilities=base)
        service = _open(grader)
        await service.open()
        try:
            reply = await service.ask(Request(_ITEM, tuple(range(n)), grader.prompt, sampling, SIMPLEQA))
        except CallError as error:
            return self._failed(error)
        finally:
            await service.close()
        came = tuple(answer.outcome for answer in reply.answers if isinstance(answer.outcome, Completion))
        for completion in came:
            self.cost += cost(completion.usage, self.grader.capabilities.price)
        return _Told(came)

    def _failed(self, error: CallError) -> _Told:
        if error.kind in _FATAL:
            raise ServiceError(f"{self.grader.model}: {error.message}") from error
        if error.usage is not None:
            self.cost += cost(error.usage, self.grader.capabilities.price)
        elif error.kind in _PERHAPS_PAID:
            self.cost += Cost(0.0, complete=False)
        return _Told(refused=error.kind in _REFUSALS, parameter=error.parameter, message=error.message)

    def note(self, capability: str, *, listed: bool, ledger: str, told: _Told, there: bool | None) -> None:
        """Add a finding; ``there`` is ``None`` where the call does not tell."""
        words = {True: "yes", False: "refused" if told.refused else "no", None: f"unclear: {told.message or 'no use'}"}
        self.findings.append(Finding(capability, ledger, words[there], there is not None and there != listed))


def check_capabilities(grader: Grader) -> CheckResult:
    """Ask a service for what the ledger says that its model can do.

    Parameters
    ----------
    grader
        Its model, endpoint and capabilities; sampling and prompt are the check's own.

    Raises
    ------
    ServiceError
        If the key or the model is refused, or the quota is used up.
    """
    check = _Check(grader, grader.capabilities)
    asyncio.run(_check_all(check))
    return CheckResult(grader.model, tuple(check.findings), check.cost)


def render_findings(result: CheckResult) -> str:
    """A table with a row a capability, and a line on cost and outcome."""
    rows = [("capability", "ledger", "service", "")]
    rows += [(f.capability, f.ledger, f.service, "<- the ledger is wrong" if f.wrong else "") for f in result.findings]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["  ".join([*(row[place].ljust(widths[place]) for place in range(3)), row[3]]).rstrip() for row in rows]
    n_wrong = len(result.wrong)
    outcome = (
        f"the ledger is wrong in {n_wrong} of {len(result.findings)}" if n_wrong else "nothing contradicts the ledger"
    )
    return "\n".join([result.model, *lines, f"{outcome}; cost {result.cost}"])


async def _check_all(check: _Check) -> None:
    await _token_limit(check)
    await _effort(check)
    await _temperature(check)
    await _form(check, "json_schema", "json")
    await _form(check, "tool_call", "tool")
    if check.base.api == "messages":
        return  # that format has no alternatives, log-probabilities or seeds to ask for
    await _logprobs(check)
    if check.base.api == "chat":
        await _choices(check)
        await _seed(check)


async def _token_limit(check: _Check) -> None:
    told = await check.ask(_plain(check.base))
    listed = check.base.token_limit
    refused = told.refused and told.parameter == listed
    if not refused and not told.completions:
        said = told.message or "no reply"
        raise ServiceError(f"{check.grader.model}: {said}; expected a reply to a plain request")
    check.note(f"limit by {listed}", listed=True, ledger="yes", told=told, there=_outcome(told))
    if refused and listed in _OTHER_LIMIT:
        check.base = replace(check.base, token_limit=_OTHER_LIMIT[listed])


async def _effort(check: _Check) -> None:
    known = check.base.efforts
    tried = (check.base.sampling_efforts or known or ("low",))[0]
    check.effort = tried
    told = await check.ask(_plain(check.base))
    there = _outcome(told, "reasoning_effort")
    if there and not known and check.grader.model.startswith(_LOOSE):
        there, told = None, _Told(message="taken, perhaps passed over")
    check.note(f"effort {tried}", listed=tried in known, ledger=", ".join(known) or "none", told=told, there=there)
    if not there or not known:
        check.effort = None


async def _temperature(check: _Check) -> None:
    listed = check.base.temperature
    top = listed[1] if listed is not None else (1.0 if check.base.api == "messages" else 2.0)
    base = replace(_plain(check.base), temperature=(0.0, top), sampling_efforts=None)
    told = await check.ask(base, temperature=min(top, 2.0))
    ledger = "none" if listed is None else f"{listed[0]:g} to {listed[1]:g}"
    check.note(
        f"temperature {top:g}", listed=listed is not None, ledger=ledger, told=told, there=_outcome(told, "temperature")
    )


async def _form(check: _Check, name: str, channel: Channel) -> None:
    listed = check.base.json_schema if channel == "json" else check.base.tool_call
    base = replace(_plain(check.base), json_schema=True, tool_call=True)
    told = await check.ask(base, channel=channel)
    fields = ("response_format",) if channel == "json" else ("tools", "tool_choice")
    there = _outcome(told, *fields, holds=_holds_verdict)
    check.note(name, listed=listed, ledger=_yes(listed), told=told, there=there)


async def _logprobs(check: _Check) -> None:
    listed = check.base.top_logprobs
    base = replace(_plain(check.base), top_logprobs=listed or 5, sampling_efforts=None)
    told = await check.ask(base, channel="logprobs")
    there = _outcome(
        told, "logprobs", "top_logprobs", holds=lambda came: bool(came[0].label_logprobs or came[0].other_logprobs)
    )
    check.note(f"top_logprobs {listed or 5}", listed=listed > 0, ledger=str(listed), told=told, there=there)


async def _choices(check: _Check) -> None:
    listed = check.base.max_choices
    told = await check.ask(replace(_plain(check.base), max_choices=2), n=2)
    there = _outcome(told, "n", holds=lambda came: len(came) == 2)
    check.note("n = 2", listed=listed > 1, ledger=f"up to {listed}", told=told, there=there)


async def _seed(check: _Check) -> None:
    listed = check.base.seed
    told = await check.ask(replace(_plain(check.base), seed=True))
    there = _outcome(told, "seed")
    if there and not listed:
        # One call does not show whether a seed that is taken is honoured too.
        there, told = None, _Told(message="taken, perhaps not honoured")
    check.note("seed", listed=listed, ledger=_yes(listed), told=told, there=there)


def _plain(base: Capabilities) -> Capabilities:
    """Nothing but the text and its limit."""
    return replace(base, temperature=None, seed=False, max_choices=1)


def _outcome(told: _Told, *fields: str, holds: Callable[[Sequence[Completion]], bool] | None = None) -> bool | None:
    """Whether it can be done; ``None`` where the call does not tell, as when something else was refused in it."""
    if told.refused:
        return False if not fields or told.parameter in (None, *fields) else None
    if not told.completions:
        return None
    first = told.completions[0]
    if holds and (first.stop_reason == "length" or not first.text):
        return None
    return holds(told.completions) if holds else True


def _holds_verdict(came: Sequence[Completion]) -> bool:
    try:
        said = json.loads(came[0].text or "")
    except ValueError:
        return False
    return isinstance(said, dict) and "verdict" in said


def _prompt(channel: Channel) -> GraderPrompt:
    text = (
        "$question Reference: $reference. Response: $response. Grade: A (CORRECT), B (INCORRECT) or C (NOT_ATTEMPTED)?"
    )
    return GraderPrompt("check", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, channel, "chat", text)


def _open(grader: Grader) -> AsyncService:
    if grader.model.startswith("anthropic/"):
        from graders.providers.anthropic_client import addresses as anthropic_addresses
        from graders.providers.anthropic_service import AnthropicService

        return AnthropicService(grader, anthropic_addresses(grader)[0])
    from graders.providers.openai_client import addresses
    from graders.providers.openai_service import OpenAIService

    return OpenAIService(grader, addresses(grader)[0])


def _yes(value: bool) -> str:
    return "yes" if value else "no"
