"""A model behind any OpenAI-compatible address, asked for one answer at a time."""

from __future__ import annotations

import json
import os
import urllib.request
from dataclasses import dataclass

TIMEOUT_S = 3600
Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Model:
    """`api_base` ends before `/chat/completions`; the key comes from OPENAI_API_KEY, if any."""

    api_base: str
    name: str
    temperature: float = 0.3

    def ask(self, messages: Messages, seed: int, max_tokens: int) -> str:
        """The words of the answer. Raises OSError when the server does not answer."""
        body = {
            "model": self.name,
            "messages": messages,
            "temperature": self.temperature,
            "seed": seed,
            "max_tokens": max_tokens,
        }
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        url = self.api_base.rstrip("/") + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            made = json.load(answer)
        return str(made["choices"][0]["message"]["content"] or "")


def system(words: str, asked: str) -> Messages:
    return [{"role": "system", "content": words}, {"role": "user", "content": asked}]
