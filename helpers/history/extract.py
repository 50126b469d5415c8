"""The plain extract of a chat: the first request, what was decided, declined, ruled out and set as acceptance, verbatim.

No model is asked. The rules look for the sentences in which people state such things, and rather miss one than invent one:
everything returned is a quotation. Issue: "first request, what was decided and declined in the chat's own words".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from .transcript import ASSISTANT, USER, Message, Transcript

MAX_QUOTE_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Decline:
    """Something the person does not want to give, see or be asked. `field` is a name made from the words (`prices`)."""

    field: str
    verbatim: str
    turn: int


@dataclass(frozen=True, slots=True)
class Extract:
    """What a chat says by itself; every text is verbatim, in the order of the chat.

    `rejected` are ways that were tried or ruled out; `person_messages` the turn numbers of all messages of the person.
    """

    first_request: str = ""
    decisions: tuple[str, ...] = ()
    declines: tuple[Decline, ...] = ()
    rejected: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    person_messages: tuple[int, ...] = ()


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


DECLINE: Final = _any(
    r"\bdo(?:n['’]t| not) (?:ever )?ask\b", r"\bstop asking\b", r"\b(?:i|we)(?:['’]d| would)? (?:rather not|prefer not)\b",
    r"\b(?:i|we) (?:don['’]t|do not|won['’]t|will not) (?:(?:want|like|wish) to )?(?:share|say|give|tell|show|disclose|answer)\b",
    r"\b(?:i|we) (?:can['’]t|cannot) (?:stand|bear)\b", r"\b(?:i|we) hate\b", r"\bnone of your business\b",
    r"\b(?:that|this|it)(?:['’]s| is) (?:a |an )?(?:\w+ )?no\b(?! \w)", r"\bout of the question\b", r"\boff the table\b",
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian
    r"\bfrag(?:e|t|en sie)? (?:mich |uns )?(?:bitte )?nicht\b",
    r"\b(?:möchte|will|mag|wollen|möchten) (?:ich|wir) .{0,40}\bnicht\b", r"\blieber nicht\b", r"\bkommt nicht in ?frage\b",
    r"\bne (?:me|nous) (?:re)?demande[zr]? (?:plus|pas)\b", r"\bje préfère ne pas\b", r"\bhors de question\b",
    r"\bno (?:me|nos) (?:vuelvas? a )?pregunt", r"\bprefiero no\b", r"\bprefiro não\b", r"\bnão (?:me|nos) pergunt",
    r"\bpreferisco (?:di )?no[n]?\b", r"\bnon chieder", r"\bvraag (?:me|mij|ons) niet\b", r"\bliever niet\b",
    r"\bnie pytaj", r"\bwolę nie\b", r"не спрашивай", r"предпоч\w+ не\b",
    r"не хочу (?:говорить|называть|давать|показывать)",
    # Chinese, Japanese, Korean, Thai, Arabic
    r"(?:不要|别|請勿|请勿)再?问", r"不(?:想|愿|願|方便)(?:意)?(?:透露|说|說|告诉|提供|回答|显示)", r"聞かないで",
    r"(?:言|答え|見せ)たくない", r"묻지 ?(?:마|말)", r"말하고 싶지 않", r"อย่าถาม",
    r"ไม่(?:อยาก|ขอ|ต้องการ)(?:บอก|ตอบ|ให้|แสดง)", r"لا تسأل",
)  # fmt: skip
RULE: Final = _any(
    r"^(?:please )?(?:use|keep|avoid|stick (?:to|with)|go with|make sure|ensure|prefer)\b",
    r"^let['’]s (?:use|go|keep|take)\b", r"\bwe (?:will|['’]ll|are going to) (?:use|go with|keep|take)\b",
    r"\b(?:must|shall)(?: not|n['’]t)?\b", r"\b(?:has|have) to be\b",
    r"\b(?:never|do not|don['’]t) (?!ask\b|know\b|think\b|see\b|understand\b|remember\b|have\b|worry\b|mind\b|get\b)\w+",
    r"\bonly\b(?=[.,;!]|$|, please)", r"\b(?:at least|at most|no more than|not more than|maximum|minimum)\b",
    r"(?:^|[,;:] )no \w+(?: \w+)?(?=[.,;!]|$)",
    r"\b(?:budget|deadline|limit|launch|go-live|target|brand colou?r|colou?r)\b[^?]{0,40}\b(?:is|are|on|by|:)\s",
    r"\b(?:is|are) approved\b|\bapproved (?:it|this|that)\b",
    r"\b(?:we|i)(?:['’]ve| have)? (?:decided|agreed|chosen|chose|settled)\b", r"^(?:decided|agreed|decision|final)\b",
    r"\bkeep (?:it|them|this|that) as\b", r"\bi want to (?:see|check|approve|review)\b.*\bbefore\b",
    r"\bmake(?: it)? idempotent\b",
    r"\b(?:muss|müssen|darf nicht|dürfen nicht|nur noch|auf keinen fall|wir nehmen|wir haben entschieden|entschieden)\b",
    r"\b(?:doit|doivent|il faut|uniquement|on a décidé|nous avons décidé)\b",
    r"\b(?:debe|deben|tiene que|solamente|hemos decidido|usaremos|no uses)\b",
    r"\b(?:deve|devem|devono|temos que|somente|decidimos|abbiamo deciso|soltanto)\b",
    r"(?:должн[аоы]?\b|нельзя|только|решили)", r"\b(?:musi|tylko|zdecydowaliśmy)\b",
    r"(?:必须|必須|不要|不得|不能|只能|只用|决定|決定|务必)", r"(?:てはいけない|しないで|必ず|だけ(?:に|を|で)|に決め)",
    r"(?:해야 (?:한다|합니다|해)|하지 ?마|만 사용)", r"(?:เท่านั้น|ต้อง|ห้าม|อย่า)",
)  # fmt: skip
TRIED: Final = _any(
    r"\b(?:we|i) (?:already )?tried\b", r"\b(?:did not|didn['’]t|does not|doesn['’]t) work\b.*\bbecause\b",
    r"\bwir haben .{0,60}(?:probiert|versucht)\b", r"试过|試した",
)  # fmt: skip
SAID_DECIDED: Final = _any(
    r"^\W*decision(?: \d+)?\s*:", r"^\W*(?:decided|agreed)\b",
    r"\b(?:we|i)(?:['’]ve| have)? (?:decided|agreed|settled|chosen|chose)\b",
    r"^\W*(?:entscheidung|décision|decisión|决定|決定)\s*[:：]",
)  # fmt: skip
SAID_REJECTED: Final = _any(
    r"^\W*(?:rejected|ruled out|verworfen|rejeté|descartado)\s*:", r"^\W*we ruled out\b"
)
ACCEPTANCE: Final = _any(
    r"^\W*(?:acceptance(?: criteria| criterion)?|definition of done|done when|abnahme|验收(?:标准)?)\s*[:：]"
)
_LABEL: Final = {
    "acceptance": re.compile(ACCEPTANCE.pattern + r"[\s*_]*", re.IGNORECASE),
    "rejected": re.compile(
        r"^\W*(?:rejected|ruled out|verworfen|rejeté|descartado)\s*:[\s*_]*", re.IGNORECASE
    ),
}
_BACKWARD: Final = re.compile(
    r"^(?:don['’]t|do not|never|keep|please|leave)\b[^.]{0,30}\b(?:it|them|this|that|those|these)\b",
    re.IGNORECASE,
)
_GREETING: Final = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend)|moin|bonjour|salut|hola|ciao|olá"
    r"|привет|你好|您好|こんにちは|안녕하세요|สวัสดี(?:ครับ|ค่ะ)?)(?: there| all| again)?\W*$",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(
    r"(?<!\s\d\.)(?<=[.!?…])\s+|(?<=[.!?…]['\"’”)])\s+|(?<=[。！？])(?!['\"’”」』)])|\n+"
)
_ITEM: Final = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+(.*\S)")
_QUESTION: Final = re.compile(r"[?？]['\"’”)]?$")
_FIELD: Final = (
    re.compile(r"\bask(?:ing)?\b.*?\b(?:about|for)\s+(?P<it>.+)", re.IGNORECASE),
    re.compile(r"\b(?:can['’]t|cannot) (?:stand|bear)\s+(?P<it>.+)", re.IGNORECASE),
    re.compile(r"\b(?:i|we) hate\s+(?P<it>.+)", re.IGNORECASE),
    re.compile(r"^no\s+(?P<it>[^,;]+)[,;]", re.IGNORECASE),
    re.compile(
        r"\b(?:share|say|give|tell|show|disclose|answer)\s+(?:you |out )?(?P<it>.+)", re.IGNORECASE
    ),
    re.compile(
        r"^(?P<it>[^,;:]{2,40}?)\s+(?:is|are) (?:out of the question|off the table)", re.IGNORECASE
    ),
    re.compile(r"^for (?:the )?(?P<it>[^:,]{2,40})[:,]", re.IGNORECASE),
)
_FILLER: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "any",
        "our",
        "my",
        "your",
        "that",
        "this",
        "these",
        "those",
        "yet",
        "again",
        "now",
        "anymore",
        "please",
        "more",
        "to",
        "you",
        "me",
        "us",
    ]
)


def extract(transcript: Transcript) -> Extract:
    """What the chat says by itself: the person's words are searched for all, agents' words only for stated decisions."""
    kinds = transcript.at_a_glance.kinds
    persons = [transcript[at] for at in range(len(kinds)) if kinds[at] == USER]
    spoken = [message for message in persons if not message.is_empty]
    quotes: dict[str, list[str]] = {"decision": [], "rejected": [], "acceptance": []}
    declines: list[Decline] = []
    for message in _telling(transcript):
        for kind, quote in findings(message):
            if kind == "decline":
                declines.append(
                    Decline(_field(quote, message.text, len(declines)), quote, message.number)
                )
            else:
                quotes[kind] += _without_label(kind, quote)
    return Extract(
        first_request=next(
            (each.text.strip() for each in spoken if not _GREETING.match(each.text)), ""
        ),
        decisions=_distinct(quotes["decision"]),
        declines=_one_per_field(declines),
        rejected=_distinct(quotes["rejected"]),
        acceptance=_distinct(quotes["acceptance"]),
        person_messages=tuple(message.number for message in spoken),
    )


def _without_label(kind: str, quote: str) -> tuple[str, ...]:
    """The quotation without the label that names its kind, since it is listed under that; () where nothing else was said."""
    told = _LABEL[kind].sub("", quote).strip(" *_") if kind in _LABEL else quote
    return (told,) if told else ()


def _telling(transcript: Transcript) -> Iterator[Message]:
    """Messages worth a closer look: the person's, and agents' that hold a word of deciding at all."""
    index = transcript.at_a_glance
    for at, kind in enumerate(index.kinds):
        if kind == USER or (kind == ASSISTANT and index.tells[at]):
            yield transcript[at]


def findings(message: Message) -> list[tuple[str, str]]:
    """(kind, verbatim quotation) of one message; kind is decision, decline, rejected or acceptance."""
    if message.role == "user":
        return _person(message.text)
    if message.is_call:
        return [("decision", line) for line in _decision_file(message)]
    if message.role == "assistant":
        return _agent(message.text)
    return []


def _person(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    before = ""
    for sentence in sentences(text):
        kind = _person_kind(sentence)
        if kind:
            back = before and kind == "decision" and _BACKWARD.search(sentence)
            if back and found and found[-1][1] == before:
                found.pop()
            found.append((kind, f"{before} {sentence}" if back else sentence))
        before = sentence
    return found


def _person_kind(sentence: str) -> str:
    if ACCEPTANCE.search(sentence):
        return "acceptance"
    if DECLINE.search(sentence):
        return "decline"
    if _QUESTION.search(sentence):
        return ""
    if TRIED.search(sentence):
        return "rejected"
    return "decision" if RULE.search(sentence) else ""


def _agent(text: str) -> list[tuple[str, str]]:
    found = []
    for sentence in sentences(text):
        if SAID_REJECTED.search(sentence):
            found.append(("rejected", sentence))
        elif SAID_DECIDED.search(sentence) and not _QUESTION.search(sentence):
            found.append(("decision", sentence))
    return found


def _decision_file(message: Message) -> Iterator[str]:
    """List items of a file of decisions that an agent wrote (`decisions.md`, an ADR)."""
    head, _, body = message.text.partition("content:")
    if not ("write" in message.tool or "patch" in message.tool) or not re.search(
        r"decision|entscheid|\badr\b", head, re.IGNORECASE
    ):
        return
    for line in body.splitlines():
        item = _ITEM.match(line)
        if item:
            yield item.group(1)[:MAX_QUOTE_CHARS]


def sentences(text: str) -> list[str]:
    """Sentences of at most 400 characters; longer runs (pasted logs, data) are not sentences and are passed over."""
    return [
        part.strip()
        for part in _BREAK.split(text)
        if 0 < len(part) <= MAX_QUOTE_CHARS and not part.isspace()
    ]


def _field(quote: str, text: str, number: int) -> str:
    for pattern in _FIELD:
        for where in (quote, text if pattern is _FIELD[-1] else ""):
            match = pattern.search(where)
            words = re.findall(r"\w+", match.group("it")) if match else []
            kept = [word.lower() for word in words if word.lower() not in _FILLER][:3]
            if kept:
                return "_".join(kept)
    return f"declined_{number + 1}"


def _one_per_field(declines: Iterable[Decline]) -> tuple[Decline, ...]:
    """Sentences about one thing become one decline with all the words."""
    merged: dict[str, Decline] = {}
    for each in declines:
        first = merged.get(each.field)
        if first is None:
            merged[each.field] = each
        elif each.verbatim not in first.verbatim:
            merged[each.field] = Decline(
                each.field, f"{first.verbatim} {each.verbatim}", first.turn
            )
    return tuple(merged.values())


def _distinct(quotes: Iterable[str]) -> tuple[str, ...]:
    """Each thing once: of two quotations where one says all the words of the other, the longer one, at the first's place."""
    kept: list[tuple[str, frozenset[str]]] = []
    for quote in quotes:
        words = frozenset(re.findall(r"\w+", quote.casefold())) - {
            "decision",
            "1",
            "2",
            "3",
            "4",
            "5",
            "use",
            "plain",
            "please",
        }
        same = next((at for at, (_, has) in enumerate(kept) if words <= has or has <= words), None)
        if same is None:
            kept.append((quote, words))
        elif len(words) > len(kept[same][1]):
            kept[same] = (quote, words)
    return tuple(quote for quote, _ in kept)
