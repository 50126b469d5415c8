"""What an agent remembers: bulks of old topics, topics, the current topic, each with its messages.

The host also compresses, in another thread, and puts summaries in their place; the double does not.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

MessageContent = Any


class OutputMessage(TypedDict):
    ai: bool
    content: Any


@dataclass
class _ModelMessage:
    """Stands for the host's langchain messages."""

    content: Any


class SystemMessage(_ModelMessage):
    pass


class HumanMessage(_ModelMessage):
    pass


class AIMessage(_ModelMessage):
    pass


class Message:
    def __init__(self, ai: bool, content: MessageContent, tokens: int = 0, id: str = ""):
        self.id, self.ai, self.content, self.summary = id or str(uuid.uuid4()), ai, content, ""
        self.tokens = tokens or len(json.dumps(content)) // 4

    def output(self):
        shown = self.summary or self.content
        return [OutputMessage(ai=self.ai, content=shown)]

    def to_dict(self):
        return {"_cls": "Message", **vars(self)}

    @staticmethod
    def from_dict(data: dict, history: "History"):
        message = Message(data["ai"], data.get("content", "Content lost"), id=data.get("id", ""))
        message.summary, message.tokens = data.get("summary", ""), data.get("tokens", 0)
        return message


class _Summed:
    """Has parts, and perhaps a summary that stands for them in a prompt."""

    part_name: str

    def __init__(self, history: "History"):
        self.history, self.summary = history, ""
        setattr(self, self.part_name, [])

    def output(self) -> list[OutputMessage]:
        if self.summary:
            return [{"ai": False, "content": self.summary}]
        return [out for part in getattr(self, self.part_name) for out in part.output()]

    def to_dict(self):
        parts = [part.to_dict() for part in getattr(self, self.part_name)]
        return {"_cls": type(self).__name__, "summary": self.summary, self.part_name: parts}

    @classmethod
    def from_dict(cls, data: dict, history: "History"):
        summed = cls(history)
        summed.summary = data["summary"]
        kinds = {"Message": Message, "Topic": Topic, "Bulk": Bulk}
        for part in data[cls.part_name]:
            getattr(summed, cls.part_name).append(kinds[part["_cls"]].from_dict(part, history))
        return summed


class Topic(_Summed):
    part_name = "messages"


class Bulk(_Summed):
    part_name = "records"


class History:
    def __init__(self, agent):
        self.agent, self.counter = agent, 0
        self.bulks: list[Bulk] = []
        self.topics: list[Topic] = []
        self.current = Topic(history=self)

    def add_message(
        self, ai: bool, content: MessageContent, tokens: int = 0, id: str = ""
    ) -> Message:
        self.counter += 1
        self.current.messages.append(Message(ai, content, tokens, id))
        return self.current.messages[-1]

    def new_topic(self):
        if self.current.messages:
            self.topics, self.current = [*self.topics, self.current], Topic(history=self)

    def output(self) -> list[OutputMessage]:
        """Writes: images lose their content."""
        for message in self.current.messages:
            if isinstance(message.content, Mapping) and "raw_content" in message.content:
                message.summary = "embedded data removed"
        parts = (*self.bulks, *self.topics, self.current)
        return [out for part in parts for out in part.output()]

    def to_dict(self):
        return {
            "_cls": "History",
            "counter": self.counter,
            "bulks": [bulk.to_dict() for bulk in self.bulks],
            "topics": [topic.to_dict() for topic in self.topics],
            "current": self.current.to_dict(),
        }

    @staticmethod
    def from_dict(data: dict, history: "History"):
        history.counter = data.get("counter", 0)
        history.bulks = [Bulk.from_dict(one, history) for one in data["bulks"]]
        history.topics = [Topic.from_dict(one, history) for one in data["topics"]]
        history.current = Topic.from_dict(data["current"], history)
        return history

    def serialize(self):
        return json.dumps(self.to_dict(), ensure_ascii=False)


def deserialize_history(json_data: str, agent) -> History:
    empty = History(agent=agent)
    return History.from_dict(json.loads(json_data), history=empty) if json_data else empty


def output_langchain(messages: list[OutputMessage]):
    """Neighbours of one side are joined."""
    joined: list[_ModelMessage] = []
    for message in messages:
        content = message["content"]
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        kind = AIMessage if message["ai"] else HumanMessage
        if joined and isinstance(joined[-1], kind):
            joined[-1].content += f"\n{text}"
        else:
            joined.append(kind(text))
    return joined
