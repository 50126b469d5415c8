"""The Responses API of OpenAI as a host speaks it: a request as chat messages, an answer as items and events.

Agent Zero's native mode asks `POST /v1/responses` with `input` items and `tools`, streamed. An item with a role is a
message; a call of a function and its output are items of their own, tied by `call_id`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Item = Mapping[str, Any]

_CREATED = 0
_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 2,
}


def messages(items: object) -> tuple[Mapping[str, Any], ...]:
    """`input` as chat messages: a function's output is one of role "tool", a call one of role "assistant"."""
    if isinstance(items, str):
        return ({"role": "user", "content": items},) if items else ()
    return tuple(_message(item) for item in items) if isinstance(items, list) else ()


def _message(item: Item) -> dict[str, Any]:
    if item.get("type") == "function_call_output":
        return {"role": "tool", "content": item.get("output"), "call_id": item.get("call_id")}
    if item.get("type") == "function_call":
        called = {"tool_name": item.get("name"), "tool_args": item.get("arguments")}
        return {"role": "assistant", "content": json.dumps(called), "call_id": item.get("call_id")}
    return {"role": item.get("role", "user"), "content": item.get("content")}


def answered_calls(items: object) -> set[str]:
    """The ids of the calls whose outputs are among the `input` items."""
    listed = items if isinstance(items, list) else []
    outputs = [item for item in listed if item.get("type") == "function_call_output"]
    return {str(item.get("call_id")) for item in outputs}


def function_call(call: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    """The item that asks for `call`, {tool_name, tool_args}; `name:action` becomes the argument `action`."""
    name, _, action = str(call["tool_name"]).partition(":")
    arguments = {"action": action, **call["tool_args"]} if action else call["tool_args"]
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments, ensure_ascii=False),
        "status": "completed",
    }


def text_message(text: str, item_id: str) -> dict[str, Any]:
    """The item with which the model says `text`."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": f"msg_{item_id}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def response(response_id: str, model: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole answer, as it is sent without streaming and with the last event."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _USAGE,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
    }


def events(whole: Mapping[str, Any], chunk_chars: int) -> Iterator[dict[str, Any]]:
    """The events of `whole`, streamed: text and arguments in pieces of `chunk_chars`, the whole answer last."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    for number, event in enumerate(_events(whole, begun, chunk_chars)):
        yield {**event, "sequence_number": number}


def _events(
    whole: Mapping[str, Any], begun: Mapping[str, Any], chunk_chars: int
) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(whole["output"]):
        parts = _call_events if item["type"] == "function_call" else _text_events
        yield from parts(item, index, chunk_chars)
    yield {"type": "response.completed", "response": whole}


def _call_events(item: Item, index: int, chunk_chars: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    opened = {**item, "arguments": "", "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    for piece in _pieces(item["arguments"], chunk_chars):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text_events(item: Item, index: int, chunk_chars: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    opened = {**item, "content": [], "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"], chunk_chars):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _pieces(text: str, chunk_chars: int) -> Iterator[str]:
    for start in range(0, len(text), chunk_chars):
        yield text[start : start + chunk_chars]
