"""Tokens and back: laws for any text, and the spelling of the two languages line by line."""

import pytest
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data.text import detokenize, spell, tokenize

LANGUAGES = st.sampled_from(["en", "fr"])
# what the rules look at, beside any character at all
MARKS = list(".,:;!?'\"-()«» \u202f\u00a0\u2009’“”…%$/_15\u00ad") + list("abmlsdtyentLQ\u0302é")
PIECES = "mr a.m. mme l' qu' -t-il -moi est-ce rendez-vous parents' 's he king".split()
PIECES += ["...", "10,000", "2:30", "aujourd'hui", "l", "donne", "Œuvre", "e\u0301", *MARKS]
TEXT = st.one_of(
    st.text(st.one_of(st.characters(), st.sampled_from(MARKS)), max_size=20),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)


@given(TEXT, LANGUAGES, st.booleans())
def test_tokens_of_written_tokens_are_the_same(text, language, lower):
    tokens = tokenize(text, language, lower=lower)
    assert tokenize(detokenize(tokens, language), language, lower=lower) == tokens


@given(TEXT, LANGUAGES)
def test_nothing_but_spaces_is_lost(text, language):
    tokens = tokenize(text, language)
    assert all([token] == token.split() for token in tokens)  # none empty, none with a space
    assert "".join(tokens) == "".join(spell(text).split())


def words(text):
    return tuple(text.split())


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "Go.", "go ."),
        ("en", "He's calm.", "he's calm ."),
        ("en", "Don’t worry!", "don't worry !"),
        ("en", "My parents' house, isn't it?", "my parents ' house , isn't it ?"),
        ("en", "The king's son; he's Tom's.", "the king 's son ; he's tom 's ."),
        ("en", "LET'S GO, IT'S BOB'S", "let's go , it's bob 's"),
        ("en", "The boys said: “No way…”", 'the boys said : " no way ... "'),
        ("en", "It's 2:30 p.m., Mr. Smith.", "it's 2:30 p.m. , mr. smith ."),
        ("en", "He paid $10,000 (99.9%).", "he paid $ 10,000 ( 99.9 % ) ."),
        ("en", "My mother-in-law is well-known.", "my mother-in-law is well-known ."),
        ("en", "O'clock, soft\u00adhyphen", "o'clock , softhyphen"),
        ("en", "mr . smith .", "mr. smith ."),
        ("fr", "J’ai perdu.", "j' ai perdu ."),
        ("fr", "Va\u202f!", "va !"),
        ("fr", "Qu'est-ce que c'est\u00a0?", "qu' est-ce que c' est ?"),
        ("fr", "L'a-t-il vu ?", "l' a -t-il vu ?"),
        ("fr", "Donne-le-moi, s'il te plaît !", "donne -le -moi , s' il te plaît !"),
        ("fr", "Aujourd'hui, quelqu'un a rendez-vous.", "aujourd'hui , quelqu'un a rendez-vous ."),
        ("fr", "Peut-être jusqu'à l'été là-bas", "peut-être jusqu' à l' été là-bas"),
        ("fr", "« Oui », dit-elle : « M. Dupont ! »", "« oui » , dit -elle : « m. dupont ! »"),
        ("fr", "Lorsqu'on n'y va pas…", "lorsqu' on n' y va pas ..."),
        ("fr", "e\u0301te\u0301", "été"),
        ("fr", "Ç'a été l'Œuvre d'Émile", "ç' a été l' œuvre d' émile"),
        ("fr", "", ""),
    ],
)
def test_tokens(language, text, tokens):
    assert tokenize(text, language) == words(tokens)


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("en", "he's calm .", "he's calm."),
        ("en", 'he said , " no ! " and $ 5 ( 10 % )', 'he said, "no!" and $5 (10%)'),
        ("en", "the king 's house , the kings ' house", "the king's house, the kings' house"),
        ("en", "he 's here", "he 's here"),  # he's would be another token
        ("fr", "l' a -t-il vu ?", "l'a-t-il vu\u202f?"),
        ("fr", "« oui » : va !", "«\u00a0oui\u00a0»\u00a0: va\u202f!"),
        ("fr", "quoi ? ! ( non ! )", "quoi\u202f?! (non\u202f!)"),
        ("fr", "-t-il", "-t-il"),  # nothing to stand behind
        ("en", "-t-il l' a", "-t-il l' a"),  # English knows neither
        ("en", "", ""),
    ],
)
def test_written(language, tokens, text):
    assert detokenize(words(tokens), language) == text


def test_case_is_kept_on_request_and_bad_arguments_are_named():
    kept = tokenize("L'École, Donne-LE-Moi", "fr", lower=False)
    assert kept == words("L' École , Donne -LE -Moi")
    refuses(ValueError, r"language must be one of .*'en', 'fr'.*'de'", tokenize, "Ja.", "de")
    refuses(ValueError, "language", detokenize, ["ja"], "de")
    refuses(TypeError, "text must be a str, got bytes", tokenize, b"go")
    said = "tokens must be a sequence of tokens, got the string"
    refuses(TypeError, said, detokenize, "go .")


def test_the_grammars_tokens_are_written_and_read_back():
    from attnbook.data import grammar_corpus

    for split in grammar_corpus():
        for pair in split[::5]:
            for tokens, language in ((pair.source, "en"), (pair.target, "fr")):
                assert tokenize(detokenize(tokens, language), language) == tokens
