"""The forgiving JSON reader: what a model writes, however sloppy, becomes values.

Its odd results are the host's (tests compare the two): an unquoted word swallows the `,` or `}` that ends it.
"""

import json

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_QUOTES = "\"'`"


def try_parse(json_string: str):
    try:
        value = json.loads(json_string)
    except json.JSONDecodeError:
        value = parse(json_string)
    return value


def parse(json_string: str):
    return DirtyJson.parse_string(json_string)


def stringify(obj, **kwargs):
    return json.dumps(obj, **({"ensure_ascii": False} | kwargs))


class DirtyJson:
    """`completed`: the outermost object or list was closed; `index`: the first character after what was read."""

    def __init__(self):
        self.json_string, self.index, self.result, self.completed = "", 0, None, False
        self._depth = 0

    @staticmethod
    def parse_string(json_string):
        return DirtyJson().parse(json_string)

    def parse(self, json_string):
        self.__init__()
        if not json_string:
            return None
        self.json_string, self.index = json_string, self.get_start_pos(json_string)
        self.result = self._value()
        return self.result

    def get_start_pos(self, input_str: str) -> int:
        places = [place for place in map(input_str.find, '{["') if place >= 0]
        return min(places, default=0)

    # ------------------------------------------------------------------ characters

    @property
    def _char(self):
        return self.json_string[self.index] if self.index < len(self.json_string) else None

    def _ahead(self, text: str) -> bool:
        return self.json_string.startswith(text, self.index)

    def _skip(self):
        """White space and both kinds of comment."""
        while (char := self._char) is not None:
            if char.isspace():
                self.index += 1
            elif self._ahead("//"):
                self._jump_past("\n", 2)
            elif self._ahead("/*"):
                self._jump_past("*/", 2)
            else:
                return

    def _jump_past(self, mark: str, opening: int):
        found = self.json_string.find(mark, self.index + opening)
        self.index = len(self.json_string) if found < 0 else found + len(mark)

    # ------------------------------------------------------------------ values

    def _value(self):
        self._skip()
        char = self._char
        if char is None:
            return None
        if char == "{":
            self.index += 2 if self._depth == 0 and self._ahead("{{") else 0
            return self._object()
        if char == "[":
            return self._list()
        if char in _QUOTES:
            return self._block(char) if self._ahead(char * 3) else self._string()
        if char.isdigit() or char in "+-":
            return self._number()
        for word, value in (("true", True), ("false", False), ("null", None), ("undefined", None)):
            if self.json_string[self.index : self.index + len(word)].lower() == word:
                self.index += len(word)
                return value
        return self._word()

    def _object(self):
        self.index += 1
        self._depth += 1
        members = {}
        while self._char is not None:
            self._skip()
            if self._char == "}":
                self.index += 2 if self._depth == 1 and self._ahead("}}") else 1
                self.completed |= self._depth == 1
                break
            if self._char is None:
                break
            key = self._key()
            self._skip()
            if self._char == ":":
                self.index += 1
            members[key] = self._value()
            self._skip()
            if self._char == ",":
                self.index += 1
        self._depth -= 1
        return members

    def _list(self):
        self.index += 1
        self._depth += 1
        items = []
        while self._char is not None:
            self._skip()
            if self._char == "]":
                self._close_list()
                break
            items.append(self._value())
            self._skip()
            if self._char == ",":
                self.index += 1
                self._skip()
                if self._char == "]":
                    self._close_list()
                    break
            elif self._char != "]":
                break
        self._depth -= 1
        return items

    def _close_list(self):
        self.index += 1
        self.completed |= self._depth == 1

    def _key(self):
        if self._char in ('"', "'"):
            return self._string()
        start = self.index
        while (char := self._char) is not None and not char.isspace() and char not in ":,}]":
            self.index += 1
        return self.json_string[start : self.index]

    def _string(self):
        quote = self._char
        self.index += 1
        read: list[str] = []
        while (char := self._char) is not None and char != quote:
            self.index += 1
            if char != "\\":
                read.append(char)
                continue
            escape = self._char
            if escape == "u":
                self.index += 1
                code = self._four()
                if (
                    len(code) < 4
                ):  # given up in the middle: the host ends the string here, before its quote
                    return "".join(read) + "\\u" + code
                read.append(_code_unit(code))
            elif escape is not None:
                read.append(_ESCAPES.get(escape, escape if escape in "\"'\\/" else ""))
                self.index += 1
        if self._char == quote:
            self.index += 1
        return "".join(read)

    def _four(self) -> str:
        start = self.index
        while self.index < start + 4 and (char := self._char) is not None and char.isalnum():
            self.index += 1
        return self.json_string[start : self.index]

    def _block(self, quote: str):
        start = self.index + 3
        found = self.json_string.find(quote * 3, start)
        end = len(self.json_string) if found < 0 else found
        self.index = end if found < 0 else end + 3
        return self.json_string[start:end].strip()

    def _number(self):
        start = self.index
        while (char := self._char) is not None and (char.isdigit() or char in "+-.eE"):
            self.index += 1
        text = self.json_string[start : self.index]
        try:
            return int(text)
        except ValueError:
            return float(text)

    def _word(self):
        start = self.index
        while (char := self._char) is not None and char not in ":,}]":
            self.index += 1
        text = self.json_string[start : self.index].strip()
        self.index += 1
        return text


def _code_unit(code: str) -> str:
    """`\\ud83c` becomes a lone surrogate, also when its other half follows."""
    try:
        return chr(int(code, 16))
    except ValueError:
        return "\\u" + code
