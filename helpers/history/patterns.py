"""The words in which people state and decline things, language by language. Data only.

Regular expressions, tried in any case, but the tell-tale words at the end, which are plain texts
looked for in every message before a closer look. `extract` says how each is used.
"""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["decision", "decline", "rejected", "acceptance"]
Rules = tuple[tuple[Kind | None, tuple[str, ...]], ...]

# The person does not want to give, see or be asked something.
DECLINE = (
    r"\bdo(?:n['’]t| not) (?:ever )?ask\b",
    r"\bstop asking\b",
    r"\b(?:i|we)(?:['’]d| would)? (?:rather not|prefer not)\b",
    r"\b(?:i|we) (?:don['’]t|do not|won['’]t|will not) (?:(?:want|like|wish) to )?"
    r"(?:share|say|give|tell|show|disclose|answer)\b",
    r"\b(?:i|we) (?:can['’]t|cannot) (?:stand|bear)\b",
    r"\b(?:i|we) hate\b",
    r"\bnone of your business\b",
    r"\b(?:that|this|it)(?:['’]s| is) (?:a |an )?(?:\w+ )?no\b(?! \w)",
    r"\bout of the question\b",
    r"\boff the table\b",
    # German
    r"\bfrag(?:e|t|en sie)? (?:mich |uns )?(?:bitte )?nicht\b",
    r"\b(?:möchte|will|mag|wollen|möchten) (?:ich|wir) .{0,40}\bnicht\b",
    r"\b(?:ich|wir) (?:möchte|will|mag|wollen|möchten)\b.{0,40}\b(?:nicht|kein\w*)\b.{0,30}"
    r"\b(?:zeig|sag|nenn|angeb|verrat|mitteil)\w*",
    r"\blieber nicht\b",
    r"\bkommt nicht in ?frage\b",
    # French
    r"\bne (?:me|nous) (?:re)?demande[zr]? (?:plus|pas)\b",
    r"\bje préfère ne pas\b",
    r"\bhors de question\b",
    # Spanish, Portuguese, Italian
    r"\bno (?:me|nos) (?:vuelvas? a )?pregunt",
    r"\bprefiero no\b",
    r"\bprefiro não\b",
    r"\bnão (?:me|nos) pergunt",
    r"\bpreferisco (?:di )?no[n]?\b",
    r"\bnon chieder",
    # Dutch, Polish, Russian
    r"\bvraag (?:me|mij|ons) niet\b",
    r"\bliever niet\b",
    r"\bnie pytaj",
    r"\bwolę nie\b",
    r"не спрашивай",
    r"предпоч\w+ не\b",
    r"не хочу (?:говорить|называть|давать|показывать)",
    # Chinese, Japanese, Korean, Thai, Arabic
    r"(?:不要|别|請勿|请勿)再?问",
    r"不(?:想|愿|願|方便)(?:意)?(?:透露|说|說|告诉|提供|回答|显示)",
    r"聞かないで",
    r"(?:言|答え|見せ)たくない",
    r"묻지 ?(?:마|말)",
    r"말하고 싶지 않",
    r"อย่าถาม",
    r"ไม่(?:อยาก|ขอ|ต้องการ)(?:บอก|ตอบ|ให้|แสดง)",
    r"لا تسأل",
)

