"""What an agent remembers: bulks of old topics, topics, the current topic; each may be replaced by a summary."""

import json
import math
import uuid
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from helpers import settings, tokens

BULK_MERGE_COUNT = 3
TOPICS_MERGE_COUNT = 3
CURRENT_TOPIC_RATIO = 0.5
HISTORY_TOPIC_RATIO = 0.3
HISTORY_BULK_RATIO = 0.2
CURRENT_TOPIC_ATTENTION_COMPRESSION = 0.65
HISTORY_TOPIC_ATTENTION_COMPRESSION = 0
LARGE_MESSAGE_TO_CURRENT_TOPIC_RATIO = 0.5
LARGE_MESSAGE_TO_HISTORY_TOPIC_RATIO = 0.2
RAW_MESSAGE_OUTPUT_TEXT_TRIM = 100
COMPRESSION_TARGET_RATIO = 0.8

MessageContent = Any


class RawMessage(TypedDict):
    raw_content: Any
    preview: str | None


class OutputMessage(TypedDict):
    ai: bool
    content: Any


@dataclass
class _ModelMessage:
    """Stands for the host's langchain messages."""

    content: Any
    type = ""


class SystemMessage(_ModelMessage):
    type = "system"


class HumanMessage(_ModelMessage):
    type = "human"


class AIMessage(_ModelMessage):
    type = "ai"


class Record:
    @abstractmethod
    def get_tokens(self) -> int:
        raise NotImplementedError

    @abstractmethod
    async def compress(self) -> bool:
        raise NotImplementedError

    @abstractmethod
    def output(self) -> list[OutputMessage]:
        raise NotImplementedError

    @abstractmethod
    async def summarize(self) -> str:
        raise NotImplementedError

    @abstractmethod
    def to_dict(self) -> dict:
        raise NotImplementedError

    @staticmethod
    def from_dict(data: dict, history: "History"):
        kinds = {"Message": Message, "Topic": Topic, "Bulk": Bulk}
        return kinds[data["_cls"]].from_dict(data, history=history)

    def output_langchain(self):
        return output_langchain(self.output())

    def output_text(self, human_label="user", ai_label="ai"):
        return output_text(self.output(), ai_label=ai_label, human_label=human_label)


class Message(Record):
    def __init__(self, ai: bool, content: MessageContent, tokens: int = 0, id: str = ""):
        self.id, self.ai, self.content, self.summary = id or str(uuid.uuid4()), ai, content, ""
        self.tokens = tokens if tokens else self.calculate_tokens()

    def get_tokens(self) -> int:
        self.tokens = self.tokens or self.calculate_tokens()
        return self.tokens

    def calculate_tokens(self):
        return tokens.approximate_tokens(self.output_text())

    def set_summary(self, summary: str):
        self.summary, self.tokens = summary, 0
        self.tokens = self.calculate_tokens()

    async def compress(self):
        return False

    def output(self):
        shown = self.summary or self.content
        return [OutputMessage(ai=self.ai, content=shown)]

    def to_dict(self):
        kept = ("id", "ai", "content", "summary", "tokens")
        return {"_cls": "Message"} | {name: getattr(self, name) for name in kept}

    @staticmethod
    def from_dict(data: dict, history: "History"):
        message = Message(data["ai"], data.get("content", "Content lost"), id=data.get("id", ""))
        message.summary, message.tokens = data.get("summary", ""), data.get("tokens", 0)
        return message


class Topic(Record):
    def __init__(self, history: "History"):
        self.history, self.summary = history, ""
        self.messages: list[Message] = []

    def get_tokens(self):
        if self.summary:
            return tokens.approximate_tokens(text=self.summary)
        return sum(message.get_tokens() for message in self.messages)

    def add_message(
        self, ai: bool, content: MessageContent, tokens: int = 0, id: str = ""
    ) -> Message:
        self.messages.append(Message(ai=ai, content=content, tokens=tokens, id=id))
        return self.messages[-1]

    def output(self) -> list[OutputMessage]:
        if self.summary:
            return [{"ai": False, "content": self.summary}]
        return [out for message in self.messages for out in message.output()]

    async def summarize(self):
        text = await self.summarize_messages(self.messages)
        self.summary = text
        return text

    async def compress(self) -> bool:
        return self.compress_large_messages() or await self.compress_attention()

    def compress_large_messages(
        self, message_ratio: float = CURRENT_TOPIC_RATIO * LARGE_MESSAGE_TO_CURRENT_TOPIC_RATIO
    ) -> bool:
        """Gives the largest message above its share a shortened text as summary; its content stays."""
        limit = _history_limit() * message_ratio
        large = [
            message
            for message in self.messages
            if not message.summary and message.get_tokens() > limit
        ]
        if not large:
            return False
        chosen = max(large, key=Message.get_tokens)
        text = output_text(chosen.output())
        kept = int(len(text) * limit / chosen.get_tokens())
        raw = _is_raw(chosen.content)
        chosen.set_summary(
            "Message content replaced to save space" if raw else json.dumps(text[:kept])
        )
        return True

    async def compress_attention(self, ratio: float = CURRENT_TOPIC_ATTENTION_COMPRESSION) -> bool:
        """Replaces messages after the first by one summary, for good; the last is never touched."""
        inner = len(self.messages) - 2
        count = inner - math.floor(inner * ratio)
        if inner < 2 or count < 1:
            return False
        summary = await self.summarize_messages(self.messages[1 : 1 + count])
        content = self.history.agent.parse_prompt("fw.msg_summary.md", summary=summary)
        self.messages[1 : 1 + count] = [Message(False, content)]
        return True

    async def summarize_messages(self, messages: list[Message]):
        return await _summary_of(
            self.history.agent, [message.output_text() for message in messages]
        )

    def to_dict(self):
        return {
            "_cls": "Topic",
            "summary": self.summary,
            "messages": [one.to_dict() for one in self.messages],
        }

    @staticmethod
    def from_dict(data: dict, history: "History"):
        topic = Topic(history=history)
        topic.summary = data.get("summary", "")
        topic.messages = [
            Message.from_dict(one, history=history) for one in data.get("messages", [])
        ]
        return topic


