"""Token counts. The host asks tiktoken; the double estimates four bytes a token, so that it never downloads."""

from typing import Literal

APPROX_BUFFER = 1.1
TRIM_BUFFER = 0.8


def count_tokens(text: str, encoding_name="cl100k_base") -> int:
    return -(-len(text.encode("utf-8", "replace")) // 4)


def approximate_tokens(text: str) -> int:
    return int(APPROX_BUFFER * count_tokens(text))


def trim_to_tokens(
    text: str, max_tokens: int, direction: Literal["start", "end"], ellipsis: str = "..."
) -> str:
    counted = count_tokens(text)
    if counted <= max_tokens:
        return text
    kept = int(TRIM_BUFFER * len(text) * max_tokens / counted)
    return text[:kept] + ellipsis if direction == "start" else ellipsis + text[len(text) - kept :]
