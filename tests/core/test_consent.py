"""A decline is lifted by the person only: by the value, by the field's name, or by a yes to a question that names it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.history.consent import Declined, quotes, takes_back
from usr.plugins.software_orchestrator.helpers.values.call import Caller, PersonMessage

PRICES = Declined("prices", "I would rather not show prices; don't ask me again", "from 10 EUR")
VAT = Declined("vat_id", "", "DE123456789")
SHOW = Declined("show_prices", "", True)


def lifted(declined, *said, quote=""):
    messages = [PersonMessage(*(one if isinstance(one, tuple) else (one,))) for one in said]
    return takes_back(quote or messages[-1].text, messages, declined)


@pytest.mark.parametrize(
    ("declined", "message"),
    [
        (VAT, "my VAT id is DE123456789"),
        (VAT, "All right, it is de123456789, go on"),
        (VAT, "No problem: DE123456789"),
        (VAT, "Don't ask me about the phone number. DE123456789 is the other one."),
        (PRICES, "Fine, put \u201cfrom 10 EUR\u201d on the page."),
        (PRICES, "You may show the prices now."),
        (PRICES, "OK, price it after all, you can show it"),
        (SHOW, "Please show the prices"),
        (Declined("budget", "", 12000), "The budget: 12,000 at most"),
        (Declined("budget", "", 12000), "12000"),
        (
            Declined("preise", "Ich möchte keine Preise zeigen", 1),
            "Die Preise dürfen jetzt auf die Seite.",
        ),
        (Declined("prix", "", 1), "Vous pouvez montrer les prix."),
        (Declined("цены", "", 1), "Хорошо, покажите цену"),
        (Declined("价格", "", 1), "可以显示价格"),
        (Declined("価格", "", 1), "価格を見せてもいいです"),
        (Declined("가격", "", 1), "가격을 보여 주세요"),
        (Declined("ราคา", "", 1), "แสดงราคาได้"),
        (Declined("numbers", "", [1, 2]), "They are 1 and 2"),
    ],
)
def test_the_value_or_the_name_of_the_field_lifts(declined, message):
    assert lifted(declined, message)


@pytest.mark.parametrize(
    ("declined", "message"),
    [
        (PRICES, "No! I still do not want to show prices. Please continue"),
        (PRICES, "Please continue"),
        (PRICES, "Go on with the footer, it looks good"),
        (PRICES, "Leave the prices out"),
        (PRICES, "Why do you ask about the prices?"),
        (PRICES, "The prices stay secret"),
        (PRICES, "Prices? Never."),
        (PRICES, "No, thanks. Show me the prices of others"),
        (PRICES, "Prices are off limits."),
        (PRICES, "I already told you what I think about the prices."),
        (PRICES, "Let us move on from the prices"),
        (PRICES, "Prices again? Please."),
        (Declined("preise", "", 1), "Ich bleibe dabei: Preise sind tabu."),
        (Declined("prix", "", 1), "Laisse tomber les prix"),
        (VAT, "my VAT id stays secret"),
        (VAT, "my VAT id is not DE123456789"),
        (VAT, "I don't want DE123456789 to be used"),
        (VAT, "DE1234567890"),
        (Declined("prices", "", True), "yes, continue"),
        (Declined("prices", "", "yes"), "yes please go on"),
        (Declined("prices", "", "continue"), "continue please"),
        (Declined("budget", "", 1), "11 people work here"),
        (Declined("preise", "", 1), "Die Preise bitte weiterhin nicht zeigen"),
        (Declined("prix", "", 1), "Toujours pas les prix."),
        (Declined("precios", "", 1), "No muestres los precios"),
        (Declined("preços", "", 1), "Não mostre os preços"),
        (Declined("prezzi", "", 1), "Senza prezzi, grazie"),
        (Declined("ceny", "", 1), "Nie pokazuj ceny"),
        (Declined("цены", "", 1), "Цены не показывать"),
        (Declined("价格", "", 1), "还是不要显示价格"),
        (Declined("価格", "", 1), "価格は見せたくない"),
        (Declined("가격", "", 1), "가격은 보여주지 마세요"),
        (Declined("ราคา", "", 1), "อย่าแสดงราคา"),
        (Declined("الأسعار", "", 1), "لا تعرض الأسعار"),
    ],
)
def test_a_refusal_a_question_and_words_about_something_else_lift_nothing(declined, message):
    assert not lifted(declined, message)


ASKED = "The hero is done. May I show the prices now?"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (ASKED, "Yes"),
        (ASKED, "yes, go on"),
        (ASKED, "Sure, no problem."),
        (ASKED, "ja, gerne"),
        (ASKED, "d'accord"),
        (ASKED, "好的"),
        (ASKED, "네"),
        ("I would like to show the prices. May I?", "Go ahead"),
        ("Darf ich die prices zeigen?", "Ja!"),
    ],
)
def test_a_yes_to_a_question_that_names_the_field_is_heard(asked, answer):
    assert lifted(PRICES, (answer, asked))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (ASKED, "No"),
        (ASKED, "ok, but leave them out"),
        (ASKED, "Yes to the hero, not to the rest"),
        (ASKED, "Please continue"),
        ("May I deploy now?", "Yes"),
        ("Shall I leave the prices out?", "Yes"),
        ("Shall we ship without prices?", "ok"),
        ("Should the prices stay hidden or not?", "yes"),
        ("The prices are ready. Shall I go on with the footer and its many links?", "Yes"),
        ("I will not show the prices, ok?", "ok"),
        ("", "Yes"),
    ],
)
def test_a_yes_to_something_else_is_none(asked, answer):
    assert not lifted(PRICES, (answer, asked))


def test_a_later_refusal_wins_and_a_later_no_to_something_else_does_not():
    yes = "You may show the prices."
    assert not lifted(PRICES, yes, "No, leave it. I'd rather not show prices.", quote=yes)
    assert not lifted(PRICES, yes, "No!", quote=yes)
    assert lifted(PRICES, yes, ("No.", "Shall I add a map?"), quote=yes)
    assert lifted(PRICES, "No!", yes, quote=yes)


def test_words_that_nobody_wrote_lift_nothing():
    assert not lifted(VAT, "my VAT id is", "DE123456789", quote="my VAT id is DE123456789")
    assert not lifted(VAT, quote="DE123456789")
    assert not takes_back("", [PersonMessage("DE123456789")], VAT)


@pytest.mark.parametrize(
    ("words", "message", "proof"),
    [
        ("ok", "ok", True),
        ("ok", "look at this", False),
        ("yes", "Yes, please show them", True),
        ("", "anything", False),
        (" ", " ", False),
        ("yes, DE1", "well: yes, DE1", True),
    ],
)
def test_very_few_words_prove_something_only_as_a_whole_part_of_a_message(words, message, proof):
    assert quotes(words, message) is proof


@given(st.text(max_size=300), st.text(max_size=40), st.text(max_size=300))
def test_no_words_lift_a_decline_that_was_renewed_after_them(message, field, asked):
    no = "No! I still do not want that."
    said = [PersonMessage(message, asked), PersonMessage(no)]
    assert not takes_back(message, said, Declined(field, "", message))


@pytest.mark.parametrize("text", ["no ", "ask ", "keep a b c ", "не ", "i do ", "x", "不", "? "])
def test_long_messages_cost_linear_time(text):
    def cost(times):
        begun = time.process_time()
        lifted(PRICES, (text * times, text * times))
        return time.process_time() - begun

    cost(100)
    assert cost(16_000) < 8 * max(cost(4_000), 0.02)


def test_what_was_asked_belongs_to_its_message_also_where_older_ones_are_unknown():
    caller = Caller(person_count=9, person_messages=("a", "b", "c"), person_asked=("?b", "?c"))
    assert caller.said_since(6) == (("a", ""), ("b", "?b"), ("c", "?c"))
    assert caller.said_since(8) == (("c", "?c"),)
    assert caller.said_since(9) == ()
