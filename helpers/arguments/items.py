"""Items of a list: decisions, artifacts, rejected paths, open questions, flags.

How an item is read follows from its model in `values.packet`: the one field without a default is
its main one, and each field is read by its type. `FORMS` says what else models call the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, get_origin

from pydantic import JsonValue as Json
from pydantic import ValidationError

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
    that stands beside the main one, as in `{main: value}`; where `only_names`, only by the name of
    a field. What came under several names of a `joined` field is told together; of others the
    first counts. `measured` fields are found out, never said. `comma_words` is how many words a
    part of a comma list may have.
    """

    model: type[Value]
    names: Mapping[str, str] = field(default_factory=dict)
    beside: str = ""
    only_names: bool = False
    joined: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    comma_words: int = 0

    @cached_property
    def main(self) -> str:
        """The field that each item needs."""
        fields = self.model.model_fields
        return next(name for name, about in fields.items() if about.is_required())

    @cached_property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Each field that can be said, with all its names."""
        fields = [name for name in self.model.model_fields if name not in self.measured]
        return {name: (name, *self.names.get(name, "").split()) for name in fields}

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """For each name the field that it means."""
        found: dict[str, str] = {}
        for name, aliases in self.aliases.items():
            found |= dict.fromkeys(aliases, name)
        return found

    def knows(self, item: Mapping[str, Json]) -> bool:
        """Whether an object is an item: it names a field."""
        return not self.fields.keys().isdisjoint(map(key, item))


FORMS: Mapping[type[Value], Form] = {
    form.model: form
    for form in (
        Form(
            Decision,
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
        Form(
            Artifact,
            names={
                "path": "file filename file_path uri url reference name",
                "kind": "type title description note purpose",
            },
            beside="kind",
            joined=("kind",),
            measured=("sha256", "size"),
            comma_words=2,
        ),
        Form(
            RejectedPath,
            names={
                "what": "title path option tried approach text description",
                "why": "reason because rationale",
            },
            beside="why",
            joined=("what", "why"),
        ),
        Form(
            OpenQuestion,
            names={"text": "title question what description content", "field": "answers"},
            beside="field",
            only_names=True,
            joined=("text",),
        ),
        Form(
            Flag,
            names={"text": "flag title what message description", "fields": "field"},
            beside="fields",
            only_names=True,
            joined=("text",),
        ),
    )
}


def items(value: Json, model: type[Item], argument: str, sent: Sent) -> tuple[Item, ...]:
    """Items from texts, objects, JSON, or one object that names them; what is lost is warned of."""
    form = FORMS.get(model) or Form(model)
    made = []
    for pairs in _each(value, form, argument, sent):
        fields = _fields(pairs, form, argument, sent)
        try:
            made += [model(**fields)] if fields else []
        except ValidationError as error:
            for wrong in error.errors():
                name = str(wrong["loc"][0])
                sent.problem(argument, f"have a wrong {name}: {wrong['msg']}", fields[name])
    return tuple(made)


def _each(value: Json, form: Form, argument: str, sent: Sent) -> Iterator[Pairs]:
    """Every item in a value of any form."""
    for part in listed(value, words=form.comma_words):
        inner = sent.opened(part)
        if not isinstance(inner, dict):
            yield [(form.main, text(inner))]
        elif form.knows(inner):
            yield [*inner.items()]
        else:
            for name, entry in inner.items():
                yield from _entry(name.strip(), sent.opened(entry), form, argument, sent)


def _entry(name: str, value: Json, form: Form, argument: str, sent: Sent) -> Iterator[Pairs]:
    """The items of an object's entry, whose name is an id, a heading, or an item itself."""
    match value:
        case dict() if form.knows(value):
            said = {form.fields.get(key(part)) for part in value}
            own = "id" if "id" in form.fields and form.main in said else form.main
            yield [(own, name), *value.items()]
        case list() if key(name) in {*_LISTS, argument, argument.removesuffix("s")}:
            yield from _each(value, form, argument, sent)
        case list():
            heading = form.main if form.main in form.joined else form.beside
            for pairs in _each(value, form, argument, sent):
                yield [(heading, name), *pairs]
        case _:
            yield _pair(name, "" if value is True else text(value), form)


def _pair(name: str, words: str, form: Form) -> Pairs:
    """The item that `{name: words}` means."""
    if not (name and words):
        return [(form.main, name or words)]
    if "id" in form.fields and is_name(name):
        return [("id", name), (form.main, words)]
    if form.model is Artifact and _is_path(words) and not _is_path(name):
        return [(form.main, words), (form.beside, name)]
    if form.beside and (is_name(words) or not form.only_names):
        return [(form.main, name), (form.beside, words)]
    return [(form.main, name), (form.main, words)]


def _is_path(word: str) -> bool:
    return re.fullmatch(r"[^\s./]*[./]\S*", word) is not None


def _fields(pairs: Pairs, form: Form, argument: str, sent: Sent) -> dict[str, Any]:
    """The fields of an item that were said, by type; none where the main one was not."""
    if len(pairs) == 1 and pairs[0][0] == form.main and isinstance(pairs[0][1], str):
        return {form.main: pairs[0][1]} if pairs[0][1] else {}
    came: dict[str, Pairs] = {}
    for name, value in pairs:
        came.setdefault(key(name), []).append((name, value))
    fields: dict[str, Any] = {}
    lost: Pairs = []
    for name, aliases in form.aliases.items():
        named = [pair for alias in aliases for pair in came.pop(alias, ())]
        told = [(alias, value) for alias, value in named if text(value)]
        if told:
            fields[name], others = _meant(name, told, form)
            lost += others
    if form.main not in fields:
        _warn(pairs, f"an item without {form.main}", argument, sent)
        return {}
    for unknown in came.values():
        lost += unknown
    if lost:
        _warn(lost, f"of {shown(fields[form.main])}", argument, sent)
    return fields


def _meant(name: str, told: Pairs, form: Form) -> tuple[Any, Pairs]:
    """What a field is after all that was told of it, and what of that does not count."""
    if name in form.joined:
        return ": ".join(dict.fromkeys(text(value) for _, value in told)), []
    value = told[0][1]
    others = [pair for pair in told[1:] if text(pair[1]) not in text(value)]
    return _read(value, form.model.model_fields[name].annotation), others


def _warn(lost: Pairs, where: str, argument: str, sent: Sent) -> None:
    names = [f'"{short(name)}" ({shown(value)})' for name, value in lost if text(value)]
    if names:
        sent.warn(f"{argument}: left out {where}: {', '.join(names)}")


def _read(value: Json, annotation: Any) -> Any:
    """A field's value by its type; what is no text is left for the model to check."""
    if get_origin(annotation) is tuple:
        return texts(value)
    if annotation is str:
        return text(value)
    word = text(value).lower()
    version = re.match(r"v?(\d{1,6})\b", word)
    return version[1] if version else word