# The person sets a rule or tells what is decided.
RULE = (
    r"^(?:please )?(?:use|keep|avoid|stick (?:to|with)|go with|make sure|ensure|prefer)\b",
    r"^let['’]s (?:use|go|keep|take)\b",
    r"\bwe (?:will|['’]ll|are going to) (?:use|go with|keep|take)\b",
    r"\b(?:must|shall)(?: not|n['’]t)?\b",
    r"\b(?:has|have) to be\b",
    r"\b(?:never|do not|don['’]t) (?!(?:ask|know|think|see|understand|remember|have|worry|mind|get)"
    r"\b)\w+",
    r"\bonly\b(?=[.,;!]|$|, please)",
    r"\b(?:at least|at most|no more than|not more than|maximum|minimum)\b",
    r"(?:^|[,;:] )no \w+(?: \w+)?(?=[.,;!]|$)",
    r"\b(?:budget|deadline|limit|launch|go-live|target|brand colou?r|colou?r)\b[^?]{0,40}"
    r"\b(?:is|are|on|by|:)\s",
    r"\b(?:is|are) approved\b|\bapproved (?:it|this|that)\b",
    r"\b(?:we|i)(?:['’]ve| have)? (?:decided|agreed|chosen|chose|settled)\b",
    r"^(?:decided|agreed|decision|final)\b",
    r"\bkeep (?:it|them|this|that) as\b",
    r"\bi want to (?:see|check|approve|review)\b.*\bbefore\b",
    r"\bmake(?: it)? idempotent\b",
    # German
    r"\b(?:muss|müssen|darf nicht|dürfen nicht|nur noch|auf keinen fall|wir nehmen"
    r"|wir haben entschieden|entschieden)\b",
    # French, Spanish, Portuguese and Italian
    r"\b(?:doit|doivent|il faut|uniquement|on a décidé|nous avons décidé)\b",
    r"\b(?:debe|deben|tiene que|solamente|hemos decidido|usaremos|no uses)\b",
    r"\b(?:deve|devem|devono|temos que|somente|decidimos|abbiamo deciso|soltanto)\b",
    # Russian, Polish
    r"(?:должн[аоы]?\b|нельзя|только|решили)",
    r"\b(?:musi|tylko|zdecydowaliśmy)\b",
    # Chinese, Japanese, Korean, Thai
    r"(?:必须|必須|不要|不得|不能|只能|只用|决定|決定|务必)",
    r"(?:てはいけない|しないで|必ず|だけ(?:に|を|で)|に決め)",
    r"(?:해야 (?:한다|합니다|해)|하지 ?마|만 사용)",
    r"(?:เท่านั้น|ต้อง|ห้าม|อย่า)",
)

# The person tells of a way that was tried.
TRIED = (
    r"\b(?:we|i) (?:already )?tried\b",
    r"\b(?:did not|didn['’]t|does not|doesn['’]t) work\b.*\bbecause\b",
    r"\bwir haben .{0,60}(?:probiert|versucht)\b",
    r"试过|試した",
)

# Labels with which a sentence says itself what it is.
ACCEPTANCE = (
    r"^\W*(?:acceptance(?: criteria| criterion)?|definition of done|done when|abnahme"
    r"|验收(?:标准)?)\s*[:：]",
)
REJECTED_LABEL = (r"^\W*(?:rejected|ruled out|verworfen|rejeté|descartado)\s*:",)

# An agent states that something is decided, or ruled out.
SAID_REJECTED = (*REJECTED_LABEL, r"^\W*we ruled out\b")
SAID_DECIDED = (
    r"^\W*decision(?: \d+)?\s*:",
    r"^\W*(?:decided|agreed)\b",
    r"\b(?:we|i)(?:['’]ve| have)? (?:decided|agreed|settled|chosen|chose)\b",
    r"^\W*(?:entscheidung|décision|decisión|决定|決定)\s*[:：]",
)
# The name of a file of decisions.
DECISION_FILE = (r"decision|entscheid|\badr\b",)

QUESTION = (r"[?？]['\"’”)]?$",)

# Whose sentences are what, the first that matches; a question is nothing.
RULES_OF: Final[dict[str, Rules]] = {
    "user": (
        ("acceptance", ACCEPTANCE),
        ("decline", DECLINE),
        (None, QUESTION),
        ("rejected", TRIED),
        ("decision", RULE),
    ),
    "assistant": (
        ("rejected", SAID_REJECTED),
        (None, QUESTION),
        ("decision", SAID_DECIDED),
    ),
}

