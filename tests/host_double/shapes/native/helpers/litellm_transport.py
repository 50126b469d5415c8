"""How the next call goes to a model: with functions, or as text. Only what the plugin asks."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

PREFER_CACHE_MARKERS = ("anthropic", "openrouter")


@dataclass
class LiteLLMTransport:
    model: str
    messages: list[dict[str, Any]]
    kwargs: dict[str, Any]
    policy: Any = field(init=False)

    def __post_init__(self):
        provider = self.model.partition("/")[0]
        marked = self.kwargs.get("a0_explicit_prompt_caching") and provider in PREFER_CACHE_MARKERS
        text = self.kwargs.get("a0_api_mode", "responses") == "chat" or (marked and self.messages)
        self.policy = SimpleNamespace(using_responses=not text)
