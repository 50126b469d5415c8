"""Items of a list: decisions, artifacts, rejected paths, open questions, flags.

How an item is read follows from its model in `values.packet`: the one field without a default is
its main one, and each field is read by its type. `FORMS` says what else models call the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import JsonValue as Json

from ..values.names import short
from ..values.packet import Artifact, Decision, Flag, OpenQuestion, RejectedPath, Value
from .plain import is_name, key, listed, shown, text, texts
from .sent import Sent

Item = TypeVar("Item", bound=Value)
# An item as it was sent: names of fields with values. A name may stand twice.
Pairs = list[tuple[str, Json]]
_LISTS = frozenset({"items", "list", "all", "values", "entries"})


@dataclass(frozen=True)
class Form:
    """How models write the items of one kind.

    `names` are other names of a field, the best one first. `beside` is the field meant by a value
    that stands beside the main one, as in `{main: value}`; where `only_names`, only by the name of a
    field. What came under several names of a `joined` field is told together; of others the first
    counts. `measured` fields are found out, never said. `comma_words` is how many words a part of a
    comma list may have.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    beside: str = ""
    only_names: bool = False
    joined: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    comma_words: int = 0


FORMS: Mapping[type[Value], Form] = {
    Decision: Form(
        names={
            "text": "title name decision what statement summary description content details",
            "rationale": "why reason because",
            "evidence": "sources proof",
            "owner": "by author decided_by",
            "supersedes": "replaces",
        },
        beside="rationale",
        joined=("text", "rationale"),
    ),
    Artifact: Form(
        names={
            "path": "file filename file_path uri url reference name",
            "kind": "type title description note purpose",
        },
        beside="kind",
        joined=("kind",),
        measured=("sha256", "size"),
        comma_words=2,
    ),
    RejectedPath: Form(
        names={
            "what": "title path option tried approach text description",
            "why": "reason because rationale",
        },
        beside="why",
        joined=("what", "why"),
    ),
    OpenQuestion: Form(
        names={"text": "title question what description content", "field": "answers"},
        beside="field",
        only_names=True,
        joined=("text",),
    ),
    Flag: Form(
        names={"text": "flag title what message description", "fields": "field"},
        beside="fields",
        only_names=True,
        joined=("text",),
    ),
}


@dataclass(frozen=True)
class Kind:
    """A model with its form. `fields` gives for each name, the best one first, the field it means."""

    model: type[Value]
    form: Form
    main: str
    fields: Mapping[str, str]

    def knows(self, item: Mapping[str, Json]) -> bool:
        """Whether an object is an item: it names a field."""
        return any(key(name) in self.fields for name in item)


@lru_cache(maxsize=32)
def kind_of(model: type[Value]) -> Kind:
    form = FORMS.get(model, Form())
    fields: dict[str, str] = {}
    for name in model.model_fields:
        if name not in form.measured:
            aliases = form.names.get(name, "").split()
            fields.update(dict.fromkeys((name, *aliases), name))
    main = next(name for name, about in model.model_fields.items() if about.is_required())
    return Kind(model, form, main, fields)


def items(value: Json, model: type[Item], argument: str, sent: Sent) -> tuple[Item, ...]:
    """Items from texts, objects, JSON, or one object that names them; what is lost is warned of."""
    kind = kind_of(model)
    made = []
    for pairs in _each(value, kind, argument, sent):
        item = _item(pairs, kind, argument, sent)
        if isinstance(item, model):
            made.append(item)
    return tuple(made)


def _each(value: Json, kind: Kind, argument: str, sent: Sent) -> Iterator[Pairs]:
    """Every item in a value of any form."""
    for part in listed(value, words=kind.form.comma_words):
        inner = sent.opened(part)
        if not isinstance(inner, dict):
            yield [(kind.main, text(inner))]
        elif kind.knows(inner):
            yield [*inner.items()]
        else:
            for name, entry in inner.items():
                yield from _entry(name.strip(), sent.opened(entry), kind, argument, sent)