# A sentence that points back at the one before: "Don't change it".
BACKWARD = (
    r"^(?:don['’]t|do not|never|keep|please|leave)\b[^.]{0,30}"
    r"\b(?:it|them|this|that|those|these)\b",
)
GREETING = (
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend)|moin"
    r"|bonjour|salut|hola|ciao|olá|привет|你好|您好|こんにちは|안녕하세요|สวัสดี(?:ครับ|ค่ะ)?)"
    r"(?: there| all| again)?\W*$",
)

# What a decline is about, in its own words.
FIELD = (
    r"\bask(?:ing)?\b.*?\b(?:about|for)\s+(?P<it>[^,;:.!?]+)",
    r"\b(?:can['’]t|cannot) (?:stand|bear)\s+(?P<it>[^,;:.!?]+)",
    r"\b(?:i|we) hate\s+(?P<it>[^,;:.!?]+)",
    r"^no\s+(?P<it>[^,;]+)[,;]",
    r"\b(?:share|say|give|tell|show|disclose|answer)\s+(?:you |out )?(?P<it>[^,;:.!?]+)",
    r"^(?P<it>[^,;:]{2,40}?)\s+(?:is|are) (?:out of the question|off the table)",
    # German, French, Spanish and Portuguese, Italian, Dutch, Polish, Russian
    r"\bfrag\w*\b.{0,20}\bnicht\b.{0,12}\b(?:nach|über)\s+(?P<it>[^,;:.!?]+)",
    r"\b(?:möchte|will|mag|wollen|möchten)\s+(?:ich\s+|wir\s+)?(?P<it>[^,;:.!?]{2,40}?)\s+"
    r"(?:(?:lieber|bitte|weiterhin)\s+)?nicht\b",
    r"\b(?:möchte|will|mag|wollen|möchten)\s+(?:ich\s+|wir\s+)?kein\w*\s+(?P<it>[^,;:.!?]{2,40})",
    r"\b(?:montrer|donner|dire|communiquer|afficher|partager)\s+(?P<it>[^,;:.!?]+)",
    r"\b(?:mostrar|decir|dar|compartir|dizer|informar|mostrare|dare|condividere)\s+(?P<it>[^,;:.!?]+)",
    r"\bpregunt\w*\s+(?:más\s+)?(?:por|sobre)\s+(?P<it>[^,;:.!?]+)",
    r"\bliever (?:niet|geen)\s+(?P<it>[^,;:.!?]+?)\s+(?:tonen|zeggen|geven|delen)\b",
    r"\b(?:pokazywać|podawać|mówić)\s+(?P<it>[^,;:.!?]+)",
    r"(?:показывать|называть|давать|говорить)\s+(?:про\s+|об?\s+)?(?P<it>[^,;:.!?]+)",
    r"не спрашивай\w*\s+(?:меня\s+)?(?:больше\s+)?(?:про|об?)\s+(?P<it>[^,;:.!?]+)",
    # Chinese, Japanese, Korean, Thai, Arabic
    r"不(?:想|愿意?|願意?|方便)(?:透露|说|說|告诉你?|提供|回答|显示)(?P<it>[^，。！？,.!?了]+)",
    r"(?:不要|别|請勿|请勿)再?问我?(?P<it>[^，。！？,.!?了]+)",
    r"(?P<it>[^、。\s]{1,20}?)(?:について|のこと)?[はを]?(?:言い|答え|見せ)たくない",
    r"(?P<it>[^、。\s]{1,20}?)(?:について|のこと)?[はを]?聞かないで",
    r"(?P<it>\S{1,20}?)(?:은|는|을|를|에 대해서?)\s*(?:말하고 싶지 않|묻지)",
    r"(?:อย่าถาม(?:เรื่อง)?|ไม่(?:อยาก|ขอ|ต้องการ)(?:บอก|ตอบ|ให้|แสดง))"
    r"(?P<it>[\u0e00-\u0e7f]+?)(?=อีก|นะ|ครับ|ค่ะ|แล้ว|\W*$)",
    r"لا تسأل(?:ني)? عن (?P<it>\S+)",
)
# The same at the beginning of the message: "For the prices: ..."
TOPIC_OF_MESSAGE = r"^for (?:the )?(?P<it>[^:,]{2,40})[:,]"
FILLER = frozenset(
    (
        *("a", "an", "the", "any", "our", "my", "your", "that", "this", "these", "those"),
        *("yet", "again", "now", "anymore", "please", "more", "to", "you", "me", "us"),
        *("der", "die", "das", "den", "dem", "ein", "eine", "mein", "meine", "meinem", "meinen"),
        *("unser", "unsere", "les", "le", "la", "l", "mon", "ma", "mes", "nos", "notre", "los"),
        *("las", "el", "mi", "mis", "nuestros", "o", "os", "as", "meu", "minha", "il", "lo", "gli"),
        *(
            "i",
            "mio",
            "de",
            "het",
            "mijn",
            "onze",
            "мой",
            "мои",
            "моём",
            "наш",
            "наши",
            "ich",
            "wir",
        ),
        *("it", "them", "anything", "something", "so", "any", "one", "him", "her", "ever"),
    )
)

