"""Which of the languages of `patterns` a text is in, and what in it only looks like a refusal. Data
and one rule; where it is in doubt it says so.
"""

from __future__ import annotations

import re
from typing import Final

ENGLISH: Final = "en"
# The small words of a language: a text of some length always holds one.
_SMALL: Final = {
    ENGLISH: "the a an and or of to in is are be for with on at it this that we you i my our me your"
    " please not no do don't can should will have has from as but if all only so what how"
    " by they them then there here when where why which who would could want need make let now more"
    " very too out up into its was were been he she his her than these those",
    "de": "der die das und oder nicht ist sind ein eine einen einem ich wir sie du es mit für auf bei"
    " zu im den dem des kein keine bitte auch noch nur aber wenn uns mir mich mein unser wie was von an dich dir sich",
    "fr": "le la les un une des et ou ne pas est sont de du je nous vous il elle on pour avec sur dans"
    " au aux ce cette mon notre ma si mais plus que qui en tu moi merci",
    "es": "el la los las un una y o no es son de del yo nosotros usted para con en que por mi nuestro"
    " pero si más lo se al gracias esta este ni nada me nos",
    "pt": "o a os as um uma e ou não é são de do da eu nós você para com em que por meu nosso mas se"
    " mais isso no na por favor nem me nos obrigado",
    "it": "il lo la i gli le un una e o non è sono di del della io noi per con in che mi nostro ma se"
    " più questo questa al nel grazie né ci da",
    "nl": "de het een en of niet is zijn van ik wij we je u voor met op in te dat dit mijn ons onze"
    " maar als geen naar ook bij graag om",
    "pl": "i w na nie jest są z do że się to ja my dla od po o jak ale lub czy mój nasz proszę tylko"
    " bez już za co mi nam tego",
}
# Others, whose small words must not be taken for those above.
_UNKNOWN_SMALL: Final = frozenset(
    " ".join(
        (
            "och att är inte det som på av för med den till har vi jag kan ska men ett",  # Swedish
            "og er ikke af til jeg kan skal men et ikkje eg som på det",  # Danish, Norwegian
            "ja on ei se että mutta kun me sinä minä voi ole tämä kanssa",  # Finnish
            "ve bir bu için değil mi ile ben biz çok ama da ne olarak olsun gibi var yok",  # Turkish
            "že je na se si to ne jsem jsme pro ale by jak který jako není prosím",  # Czech
            "az és nem egy hogy is van ez meg de csak kell vagy legyen",  # Hungarian
            "și nu este sunt pentru cu că din la ce mai dar sau fi vă",  # Romanian
            "dan yang tidak untuk dengan ini itu di ke dari saya kami akan ada jangan",  # Indonesian
            "và không của là cho với một các này được tôi chúng trong có những đừng",  # Vietnamese
        )
    ).split()
)
_SMALL_OF: Final = {name: frozenset(words.split()) for name, words in _SMALL.items()}
SMALL_WORDS: Final = frozenset[str]().union(*_SMALL_OF.values())
_SCRIPTS: Final = {
    "ru": re.compile("[\u0430-\u044f\u0451]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "ar": re.compile("[\u0621-\u064a]"),
}
# Letters of another language in one of these scripts, and letters of other scripts.
_OTHER: Final = re.compile(
    "[\u0456\u0457\u0454\u0491\u045e\u0458\u0459\u045a\u045b\u0452\u0453\u045c\u0455\u04af\u04e9\u049b"
    "\u067e\u0686\u0698\u06af\u06cc\u06a9\u0679\u0688\u0691\u06d2"
    "\u0370-\u03ff\u0530-\u05ff\u0700-\u0dff\u0e80-\u10ff\u1200-\u137f\u1780-\u17ff]"
)
_OTHER_LETTERS: Final = 3
_PLAIN_WORD: Final = re.compile(r"(?<![\w./\\@$%{}<>=-])[^\W\d_]+(?:'[^\W\d_]+)?(?![\w/\\@={}<>(])")
_TELLING_WORDS: Final = 5


def languages_of(text: str) -> frozenset[str] | None:
    """The languages of a folded text: none of a text too short to tell, None where one of them is
    not known here."""
    if len(_OTHER.findall(text)) >= _OTHER_LETTERS:
        return None
    found = {name for name, letter in _SCRIPTS.items() if letter.search(text)}
    spoken = _PLAIN_WORD.findall(text)
    latin = [word for word in spoken if word[0] < "\u0370"]
    counts = {name: sum(word in small for word in latin) for name, small in _SMALL_OF.items()}
    most = max(counts.values())
    others = sum(word in _UNKNOWN_SMALL and word not in SMALL_WORDS for word in latin)
    is_told = most > 1 or len(latin) >= _TELLING_WORDS
    if is_told and others and others >= most:
        return None
    if most and is_told:
        found |= {name for name, count in counts.items() if 2 * count > most}
    elif is_told:
        return None
    return frozenset(found)


# What says no and refuses nothing: something does not work, nobody knows, a limit.
NO_REFUSAL: Final = (
    r"\b(?:does|did|do|is|was|has|have|can|could|would|will)(?: not|n't) (?:\w+ )?(?:work|load|start"
    r"|run|compil|build|open|render|respond|connect|pass|match|exist|arriv|respond|turn up)\w*",
    r"\bno (?:longer|such|errors?|idea|response|connection|output|effect|luck|matter|doubt)\b",
    r"\bnot (?:only|just)\b",
    r"\b(?:i|we) (?:do not|don't|did not|didn't) (?:really )?(?:know|remember|understand)\b",
    r"\b(?:no|not) (?:more|less|longer|later|bigger|larger|fewer|earlier|slower) than\b",
    r"\bfunktionier\w*(?: \w+){0,2} nicht\b|\bnicht mehr als\b|\bnicht (?:größer|länger|später) als\b",
    r"\bgeht(?: \w+){0,2} nicht mehr\b|\b(?:weiß|wissen)(?: \w+){0,2} nicht\b|\bkeine ahnung\b",
    r"\bnicht nur\b|\bnon solo\b|\bno s[óo]lo\b|\bnão só\b|\bniet alleen\b|\bnie tylko\b|не только",
    r"\bne (?:marche|fonctionne|démarre|compile|charge|répond)\w* (?:pas|plus)\b|\bpas plus de\b",
    r"\b(?:je ne sais|on ne sait) pas\b|\baucune idée\b|\bpas seulement\b",
    r"\bno (?:funciona|carga|arranca|compila|responde)\w*|\bno más de\b|\bno (?:lo )?sé\b|\bni idea\b",
    r"\bnão (?:funciona|carrega|arranca|compila|responde)\w*|\bnão mais (?:de|que)\b|\bnão sei\b",
    r"\bnon (?:funziona|carica|parte|compila|risponde)\w*|\bnon più di\b|\bnon (?:lo )?so\b",
    r"\bwerkt(?: \w+){0,2} niet\b|\bniet meer dan\b|\bweet(?: \w+){0,2} niet\b|\bgeen idee\b",
    r"\bnie (?:działa|ładuje|startuje|kompiluje|odpowiada)\w*|\bnie więcej niż\b|\bnie wiem\b",
    r"не (?:работа|загружа|запуска|открыва|компилиру|отвеча)\w*|не (?:более|больше|позже|менее)\b"
    r"|не знаю",
    r"不(?:能用|起作用|响应|知道|清楚|超过|多于|少于)|没有?反应|无法(?:启动|加载|打开|运行)",
    r"動(?:かない|きません|作しない)|反応しない|(?:分|わ)から(?:ない|ん)|知らない|知りません",
    r"안 (?:돼|되|됩|열)\w*|작동하지 않\w*|모르\w*|ไม่ทำงาน|ใช้ไม่ได้|ไม่(?:รู้|ทราบ)",
    r"لا (?:يعمل|تعمل|أعرف|أدري)",
)
# What is forbidden to be done in English with what is no field.
FORBIDS_ONLY: Final = (
    r"\b(?:do not|don't|never) (?:commit|merge|push|deploy|install|refactor|rewrite|rename|break|touch"
    r"|change|modify|edit|overwrite|migrate|upgrade|rebase|restart|build|compile|test|worry|forget"
    r"|hesitate)\b",
)
# How a refusal is told in English, where nearly every field has the name that the person uses.
REFUSES_IN_ENGLISH: Final = (
    r"\b(?:no|not|never|cannot)\b|n't\b",
    r"\b(?:without|none|nobody|no one|no comment|n/a|neither|nor|nothing|nope|nah)\b",
    r"\b(?:privat\w*|personal|sensitive|internal|undisclosed|unlisted|nda|embargo\w*|withh\w+)\b",
    r"\b(?:pass|next question|between us|stays? (?:with (?:me|us)|out|off)|let's not|quiet\w*)\b",
    r"\b(?:i|we)(?:'d| would)? (?:rather|prefer)\b|\banonym\w*|\bblank\b|\benough (?:about|of|with)\b",
    r"\b(?:hid(?:e|es|den|ing)|omit\w*|skip\w*|secret\w*|confidential\w*|exclud\w*|refus\w*|declin\w*)\b",
    r"\b(?:remov\w*|stop|avoid\w*|forget|ignore|delete|drop(?![- ]?downs?\b))\b|\boff(?: the table|[- ]limits)\b",
    r"\b(?:leav\w+|keep|kept|stay\w*|tak\w+) (?:[\w']+ ){0,5}(?:out|off|away|back|down|aside|alone)\b",
    r"\b(?:my|your|our|own|nobody's|anybody's) business\b|\bto (?:my|our)sel(?:f|ves)\b|\bin[- ]house\b",
    r"\b(?:respect|rather|reluctant\w*|unwilling\w*|classified|undecided|withdr\w+|spare (?:me|us))\b",
    r"\b(?:already (?:told|said)|told you|as i said|can wait|move on|tab(?:u|oo)|too early|rid of)\b",
)
# Nothing and nobody, and what else says no in other languages.
REFUSES_ABROAD: Final = (
    r"\b(?:nichts|niemand\w*|nirgends|rien|personne|nada|nadie|ninguém|niente|nulla|nessuno|niets)\b",
    r"\b(?:niemand|nic|nikt|nikomu|privé|privado|privato|prywatn\w+|vertraulich|confidenti?el\w*)\b",
    r"\b(?:confidencial\w*|riservat\w+|vertrouwelijk|poufn\w+|privat|intern)\b",
    r"никак\w+|ничего|никто|никому|скрой\w*|скрыва\w*|конфиденц\w*|личн(?:ое|ая|ый)",
    r"\b(?:unter|entre|onder) (?:uns|nous|nosotros|nós|ons)\b|\btra (?:di )?noi\b|\bmiędzy nami\b|между нами",
    r"\bf[üu]r (?:mich|uns) (?:behalt\w*)?|\bpour (?:moi|nous)\b|\bpara (?:mí|mim|nosotros|nós)\b|\bper (?:me|noi)\b",
    r"\bvoor (?:mezelf|onszelf|mij|ons)\b|\bdla (?:siebie|nas)\b|при себе|(?:про|от|у)?молч\w+",
    r"\b(?:ungern\w*|nö|nee|ne|lieber|ugh|évit\w+|evit\w+|vermeid\w*|vermijd\w*|unika\w*)\b|избега\w*|обойд\w*",
    r"\b(?:inutile\w*|unnötig\w*|überflüssig\w*|innecesari\w+|sobra\w*|desnecess\w+|onnodig\w*|zbędn\w+)\b",
    r"\b(?:discret\w+|diskret\w*|tabou|tabú|taboe|anonym\w*|anónim\w*|raus|weglassen|streich\w*)\b|незачем|лишн\w+",
    r"\b(?:vie privée|nicht öffentlich|geht (?:dich|euch|sie|niemand\w*)|regarde|importa|cach\w+)\b|касается",
    r"免|略|私人|隐私|隱私|内部|機密|机密|秘|内緒|プライベート|비공개|사적|ส่วนตัว|خاص",
)
# Beside the rules of the extract: how a limit or a choice is told in other languages.
DECIDES_ABROAD: Final = (
    r"\b(?:höchstens|mindestens|maximal|bis spätestens|statt|soll(?:en|te)?|nimm|nehmt|verwende\w*"
    r"|benutz\w*|nutze\w*|immer|genehmigt|vermeide\w*)\b",
    r"\b(?:au (?:plus|moins|maximum)|utilis(?:e|ez|ons)|préfér\w+|toujours|interdit|évite\w*|plutôt)\b",
    r"\b(?:como (?:máximo|mínimo)|a lo sumo|al menos|us(?:a|en|emos)|utilic\w+|siempre|prohibido"
    r"|evit[ae]\w*|prefier\w+)\b",
    r"\b(?:no (?:máximo|mínimo)|pelo menos|us(?:e|em)|utiliz\w+|sempre|proibido|prefir\w+)\b",
    r"\b(?:al (?:massimo|più)|almeno|us(?:a|ate|iamo)|utilizz\w+|vietato|evita\w*|preferi\w+)\b",
    r"\b(?:hoogstens|minstens|maximaal|gebruik\w*|altijd|verboden|vermijd\w*|moet(?:en)?)\b",
    r"\b(?:najwyżej|co najmniej|maksymalnie|używa\w+|zawsze|zabronion\w+|unika\w+)\b",
    r"(?:максимум|минимум|не (?:более|позже|менее)|используй\w*|всегда|запрещ\w+|избегай\w*)",
    r"(?:最多|至少|不超过|使用|总是|禁止|避免|以内|まで|以上|使って|使う|常に|최대|최소|이내|사용|항상|금지)",
    r"(?:ไม่เกิน|อย่างน้อย|ใช้|เสมอ|يجب|على الأكثر|على الأقل|استخدم|دائما|ممنوع)",
)
