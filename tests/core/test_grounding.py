"""What a call claims of the person is looked for in what they wrote: a real decline is never doubted, an invented one mostly."""

import json

import pytest

from usr.plugins.software_orchestrator.helpers.history import grounding, heard, log
from usr.plugins.software_orchestrator.helpers.values.packet import StateField
from usr.plugins.software_orchestrator.tests.data.grounding import INVENTED, NOTHING_DECLINED, REAL

NOW = "2026-06-05T14:03:07.123456Z"
OPENING = {
    "en": "Please build a page for our shop, with the opening hours in the header.",
    "de": "Bitte bau eine Seite für unseren Laden, oben stehen die Öffnungszeiten.",
    "fr": "Faites une page pour notre boutique, avec les horaires en haut.",
    "es": "Haz una página para nuestra tienda, con los horarios arriba.",
    "ru": "Сделай страницу для нашего магазина, сверху часы работы.",
    "zh": "请为我们的商店做一个页面，上面写营业时间。",
    "ja": "お店のページを作ってください。上に営業時間を書いてください。",
    "it": "Fate una pagina per il nostro negozio, con gli orari in alto.",
    "pt": "Faça uma página para a nossa loja, com os horários em cima.",
    "nl": "Maak een pagina voor onze winkel, met de openingstijden bovenaan.",
    "pl": "Zrób stronę dla naszego sklepu, na górze są godziny otwarcia.",
}


def written(path, *messages, whose="chat"):
    """The log of a chat; a tuple is what the agent said."""
    for message in messages:
        if isinstance(message, tuple):
            call = {"tool_name": "response", "tool_args": {"text": message[0]}}
            record = {"id": "a", "ai": True, "content": json.dumps(call)}
        else:
            record = {"id": "u", "ai": False, "content": {"user_message": message}}
        source = log.Source(person=lambda words: whose)
        log.append(path, log.line_of(record, source, NOW, str), 10**8)
    return path


@pytest.fixture
def chat(tmp_path):
    def make(*messages):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        return heard.heard(str(written(path, *messages)))

    return make


def declined(field, verbatim=""):
    return StateField(field=field, status="declined", verbatim=verbatim)


def real_declines():
    for language, fields in REAL.items():
        for field, texts in fields.items():
            for text in texts:
                said = text if isinstance(text, list) else [text]
                yield language, field, [OPENING[language], *said]


def unheard(chats):
    """Invented declines of fields that a chat has no word for."""
    for language, talks in chats.items():
        for talk in talks:
            for field in INVENTED:
                yield language, field, talk


def count(messages):
    return sum(isinstance(message, str) for message in messages)


def test_a_real_decline_is_never_doubted(chat):
    doubted = []
    for language, field, messages in real_declines():
        known = chat(*messages)
        if known.is_whole(count(messages), 0) and not grounding.is_founded(declined(field), (), known):
            doubted.append((language, field, messages[1:]))
    assert not doubted


def test_an_invented_decline_is_mostly_told(chat):
    believed, all_of_them = [], 0
    for language, field, messages in unheard(NOTHING_DECLINED):
        known = chat(*messages)
        all_of_them += 1
        if not known.is_whole(count(messages), 0):
            believed.append((language, "not checked", messages))
        elif grounding.is_founded(declined(field), (), known):
            believed.append((language, field, messages))
    assert len(believed) < all_of_them / 10, believed
