"""Sentences as tokens and back, for English and French, by spelling rules and no model.

French clitics are tokens of their own, because they translate words: `l'`, `d'`, `qu'` in front,
and `-tu`, `-t-il`, `-moi` behind a verb ("l'a-t-il vu ?" gives l' a -t-il vu ?). Words that only
look so stay whole: "aujourd'hui", "quelqu'un", "rendez-vous", "est-ce". English contractions stay
whole too ("he's", "don't"), as those who use these corpora write them; a possessive is a token,
because French has a word for it ("the king's house": the king 's house).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Marks that look alike become one, and some that print nothing go.
_SAME = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "…": "...", "\u2010": "-", "\u2011": "-"}
    | dict.fromkeys("\u00ad\u200b\ufeff")
)
_WORD = r"[\w\u0300-\u036f]+"  # letters, digits, accents that no letter has of its own
_ELISION = "(?:[cçdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'"
_ENCLITIC = "(?:-t)?-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|moi|toi|lui|leur|le|la|les|y|en)"
_WHOLE = frozenset({"est-ce", "rendez-vous"})
# behind these words 's is a verb, and a part of the word
_CONTRACTS = frozenset(
    {"he", "she", "it", "that", "this", "there", "here", "let"}
    | {"what", "who", "where", "when", "why", "how"}
)


def _pattern(titles: str, special: str) -> re.Pattern:
    """Compile the tokens of a language, the greediest first."""
    return re.compile(
        rf"\d+(?:[.,:/]\d+)+\w*"  # 2:30, 10,000, 9/11
        rf"|(?:[^\W\d_]\.){{2,}}"  # a.m., U.S.
        rf"|(?:{titles})\.(?=\s*\w)"  # Mr. before a name
        rf"|{special}"
        rf"|{_WORD}(?:['-]{_WORD})*"
        r"|\.{2,}|\S",
        re.IGNORECASE,
    )


_TOKENS = {
    "en": _pattern("mr|mrs|ms|dr|mt|st", r"'s(?![\w\u0300-\u036f])"),
    "fr": _pattern("m|mm|mme|mlle|dr|st", _ELISION),
}
_IS_ELISION = re.compile(_ELISION, re.IGNORECASE)
_IS_ENCLITIC = re.compile(_ENCLITIC, re.IGNORECASE)
_ENDS_IN_ENCLITIC = re.compile(rf"(.+?)({_ENCLITIC})", re.IGNORECASE)

_THIN, _FIXED = "\u202f", "\u00a0"  # spaces at which no line breaks
# What stands before a mark in place of a space: nothing, or what French typography wants.
_SPACE_BEFORE = {
    "en": dict.fromkeys([*".,!?;:)]}%"], ""),
    "fr": dict.fromkeys([*".,)]}"], "")
    | dict.fromkeys([*"!?;%"], _THIN)
    | dict.fromkeys([*":»$€"], _FIXED),
}
_SPACE_AFTER = {
    "en": dict.fromkeys([*"([{$€"], ""),
    "fr": dict.fromkeys([*"([{"], "") | {"«": _FIXED},
}


def tokenize(text: str, language: str = "en", *, lower: bool = True) -> tuple[str, ...]:
    """Split a sentence into words, clitics, numbers and marks.

    Text is put into Unicode's composed form (NFC), typographic apostrophes, quotes and spaces
    become plain ones, and soft hyphens go. Spaces before a closing mark do not matter. For any
    text, `tokenize(detokenize(tokens))` gives the same tokens again.

    Args:
        text: a sentence, or several; lines do not matter.
        language: "en" or "fr".
        lower: write everything in lower case.

    Raises:
        TypeError: `text` is no string.
        ValueError: another language.
    """
    _check_language(language)
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    text = spell(text, lower=lower)
    # where detokenize puts no space there must be none, else "mr ." and "mr." would differ
    text = re.sub(r"\s+(?=[.,!?;:)\]}%])", "", text)
    tokens = _TOKENS[language].findall(text)
    parts = _without_enclitics if language == "fr" else _without_possessive
    return tuple(part for token in tokens for part in parts(token))


def _without_possessive(token: str) -> list[str]:
    """Take 's off the end of an English word that it does not contract with."""
    behind = []
    while _is_possessive(token[-2:]) and len(token) > 2 and token[:-2].lower() not in _CONTRACTS:
        behind.append(token[-2:])
        token = token[:-2]
    return [token, *behind]


def _is_possessive(token: str) -> bool:
    return token in ("'s", "'S")


def spell(text: str, *, lower: bool = True) -> str:
    """Write text with composed letters (NFC), plain apostrophes and quotes, no soft hyphens."""
    text = unicodedata.normalize("NFC", text.translate(_SAME))
    # lower case may take a letter apart again
    return unicodedata.normalize("NFC", text.lower()) if lower else text


def _without_enclitics(token: str) -> list[str]:
    """Take clitics off the end of a French word: donne-le-moi gives donne -le -moi."""
    behind = []
    while token.lower() not in _WHOLE and (parts := _last_enclitic(token)):
        token, clitic = parts
        behind.insert(0, clitic)
    return [token, *behind]


def _last_enclitic(token: str) -> tuple[str, str] | None:
    match = _ENDS_IN_ENCLITIC.fullmatch(token)
    return match.groups() if match else None


def detokenize(tokens: Sequence[str], language: str = "en") -> str:
    """Write tokens as a sentence again, with the spaces that the language wants.

    French gets its unbreakable ones: thin before ! ? ;, full before : and inside « ». Straight
    quotes open and close in turn. Case stays as it is.

    Args:
        tokens: as `tokenize` gives them.
        language: "en" or "fr".

    Raises:
        TypeError: `tokens` is a plain string.
        ValueError: another language.
    """
    _check_language(language)
    if isinstance(tokens, str):
        raise TypeError(f"tokens must be a sequence of tokens, got the string {tokens!r}")
    before, after = _SPACE_BEFORE[language], _SPACE_AFTER[language]
    attached = _attached_french if language == "fr" else _attached_english
    text, space, last, quoted = "", "", "", False  # space: what stands before the next, mostly
    for token in tokens:
        if (token == '"' and quoted) or attached(last, token):
            space = ""
        elif token in before or token.startswith(".."):
            joined = token in "!?" and last in ("!", "?")  # ?! is one mark
            space = "" if joined or last in ("(", "[", "{") else before.get(token, "")
        text += (space if text else "") + token
        space = after.get(token, " ")
        if token == '"':
            quoted = not quoted
            space = "" if quoted else " "
        elif language == "fr" and _IS_ELISION.fullmatch(token):
            space = ""
        last = token
    return text


def _attached_french(last: str, token: str) -> bool:
    """Whether a token stands behind the one before it without a space: a-t-il, dis-moi."""
    return bool(last and _IS_ENCLITIC.fullmatch(token))


def _attached_english(last: str, token: str) -> bool:
    """The same for possessives: the king's, the kings'."""
    if token == "'":
        return last.lower().endswith("s")
    return _is_possessive(token) and last[-1:].isalnum() and last.lower() not in _CONTRACTS


def _check_language(language: str) -> None:
    if language not in _TOKENS:
        raise ValueError(f"language must be one of {sorted(_TOKENS)}, got {language!r}")
