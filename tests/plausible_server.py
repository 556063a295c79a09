"""A loopback server whose models answer and grade as models do: some well, some badly, none always."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from fault_replies import Fault, Ok, asked_text, build_reply, n_choices
from fault_server import FaultServer

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import SIMPLEQA
from graders.prompt_library import load_prompt

__all__ = ["PlausibleServer", "truth_of"]

_TAGGED = re.compile(r"<reference>\n(.*?)\n</reference>\s+<response>\n(.*?)\n</response>", re.DOTALL)
WEIGHED, GOOD_GUESSES = "commit to it", 0.97
"""A wording that has models weigh candidates and commit to one makes them guess well."""

_GUESSES = ("Ines Brandt", "Lake Sirvo", "the year 1871", "some 4,200 of them")


class PlausibleServer(FaultServer):
    """Speaks as OpenAI, Anthropic and any server of OpenAI's form. What it says hangs on model, text and draw alone.

    Parameters
    ----------
    answers
        Question to right answer, for what is asked. Each model knows some; of the rest it declines half when it is
        asked the bare question, and guesses in other wordings: wrongly, but for the one that has it weigh candidates.
    labelled
        A set whose labels are the truth of what is to be graded, for ``prompts``. Other answers are graded by whether
        they stand in the reference. Each model has an error rate of its own, from 1% to 16%.
    """

    def __init__(
        self,
        answers: Mapping[str, str] | None = None,
        labelled: CalibrationSet | None = None,
        prompts: tuple[str, ...] = ("simpleqa_verified",),
    ) -> None:
        super().__init__()
        self._answers = dict(answers or {})
        self._truth: dict[str, str] = {}
        self._asked: Counter[tuple[str, str]] = Counter()
        for prompt in prompts if labelled is not None else ():
            self._learn(labelled, prompt)

    def _learn(self, labelled: CalibrationSet | None, prompt: str) -> None:
        assert labelled is not None
        loaded, labels = load_prompt(prompt), labelled.consensus().labels
        self._truth |= {loaded.render(item).strip(): labels[item.item_id] for item in labelled.items}

    async def _generate(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        texts = [self._say(body["model"], asked_text(body)) for _ in range(n_choices(request.path, body, fault))]
        replies = [build_reply(request.path, {**body, "n": 1}, Ok(text)) for text in texts]
        reply = replies[0]
        if "choices" in reply:
            reply["choices"] = [{**one["choices"][0], "index": place} for place, one in enumerate(replies)]
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")

    def _say(self, model: str, text: str) -> str:
        draw = self._asked[model, text]
        self._asked[model, text] += 1
        chance = random.Random(f"{model}/{text}/{draw}")
        truth = self._truth.get(text) or _judge(text)
        return self._tell(model, text, chance) if truth is None else _grade(model, truth, chance)

    def _tell(self, model: str, text: str, chance: random.Random) -> str:
        question = max((one for one in self._answers if one in text), key=len)
        knows = random.Random(f"{model}/{question}").random() < 0.2 + 0.3 * random.Random(model).random()
        if not knows and chance.random() < (0.5 if text == question.strip() else 0.02):
            return "I do not know."
        right = knows or chance.random() < (GOOD_GUESSES if WEIGHED in text else 0.1)
        said = self._answers[question] if right else chance.choice(_GUESSES)
        return f"After {chance.randrange(1_000)} thoughts: {said}."


def _judge(text: str) -> str | None:
    """The label that an answer deserves; ``None`` where the text asks for no grade."""
    found = _TAGGED.search(text)
    if found is None:
        return None
    reference, response = found.groups()
    return truth_of(response, reference)


def truth_of(response: str, reference: str) -> str:
    """The label that one of the server's answers deserves; a reference may hold other names beside the answer."""
    if "not know" in response:
        return "NOT_ATTEMPTED"
    return "CORRECT" if response.rpartition(": ")[2].rstrip(".") in reference else "INCORRECT"


def _grade(model: str, truth: str, chance: random.Random) -> str:
    errs = chance.random() < 0.01 + 0.15 * random.Random(model).random()
    label = chance.choice([label for label in SIMPLEQA.labels if label != truth]) if errs else truth
    return SIMPLEQA.letters[label]
