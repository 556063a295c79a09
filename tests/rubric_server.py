"""A loopback server whose model writes its verdicts out, as rubric prompts ask: some near the truth, some unread."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import web
from fault_replies import Fault, Ok, asked_text, build_reply, n_choices
from fault_server import FaultServer

from calibration_sets.calibration_set import CalibrationSet
from graders.prompt_library import load_prompt

__all__ = ["RubricServer", "Say", "steps_near"]

Say = Callable[[str, random.Random], str]
"""From people's label of an item and a source of chance to a reply."""


class RubricServer(FaultServer):
    """Speaks OpenAI's form; what it says hangs on the text and the number of its draw alone.

    Parameters
    ----------
    labelled
        The set whose labels are the truth.
    prompt
        The prompt that it is asked by.
    say
        What it says of an item with a label.
    """

    def __init__(self, labelled: CalibrationSet, prompt: str, say: Say) -> None:
        super().__init__()
        loaded, labels = load_prompt(prompt), labelled.consensus().labels
        self._say = say
        self._truth = {loaded.render(item).strip(): labels[item.item_id] for item in labelled.items}
        self._asked: Counter[str] = Counter()

    async def _generate(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        text = asked_text(body)
        replies = []
        for _ in range(n_choices(request.path, body, fault)):
            chance = random.Random(f"{text}/{self._asked[text]}")
            self._asked[text] += 1
            said = self._say(self._truth[text.strip()], chance)
            replies.append(build_reply(request.path, {**body, "n": 1}, Ok(said)))
        reply = replies[0]
        reply["choices"] = [{**one["choices"][0], "index": place} for place, one in enumerate(replies)]
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")


def steps_near(truth: str, chance: random.Random) -> str:
    """A score that is right in two of three draws and else rather too high; one draw in thirty gives none."""
    steps = ("0", "0.25", "0.5", "0.75", "1")
    place = steps.index(truth) + chance.choice((0, 0, 0, 0, 0, 0, 1, 1, -1))
    step = steps[min(max(place, 0), 4)]
    last = chance.choice(["score: 0.6", "It is hard to say."]) if chance.random() < 1 / 30 else f"score: {step}"
    return f"Accuracy: most of it agrees.\nCompleteness: one part may be missing.\nReasoning: it follows.\n\n{last}"
