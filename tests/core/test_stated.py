"""What a chat states in the words people use: a decision with its reason and owner, the field of a decline."""

import pytest

from usr.plugins.software_orchestrator.helpers.cli.arguments import arguments_of_chat
from usr.plugins.software_orchestrator.helpers.history import patterns
from usr.plugins.software_orchestrator.helpers.history.extract import (
    Extract,
    Stated,
    any_of,
    field_of,
    sentences,
    stated,
)


@pytest.mark.parametrize(
    ("quote", "text", "why", "owner"),
    [
        (
            "CSS grid, no framework. Why: Bootstrap bundle was 180 kB over budget. Owner: user.",
            "CSS grid, no framework",
            "Bootstrap bundle was 180 kB over budget",
            "user",
        ),
        ("Use AVIF because it is smaller", "Use AVIF", "it is smaller", ""),
        ("Owner: Eva", "Owner: Eva", "", ""),
        ("Use AVIF. Decided by: the person; reason: smaller", "Use AVIF", "smaller", "user"),
        ("AVIF, weil es kleiner ist. Verantwortlich: Eva", "AVIF", "es kleiner ist", "Eva"),
        ("AVIF, parce que c'est léger", "AVIF", "c'est léger", ""),
        ("Usamos AVIF porque pesa menos", "Usamos AVIF", "pesa menos", ""),
        ("Берём AVIF, потому что он легче", "Берём AVIF", "он легче", ""),
        ("使用 AVIF，因为更小。负责人：小王", "使用 AVIF", "更小", "小王"),
        ("AVIFを使う。理由：軽い", "AVIFを使う", "軽い", ""),
        ("Because we can", "Because we can", "", ""),
        ("Keep it as it is", "Keep it as it is", "", ""),
    ],
)
def test_a_decision_says_why_and_whose_it_is(quote, text, why, owner):
    assert stated(quote) == Stated(text, why, owner)


def test_what_the_words_do_not_name_stays_the_chats():
    given = arguments_of_chat(Extract(decisions=("Use HTML. Why: simple.", "No video")))
    assert [(item["text"], item["rationale"], item["owner"]) for item in given["decisions"]] == [
        ("Use HTML", "simple", "chat"),
        ("No video", "", "chat"),
    ]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("I would rather not show prices; don't ask me again", "prices"),
        ("I'd rather not show prices don't ask me again", "prices"),
        ("I would rather not show the prices on the page", "prices"),
        ("We'd rather not share our revenue with anyone", "revenue"),
        ("No phone number, that is a legal no.", "phone_number"),
        ("Ich möchte die Preise nicht zeigen.", "preise"),
        ("Bitte frag mich nicht nach meinem Budget.", "budget"),
        ("Je préfère ne pas montrer les prix.", "prix"),
        ("Prefiero no decir el presupuesto.", "presupuesto"),
        ("Prefiro não mostrar os preços", "preços"),
        ("Preferisco non mostrare i prezzi", "prezzi"),
        ("Ik wil liever niet de prijzen tonen", "prijzen"),
        ("Я не хочу показывать цены", "цены"),
        ("我不想透露预算", "预算"),
        ("価格を見せたくない", "価格"),
        ("가격은 말하고 싶지 않아요", "가격"),
        ("ไม่อยากบอกราคา", "ราคา"),
    ],
)
def test_a_declined_field_is_named_as_people_name_it(words, field):
    assert any_of(patterns.DECLINE).search(words)
    assert field_of(sentences(words)[0], words) == field