# Where the name of what is declined is over: "prices on the page".
NAME_ENDS = frozenset(
    (
        *("on", "in", "at", "with", "until", "because", "since", "if", "when", "and", "or", "but"),
        *("from", "don", "doesn", "here", "there", "today", "publicly", "right", "for", "as"),
        *("auf", "bei", "weil", "und", "oder", "sur", "dans", "parce", "et", "ou", "en", "porque"),
        *("y", "e", "nella", "sul", "op", "want", "en", "na", "i", "на", "и", "потому"),
    )
)

# Labels and words behind which stand the reason of a decision and who made it. A label may begin a
# sentence of its own.
WHY_LABEL = (
    r"\b(?:why|reason|rationale|warum|grund|begründung|pourquoi|raison|motivo|razón|razão|ragione)\s*[:：]",
    r"\b(?:por qu[éê]|perché|waarom|reden|dlaczego|powód|почему|причина)\s*[:：]",
    r"(?:原因|理由|이유|เหตุผล|السبب)\s*[:：]",
)
WHY_WORD = (
    r"\b(?:because|weil|parce qu(?:e\b|')|porque|perché|omdat|ponieważ|потому что|так как)(?!\s*[:：])",
    r"因为|因為|由于|由於|なぜなら|왜냐하면|เพราะ|لأن",
)
OWNER_LABEL = (
    r"\b(?:owner|responsible|decided by|verantwortlich|zuständig|responsable|responsável)\s*[:：]",
    r"\b(?:responsabile|eigenaar|właściciel|odpowiedzialny|ответственный|владелец)\s*[:：]",
    r"(?:负责人|負責人|担当者?|責任者|담당자?|ผู้รับผิดชอบ|المسؤول)\s*[:：]",
)
THE_PERSON = frozenset(
    ("user", "the user", "person", "the person", "customer", "client", "me", "i")
)

# --- does the person take a decline back? (`consent`)