def _entry(name: str, value: Json, kind: Kind, argument: str, sent: Sent) -> Iterator[Pairs]:
    """The items of an object's entry, whose name is an id, a heading, or an item itself."""
    match value:
        case dict() if kind.knows(value):
            told = [kind.fields.get(key(part)) for part in value]
            own = "id" if "id" in kind.model.model_fields and kind.main in told else kind.main
            yield [(own, name), *value.items()]
        case list() if key(name) in {*_LISTS, argument, argument.removesuffix("s")}:
            yield from _each(value, kind, argument, sent)
        case list():
            heading = kind.main if kind.main in kind.form.joined else kind.form.beside
            for pairs in _each(value, kind, argument, sent):
                yield [(heading, name), *pairs]
        case _:
            yield _pair(name, "" if value is True else text(value), kind)


def _pair(name: str, words: str, kind: Kind) -> Pairs:
    """The item that `{name: words}` means."""
    beside = kind.form.beside
    if not (name and words):
        return [(kind.main, name or words)]
    if "id" in kind.model.model_fields and is_name(name):
        return [("id", name), (kind.main, words)]
    if kind.model is Artifact and _is_path(words) and not _is_path(name):
        return [(kind.main, words), (beside, name)]
    if beside and (is_name(words) or not kind.form.only_names):
        return [(kind.main, name), (beside, words)]
    return [(kind.main, name), (kind.main, words)]


def _is_path(word: str) -> bool:
    return re.fullmatch(r"[^\s./]*[./]\S*", word) is not None


def _item(pairs: Pairs, kind: Kind, argument: str, sent: Sent) -> Value | None:
    """The item, or None for one that does not say what it is about."""
    came: dict[str, Pairs] = {}
    for name, value in pairs:
        if text(value):
            came.setdefault(key(name), []).append((name, value))
    said: dict[str, Pairs] = {}
    for alias, name in kind.fields.items():
        said.setdefault(name, []).extend(came.pop(alias, ()))
    if not said[kind.main]:
        if any(said.values()) or came:
            source = shown(dict(pairs))
            sent.warn(f"an item of {argument} without {kind.main} was left out: {source}")
        return None
    lost: Pairs = [pair for unknown in came.values() for pair in unknown]
    fields = _fields(said, kind, argument, sent, lost)
    if lost:
        names = ", ".join(f'"{short(name)}" ({shown(value)})' for name, value in lost)
        main = shown(said[kind.main][0][1])
        sent.warn(f"{argument} have no place for {names}: left out of {main}")
    return kind.model(**fields)


def _fields(
    said: Mapping[str, Pairs], kind: Kind, argument: str, sent: Sent, lost: Pairs
) -> dict[str, Any]:
    """The fields that were said, each read by its type; what does not count goes to `lost`."""
    fields: dict[str, Any] = {}
    for name, pairs in said.items():
        values = [value for _, value in pairs]
        if name in kind.form.joined:
            values = [": ".join(dict.fromkeys(map(text, values)))]
        if not text(values):
            continue
        lost += [pair for pair in pairs[1:] if text(pair[1]) not in text(values[0])]
        try:
            fields[name] = _read(values[0], kind.model.model_fields[name].annotation)
        except ValueError as error:
            sent.problem(argument, f"have a {name} that {error}", values[0])
    return fields


def _read(value: Json, annotation: Any) -> Any:
    if get_origin(annotation) is tuple:
        return texts(value)
    if get_origin(annotation) is Literal:
        return _one_of(text(value).lower(), get_args(annotation))
    if annotation is int:
        return _number(text(value))
    return text(value)


def _one_of(word: str, allowed: Sequence[str]) -> str:
    if word not in allowed:
        raise ValueError(f"is none of {', '.join(allowed)}")
    return word


def _number(word: str) -> int:
    """The number of a version: `2`, `v2`."""
    digits = re.fullmatch(r"\D{0,20}(\d{1,6})(?:\.0)?", word)
    if digits is None:
        raise ValueError("is no whole number")
    return int(digits[1])