class Bulk(Record):
    def __init__(self, history: "History"):
        self.history, self.summary = history, ""
        self.records: list[Record] = []

    def get_tokens(self):
        if self.summary:
            return tokens.approximate_tokens(text=self.summary)
        return sum(record.get_tokens() for record in self.records)

    def output(self, human_label: str = "user", ai_label: str = "ai") -> list[OutputMessage]:
        if self.summary:
            return [{"ai": False, "content": self.summary}]
        return [out for record in self.records for out in record.output()]

    async def compress(self):
        return False

    async def summarize(self):
        self.summary = await _summary_of(self.history.agent, self.output_text())
        return self.summary

    def to_dict(self):
        return {
            "_cls": "Bulk",
            "summary": self.summary,
            "records": [one.to_dict() for one in self.records],
        }

    @staticmethod
    def from_dict(data: dict, history: "History"):
        bulk = Bulk(history=history)
        bulk.summary = data["summary"]
        bulk.records = [Record.from_dict(one, history=history) for one in data["records"]]
        return bulk


class History(Record):
    def __init__(self, agent):
        self.agent, self.counter = agent, 0
        self.bulks: list[Bulk] = []
        self.topics: list[Topic] = []
        self.current = Topic(history=self)

    def get_tokens(self) -> int:
        return self.get_bulks_tokens() + self.get_topics_tokens() + self.get_current_topic_tokens()

    def is_over_limit(self):
        return self.get_tokens() > _history_limit()

    def get_bulks_tokens(self) -> int:
        return sum(bulk.get_tokens() for bulk in self.bulks)

    def get_topics_tokens(self) -> int:
        return sum(topic.get_tokens() for topic in self.topics)

    def get_current_topic_tokens(self) -> int:
        return self.current.get_tokens()

    def add_message(
        self, ai: bool, content: MessageContent, tokens: int = 0, id: str = ""
    ) -> Message:
        self.counter += 1
        return self.current.add_message(ai, content, tokens, id)

    def new_topic(self):
        ended = self.current
        if ended.messages:
            self.topics, self.current = [*self.topics, ended], Topic(history=self)

    def output(self) -> list[OutputMessage]:
        """Writes: images beyond the allowed number (none, without vision) lose their content."""
        self.trim_embeds(0)
        return [
            out for record in (*self.bulks, *self.topics, self.current) for out in record.output()
        ]

    def trim_embeds(self, max_embeds: int) -> int:
        if max_embeds == -1:
            return 0
        seen = removed = 0
        for message in reversed(self._all_messages()):
            raw = (
                message.content.get("raw_content")
                if _is_raw(message.content) and not message.summary
                else None
            )
            images = sum(_is_image(part) for part in raw) if isinstance(raw, list) else 0
            seen += images
            if images and seen > max_embeds:
                message.set_summary("embedded data removed")
                removed += images
        return removed

    def remove_all_embeds(self) -> int:
        return self.trim_embeds(0)

    def _all_messages(self) -> list[Message]:
        def inside(record: Record) -> list[Message]:
            if isinstance(record, Message):
                return [record]
            return [
                m
                for one in getattr(record, "records", getattr(record, "messages", []))
                for m in inside(one)
            ]

        return [
            message
            for record in (*self.bulks, *self.topics, self.current)
            for message in inside(record)
        ]

    def to_dict(self):
        parts = {
            "bulks": [one.to_dict() for one in self.bulks],
            "topics": [one.to_dict() for one in self.topics],
        }
        return (
            {"_cls": "History", "counter": self.counter}
            | parts
            | {"current": self.current.to_dict()}
        )

    @staticmethod
    def from_dict(data: dict, history: "History"):
        history.counter = data.get("counter", 0)
        history.bulks = [Bulk.from_dict(one, history=history) for one in data["bulks"]]
        history.topics = [Topic.from_dict(one, history=history) for one in data["topics"]]
        history.current = Topic.from_dict(data["current"], history)
        return history

    def serialize(self):
        return json.dumps(self.to_dict(), ensure_ascii=False)

    async def compress(self):
        """Shrinks the part that is furthest above its share until all fits into 80 % of the limit or nothing helps."""
        total = _history_limit()
        if self.get_tokens() <= total:
            return False
        target, before, done = total * COMPRESSION_TARGET_RATIO, self.get_tokens() + 1, False
        while self.get_tokens() < before:
            before = self.get_tokens()
            parts = [
                (self.get_current_topic_tokens() / CURRENT_TOPIC_RATIO, self.current.compress),
                (self.get_topics_tokens() / HISTORY_TOPIC_RATIO, self.compress_topics),
                (self.get_bulks_tokens() / HISTORY_BULK_RATIO, self.compress_bulks),
            ]
            for share, shrink in sorted(parts, key=lambda part: -part[0]):
                if share > target and await shrink():
                    done = True
                    break
            else:
                return done
        return done

    async def compress_topics(self) -> bool:
        share = HISTORY_TOPIC_RATIO * LARGE_MESSAGE_TO_HISTORY_TOPIC_RATIO
        if any(topic.compress_large_messages(share) for topic in self.topics):
            return True
        for topic in self.topics:
            if await topic.compress_attention(ratio=HISTORY_TOPIC_ATTENTION_COMPRESSION):
                return True
        if not self.topics:
            return False
        count = 1 if len(self.topics) < TOPICS_MERGE_COUNT else TOPICS_MERGE_COUNT
        bulk = Bulk(history=self)
        bulk.records = list(self.topics[:count])
        await bulk.summarize()
        self.bulks.append(bulk)
        del self.topics[:count]
        return True

    async def compress_bulks(self):
        if not await self.merge_bulks_by(BULK_MERGE_COUNT):
            self.bulks.pop(0)
        return True

    async def merge_bulks_by(self, count: int):
        if not self.bulks:
            return False
        starts = range(0, len(self.bulks), count)
        self.bulks = [await self.merge_bulks(self.bulks[start : start + count]) for start in starts]
        return True

    async def merge_bulks(self, bulks: list[Bulk]) -> Bulk:
        merged = Bulk(history=self)
        merged.records = list(bulks)
        await merged.summarize()
        return merged