# A sentence that says no, by itself or to whatever it is about. Told first: what only looks like one.
NO_HARM = (
    r"\b(?:do not|don't|would not|wouldn't) mind\b",
    r"\b(?:no|not an?) (?:problem|worries|objections?|issue|hurry|rush)\b",
    r"\bwhy not\b",
    r"\b(?:kein problem|nichts dagegen)\b",
    r"\b(?:pas de (?:problème|souci)|pourquoi pas)\b",
    r"\b(?:sin|ningún|sem|nessun|geen) proble\w*",
    r"\bnie ma problemu\b",
    r"\b(?:без проблем|не против)\b",
    r"没问题|沒問題|没关系|沒關係|問題(?:ない|ありません)|構いません|かまいません|괜찮",
    r"ไม่เป็นไร|ไม่มีปัญหา|لا (?:مشكلة|مانع)",
)
NEGATION = (
    r"\b(?:no|not|never|without|none|nothing|neither|nor|cannot|nobody)\b|n't\b",
    r"\b(?:nicht|kein\w*|nie|niemals|ohne|weder)\b",
    r"\b(?:ne|pas|jamais|sans|aucun\w*|non|ni)\b|\bn'",
    r"\b(?:nunca|sin|jamás|tampoco|não|nem|sem|nenhum\w*|mai|senza|nessun\w*)\b",
    r"\b(?:niet|geen|nooit|zonder|bez|nigdy)\b",
    r"\b(?:не|нет|никогда|без|ни)\b",
    r"[不没沒別别勿未]|ない|ません|なく|いいえ|だめ|ダメ|안 |않|지 ?마|말아|못|없|아니",
    r"ไม่|อย่า|ห้าม|(?<!\w)(?:لا|لن|لم|ليس|بدون|بلا)(?!\w)",
)
HIDING = (
    r"\b(?:hid(?:e|den|ing)|omit\w*|leav\w+|left|skip\w*|secret|private|confidential|drop\w*)\b",
    r"\b(?:remov\w*|stop\w*|avoid\w*|forget|ignor\w*|delet\w*|exclud\w*|refus\w*|declin\w*)\b",
    r"\b(?:keep|kept|stay\w*) (?:\w+ ){0,3}(?:out|off|back|away)\b|\boff(?: the table|[- ]limits)\b",
    r"\b(?:quit|enough|rid of|move on|already (?:told|said)|told you|as i said|can wait|later|tab(?:u|oo))\b",
    r"\b(?:weg|lass\w*|laiss\w*|oubli\w*|olvid\w*|dej[ae]\w*|esque[cç]\w*|deix\w*|dimentic\w*|lasci\w*)\b",
    r"\b(?:vergeet|vergiss|zapomnij)\b|забуд\w*|хватит|算了|忘|잊|พอแล้ว",
    r"\b(?:verberg\w*|versteck\w*|weglass\w*|weggelass\w*|geheim|verschweig\w*|verzicht\w*)\b",
    r"\b(?:cach\w*|omet\w*|retir\w*|enlev\w*|ocult\w*|escond\w*|nascond\w*|segret\w*)\b",
    r"\b(?:secreto|segredo|quita\w*|verberg\w*|weglat\w*|ukry\w*|tajn\w*|pomi[nj]\w*)\b",
    r"скры\w*|секрет\w*|убра\w*|убер\w*|тайн\w*",
    r"隐藏|隱藏|保密|省略|删|刪|隠|秘密|非公開|伏せ|숨기|비밀|빼|ซ่อน|ความลับ|سري|إخفاء|اخف",
)
# The person says no without saying to what.
REFUSAL = (
    *DECLINE,
    r"^\W*(?:no|nope|nah|nein|nee|non|não|nie|нет)\s*(?:[,.!…;:—-]|$|(?:thanks|thank you|way)\b)",
    r"^\W*(?:不行|不要|不可以|不用了?|不|いいえ|いや|だめ|ダメ|아니요|아뇨|아니|싫어요?|ไม่(?:เอา)?|لا|كلا)(?!\w)",
    r"\b(?:i|we) (?:\w+ ){0,2}(?:do not|don't|won't|will not|would not|wouldn't|cannot|can't|never)"
    r" (?:\w+ ){0,2}(?:want|wish|like|agree|consent|allow|show|share|say|tell|give|disclose)\b",
    r"\b(?:i|we) (?:\w+ )?(?:refuse|decline|object)\b|\b(?:absolutely|certainly|definitely) not\b",
    r"\b(?:still no|no way|not (?:now|yet|ever)|no means no|never)\b|\bleave (?:it|that|them)\b",
    r"\b(?:ich|wir) (?:will|möchte|mag|wollen|möchten)\b.{0,60}\bnicht\b|\bauf keinen fall\b",
    r"\b(?:je|nous) ne (?:veux|voulons|souhait\w*)\b|\b(?:pas question|toujours pas)\b",
    r"\bno (?:quiero|queremos|deseo)\b|\bde ninguna manera\b|\bnão (?:quero|queremos)\b",
    r"\bnon (?:voglio|vogliamo)\b|\bwil(?:len)? (?:\w+ ){0,3}niet\b|\bnie chc\w+",
    r"не (?:хочу|хотим|буду|будем)|ни за что",
    r"不(?:想|愿|願|同意)|拒[绝絕]|たくない|たくありません|お断り|嫌です|싫|고 싶지 않|거절",
    r"ไม่(?:ต้องการ|อยาก|ยอม)|لا (?:أريد|نريد)|أرفض",
)
# The beginning of an answer that agrees.
AGREEMENT = (
    r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|fine|agreed|of course|go ahead|please do|all right"
    r"|alright|do it|absolutely|certainly|definitely|you may|you can|why not|i agree|gladly)\b",
    r"^\W*(?:ja|jawohl|gerne?|klar|einverstanden|natürlich|in ordnung|oui|d'accord|bien sûr|volontiers)\b",
    r"^\W*(?:sí|si|vale|claro|de acuerdo|por supuesto|sim|com certeza|sì|certo|va bene|d'accordo)\b",
    r"^\W*(?:prima|akkoord|natuurlijk|tak|zgoda|dobrze|oczywiście|да|хорошо|согласен|согласна|конечно)\b",
    r"^\W*(?:是的?|好的?|可以|同意|行|没问题|沒問題|当然|當然|はい|いいです|もちろん|どうぞ)",
    r"^\W*(?:네|예|좋아요?|그래요?|물론|ใช่|ได้|ตกลง|โอเค|نعم|موافق|حسنا|أكيد)",
)
ASKS = (r"[?？؟]\W*$|(?:ไหม|มั้ย|หรือเปล่า|ますか|ですか|까요)\W*$",)
# Values that anybody's sentence holds: they prove nothing.
NO_VALUE = frozenset(
    (
        *("yes", "no", "ok", "okay", "sure", "true", "false", "go", "on", "ahead", "continue"),
        *("please", "fine", "it", "is", "show", "hide", "and", "or", "of", "in", "the", "a", "to"),
        *("ja", "nein", "bitte", "weiter", "oui", "non", "sí", "si", "sim", "não", "да", "нет"),
    )
)

