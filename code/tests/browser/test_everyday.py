"""The everyday translator in the playground, as anyone types to it: fifty inputs, and a standard.

The standard: at least `RIGHT` come out right, no sentence says a thing twice, and every one is
written as French is.
"""

import itertools
import re
import shutil
from pathlib import Path

import pytest
import tomllib
from page_parts import answered, french

from attnbook.data import tokenize, why_missing
from attnbook.data.fra_eng import fra_eng
from devkit import browser as harness
from devkit.playground import models as playground
from devkit.playground.page import HERE
from experiments import transformer_everyday

RIGHT = 38
INPUTS = tomllib.loads((Path(__file__).parents[1] / "everyday.toml").read_text("utf-8"))["inputs"]
MARKS = (".", "?", "!")
WRONG = (  # how French is not written
    r"^[^A-ZÀÂÆÇÈÉÊËÎÏÔŒÙÛÜ«(]",  # no capital first
    r"[\s\u202f\u00a0]-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|moi|toi|lui|le|la|les|y|en)\b",
    r"’\s|\s’|'",  # l’ami, with a curved apostrophe
    r"\s[.,)]|\(\s",
    r"[^\u202f\u00a0?!][?!;:]",  # no space, or one at which a line may break
)


@pytest.fixture(scope="module")
def said(visit, tmp_path_factory) -> dict[str, tuple[str, list[str], str]]:
    """For each input the sentence that the page writes, its tokens, and what the page notes."""
    model = playground.FOLDER / "everyday.js"
    if not model.is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    folder = tmp_path_factory.mktemp("everyday")
    shutil.copy(model, folder)
    entry = {"name": "everyday", "label": "Everyday", "file": "everyday.js", "about": ""}
    page_file = harness.playground_page(folder, {"models": [entry | {"examples": [["go", "."]]}]})
    found = {}
    with visit(folder.as_uri()) as shown:
        shown.page.goto(page_file.as_uri())
        for english, *_ in INPUTS:
            shown.page.get_by_label("English sentence").fill(english)
            tokens = answered(shown.page)[:-1]
            text = shown.page.locator(".pg-text").inner_text()
            found[english] = text, tokens, shown.page.locator(".pg-notes").inner_text()
        assert not shown.faults
    return found


def test_most_of_fifty_inputs_are_translated_rightly(said):
    assert len(said) == len(INPUTS) == 50
    wrong = [
        f"{english} -> {said[english][0]}"
        for english, *right in INPUTS
        if re.sub(r"[\s\u202f\u00a0.?!…]+$", "", said[english][0]) not in right
    ]
    assert len(wrong) <= 50 - RIGHT, "\n".join(wrong)
    page = (playground.FOLDER.parents[1] / "playground.md").read_text("utf-8")
    assert f"fifty everyday inputs at least {RIGHT} come out right" in page


def masculine(word: str) -> str:
    """What a feminine form comes from, by its spelling; "" for what is none."""
    if word == "belle":
        return "beau"
    return (
        f"{word[:-4]}eux" if word.endswith("euse") else word.removesuffix("e") * word.endswith("e")
    )


def test_the_page_says_how_rarely_the_pairs_show_gender():
    if reason := why_missing("fra_eng"):
        pytest.skip(reason)
    of = transformer_everyday.load()
    known = set(of.target_vocab.tokens) - {"un"}
    count = sum(
        before == "elle" and verb in ("est", "était") and masculine(word) in known
        for pair in of.splits.train
        for before, verb, word in zip(pair.target, pair.target[1:], pair.target[2:], strict=False)
    )
    page = (playground.FOLDER.parents[1] / "playground.md").read_text("utf-8")
    assert f"in the {len(of.splits.train):,} pairs" in page
    assert f"before a feminine form only {count} times" in page


def test_nothing_is_said_twice(said):
    for english, (text, tokens, _) in said.items():
        assert not any(token in MARKS for token in tokens[:-1]), f"{english} -> {text}"
        pairs = list(itertools.pairwise(tokens))
        assert len(pairs) == len(set(pairs)), f"{english} -> {text}"
        assert tokens[-1] in MARKS, f"{english} -> {text}"


def test_it_is_written_as_french_is(said):
    for english, (text, _, _) in said.items():
        for pattern in WRONG:
            assert not re.search(pattern, text), f"{english} -> {text}"


def test_what_was_read_is_shown(said):
    for typed, read in (("tierd", "tired"), ("lvoe", "love"), ("dont", "don't"), ("im", "i'm")):
        notes = next(
            notes for english, (_, _, notes) in said.items() if typed in english.lower().split()
        )
        assert f"does not know “{typed}” and reads “{read}”" in notes
    assert "A full stop was added" in said["I am tired"][2]
    assert "A question mark was added" in said["what time is it"][2]


SLIPS = {"tierd": "tired", "dont": "don't", "do'nt": "don't", "sation": "station", "im": "i'm"}
SLIPS |= {"goat": None, "zzz": None, "tie": None, "helo": "hello", "helllo": "hello"}


def test_a_slip_is_one_of_the_fingers(module):
    """Of two words that were meant, perhaps, the more frequent; another letter is another word."""
    words = "i'm tired don't hello station coat tired's tier help' .".split()
    call = "([typed, words]) => typed.map((word) => window.arithmetic.slipOf(word, words))"
    got = module(HERE / "play_text.js").evaluate(call, [list(SLIPS), words])
    assert got == list(SLIPS.values())


def test_french_is_written_as_the_package_writes_it(module):
    if reason := why_missing("fra_eng"):
        pytest.skip(reason)
    hard = ['"va -t-il là ?" dit -il .', "« où ? » ( ici ) : 5 % ; qu' importe ?! l' an ... fin !"]
    sentences = [list(pair.target) for pair in fra_eng().test[:400]]
    sentences += [list(tokenize(text, "fr")) for text in hard]
    call = "(all) => all.map((tokens) => window.arithmetic.frenchText(tokens, ['tom']))"
    got = module(HERE / "play_text.js").evaluate(call, sentences)
    for text, tokens in zip(got, sentences, strict=True):
        assert text == french(tokens, names=["tom"])