def deserialize_history(json_data: str, agent) -> History:
    empty = History(agent=agent)
    return History.from_dict(json.loads(json_data), history=empty) if json_data else empty


def output_langchain(messages: list[OutputMessage]):
    """Empty ones are left out; neighbours of one side are joined."""
    joined: list[_ModelMessage] = []
    for message in messages:
        content = message["content"]
        if _is_raw(content):
            content = content.get("raw_content")
        elif not isinstance(content, str):
            content = json.dumps(content, ensure_ascii=False)
        if not (content.strip() if isinstance(content, str) else content):
            continue
        kind = AIMessage if message["ai"] else HumanMessage
        if joined and isinstance(joined[-1], kind):
            joined[-1] = kind(_joined(joined[-1].content, content))
        else:
            joined.append(kind(content))
    return joined


def output_text(messages: list[OutputMessage], ai_label="ai", human_label="human"):
    labelled = [
        (ai_label if message["ai"] else human_label, _as_text(message["content"]))
        for message in messages
    ]
    return "\n".join(f"{label}: {text}" for label, text in labelled)


def _as_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    text = json.dumps(content, ensure_ascii=False)
    if not _is_raw(content):
        return text
    cut = text[:RAW_MESSAGE_OUTPUT_TEXT_TRIM] + "... TRIMMED"
    return content.get("preview") or (cut if len(text) > RAW_MESSAGE_OUTPUT_TEXT_TRIM else text)


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"

    def parts(content: Any) -> list:
        if isinstance(content, list):
            return content
        return [{"type": "text", "text": content} if isinstance(content, str) else content]

    return parts(first) + parts(second)


def _is_raw(content: Any) -> bool:
    return isinstance(content, Mapping) and "raw_content" in content


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _history_limit() -> int:
    """In tokens. The host reads it from the model's configuration, the double from its settings."""
    values = settings.get_settings()
    return int(values["ctx_length"] * values["ctx_history"])


async def _summary_of(agent: Any, content: Any) -> str:
    return await agent.call_utility_model(
        system=agent.read_prompt("fw.topic_summary.sys.md"),
        message=agent.read_prompt("fw.topic_summary.msg.md", content=content),
    )
