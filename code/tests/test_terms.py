"""The glossary and the words of the search: read, matched and cut as the pages need them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("sphinx")

import attn_search  # noqa: E402
import attn_terms  # noqa: E402

PAGE = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")


def test_every_term_has_a_chinese_name_and_a_short_meaning():
    terms = attn_terms.read_terms(PAGE)
    assert len(terms) >= 60
    names = [name for term in terms for name in term.names]
    assert len(names) == len(set(names))
    for term in terms:
        assert attn_terms.CJK.search(term.chinese), term.name
        assert 20 <= len(term.meaning) <= 200, term.name  # it must fit beside the text
        assert term.meaning.endswith("."), term.name
        assert not re.search(r"[{}$`*\\]", term.meaning), f"{term.name}: plain text only"


@pytest.mark.parametrize(
    "entry", ["query\n  A vector.", "查询 : 中文\n  A vector.", "query\n查询 : 中文"]
)
def test_an_entry_that_lacks_a_part_is_refused(entry):
    with pytest.raises(ValueError, match="is missing"):
        attn_terms.read_terms(f"```{{glossary}}\n{entry}\n```\n")


@pytest.mark.parametrize(
    "name, text, found",
    [
        ("query", "queries", True),
        ("key", "keys", True),
        ("weights", "weight", True),
        ("normalise", "normalised", True),
        ("softmax", "softmaxes", True),
        ("BLEU", "bleu", False),
        ("ALiBi", "Alibi", False),  # a corpus of chapter 4
        ("mask", "masked", False),
        ("loss", "los", False),
    ],
)
def test_forms_of_a_name(name, text, found):
    assert bool(re.fullmatch(attn_terms.forms(name), text, re.IGNORECASE)) == found


@pytest.mark.parametrize(
    "text, word",
    [
        (r"\frac{\mathbf{q}^\top \mathbf{k}}{\sqrt d}", "√d"),
        (r"\sqrt{d}", "√d"),
        ("scores / math.sqrt(d)", "√d"),
        ("divided by √d.", "√d"),
        (r"\alpha_{ij}", "α_ij"),
        (r"\alpha_{ij}", "alpha"),
        (r"\mathbf{W}_q \mathbf{q}", "W_q"),
        (r"\mathbf{W}_{q}", "W_q"),
        (r"\omega_j", "ω"),
        ("ab.masked_softmax(scores)", "masked_softmax"),
        ("class MultiHeadAttention(nn.Module)", "MultiHeadAttention"),
    ],
)
def test_a_symbol_is_a_word(text, word):
    assert word in attn_search.words(text)


def test_the_looks_of_a_symbol_are_no_words():
    words = attn_search.words(r"\mathbf{o} = \operatorname{softmax}\left(\frac{a}{\tau}\right)")
    assert set(words) == {"o", "softmax", "a", "τ", "tau"}