# Words of a quotation that say nothing about what it decides.
OF_NO_WEIGHT = frozenset(("decision", "1", "2", "3", "4", "5", "use", "plain", "please"))

# Tell-tale words of a message that may state or decline something. Before a colon stands what all
# of them have in common: a short text is found, or not, in a fraction of the time. The second of
# each is looked for only where not all letters are ASCII.
AGENT_TELLS: Final = {
    "eci": ("ecision", "ecided"),
    "ejected:": ("ejected:",),
    "uled out": ("uled out",),
}
AGENT_TELLS_ABROAD: Final = {
    "ntsch": ("ntscheid", "ntschied"),
    "é": ("écidé", "écision"),
    "定": ("决定", "決定"),
}
PERSON_TELLS: Final = (
    *("decid", "decision", "t ask", "rather not", "must", "never", "approved", "t change"),
    *("t touch", "legal no", "t stand", "the table", "acceptance", "at least", "at most"),
    *("deadline", "agreed", "entsch", "nicht", "jamais", "il faut", "nunca"),
)
PERSON_TELLS_ABROAD: Final = (
    *("décid", "müss", "não", "нельзя", "решили", "только", "не ", "决定", "決定", "必须", "必須"),
    *("不要", "禁止", "别再", "ต้อง", "ห้าม", "อย่า", "เท่านั้น", "だけ", "ないで", "마세요"),
)
