"""The openai SDK and a semaphore, nothing kept: variant ``default`` or ``aiohttp`` names the transport."""

from __future__ import annotations

import asyncio
import re

from measured import measured, read_options, read_prompts
from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient

LETTER = re.compile(r"\b[ABC]\b")


async def main() -> None:
    options = read_options(__doc__)
    prompts = read_prompts(options)
    slots = asyncio.Semaphore(options.connections)
    with measured(options) as measure:
        transport = DefaultAioHttpClient() if options.variant == "aiohttp" else DefaultAsyncHttpxClient()
        async with AsyncOpenAI(base_url=options.url, api_key="none", max_retries=0, http_client=transport) as client:

            async def ask(prompt: str) -> int:
                async with slots:
                    reply = await client.chat.completions.create(
                        model="letter",
                        messages=[{"role": "user", "content": prompt}],
                        temperature=2.0,
                        max_tokens=8,
                        n=options.choices,
                    )
                return sum(LETTER.search(choice.message.content or "") is not None for choice in reply.choices)

            measure.verdicts = sum(await asyncio.gather(*(ask(prompt["prompt"]) for prompt in prompts)))


asyncio.run(main())
