"""Chapter 8: the model that is built, its byte pairs, the rules that cut, and the experiments."""

import json
import math
import re
from collections import Counter
from functools import cache, partial
from itertools import pairwise

import pytest
import torch
from attnbook_testing.chapters import BOOK
from attnbook_testing.refusals import refuses
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

import attnbook as ab
from attnbook import data, decoding
from attnbook.data import why_missing
from experiments import language_model as lm
from experiments import language_parts, pretraining
from experiments.ladder import ladder
from experiments.stored import load_record, load_table

FILE = "def main("  # the cell that holds the whole model once more


def code_cells(chapter):
    """Tags and code of each code cell of a chapter."""
    cells = json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["cells"]
    cells = [cell for cell in cells if cell["cell_type"] == "code"]
    return [(cell["metadata"].get("tags", []), "".join(cell["source"])) for cell in cells]


def defined(chapter, names):
    """What the cells that define these classes and functions define."""
    found = {"ab": ab, "math": math, "re": re, "torch": torch, "nn": nn, "F": F}
    found |= {"text": "a b " * 30, "corpus": "the grammar corpus"}  # for a cell that also counts
    found |= {"Counter": Counter, "cache": cache, "partial": partial, "pairwise": pairwise}
    pattern = re.compile(rf"^(class|def) ({'|'.join(names)})\b", re.MULTILINE)
    for _, source in code_cells(chapter):
        if pattern.search(source) and FILE not in source:
            exec(compile(source, chapter, "exec"), found)
    return found


@pytest.fixture(scope="module")
def built():
    """The first page's model, its cache, its byte pairs."""
    names = (
        "RMSNorm rotate split Attention count SwiGLU Block LanguageModel cached_block step words_of"
        " learn encode"
    )
    return defined("08_language_model", names.split())


def test_visible_cells_are_short_and_the_model_is():
    model = 0
    for chapter in ("08_language_model", "08_language_model_measured"):
        for tags, source in code_cells(chapter):
            lines = sum(bool(line.strip()) for line in source.splitlines())
            assert "hide-input" in tags or lines <= 25, source
    for _, source in code_cells("08_language_model"):
        if FILE in source:
            continue
        parts = r"^(?:class|def) .*?(?=^\S|\Z)"
        for part in re.findall(parts, source, re.MULTILINE | re.DOTALL):
            if "nn.Module" in part or part.startswith(("def rotate", "def split")):
                model += sum(bool(line.strip()) for line in part.splitlines())
    assert 60 <= model <= 80  # "some seventy lines"


def test_the_file_at_the_end_needs_nothing_of_the_page():
    (source,) = (source for _, source in code_cells("08_language_model") if FILE in source)
    code, last = source.split("\nloss, written = ")
    assert last.startswith("main(text") and "attnbook" not in source
    alone = {}
    exec(compile(code, "one file", "exec"), alone)
    loss, written = alone["main"]("to be or not to be " * 200, steps=40)
    assert loss < 0.5 * math.log(8)  # of equal shares
    assert written.startswith("to be or not to be ")
    ids = torch.zeros(40, dtype=torch.long, device="meta")  # as on another device
    model = alone["LanguageModel"](65).to("meta")
    alone["train"](model, ids, steps=1, n=9)
    assert alone["write"](model, ids[None, :9], 3).shape == (1, 12)


def test_the_built_model_and_its_cache_run_where_their_inputs_are(built):
    model = built["LanguageModel"](65).to("meta")
    ids = torch.zeros(1, 9, dtype=torch.long, device="meta")
    logits, pasts = built["step"](model, ids, built["empty"](model))
    logits, pasts = built["step"](model, ids[:, :1], pasts)
    assert model(ids).device == logits.device == pasts[0][0].device == ids.device


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4]), st.integers(1, 3), st.integers(1, 8))
@torch.no_grad()
def test_the_built_model_is_the_stored_kind_cached_or_not(built, seed, h_kv, layers, cut):
    torch.manual_seed(seed)
    ours = built["LanguageModel"](30, d=16, h=4, h_kv=h_kv, d_ff=24, layers=layers)
    theirs = lm.Model(30, 16, 4, layers, 24, lm.TODAY._replace(kv_heads=h_kv))
    names = [name for name in theirs.state_dict() if name != "output.weight"]
    pairs = {name.replace("tokens", "E") if "tokens" in name else name: name for name in names}
    mine = ours.state_dict()
    for name, tensor in mine.items():
        other = re.sub(r"(norm\w*)\.g$", r"\1.weight", name).replace("E.weight", "tokens.weight")
        theirs.get_parameter(pairs.get(other, other)).copy_(tensor)
    ids = torch.randint(30, (2, 9))
    expected = theirs(ids)
    torch.testing.assert_close(ours(ids), expected, atol=1e-4, rtol=1e-4)
    first, pasts = built["step"](ours, ids[:, :cut], built["empty"](ours, 2))
    last, _ = built["step"](ours, ids[:, cut:], pasts)
    torch.testing.assert_close(torch.cat((first, last), 1), expected, atol=1e-4, rtol=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40), st.text(min_size=2, max_size=80))
def test_byte_pairs_lose_nothing(built, text, learned_from):
    pairs = sum(max(len(w.encode()) - 1, 0) for w in built["words_of"](learned_from))
    rules = built["learn"](learned_from, min(4, pairs)) if pairs > 8 else {}
    ids = built["encode"](text, rules)
    assert built["decode"](ids, rules) == text
    assert len(ids) <= len(text.encode())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95), st.integers(1, 12))
def test_the_rules_of_the_page_cut_as_the_package_does(seed, share, k):
    names = defined("08_language_model_measured", ["cut"])
    p = (2 * torch.randn(12, generator=torch.Generator().manual_seed(seed))).softmax(dim=0)
    for ours, option in (
        ("top_k", {"top_k": k}),
        ("top_p", {"top_p": share}),
        ("min_p", {"min_p": share}),
    ):
        expected = decoding.truncate(p.log(), **option).exp()
        got = names[ours](p, *option.values())
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)


# the experiments


def test_variants_have_as_many_parameters_and_one_other_part():
    sizes = language_parts.SMALL
    made = {}
    for name, parts in language_parts.VARIANTS.items():
        made[name] = lm.parameters(lm.Model(65, sizes.d, sizes.heads, sizes.layers, parts=parts))
        changed = [a for a, b in zip(parts, lm.OF_2017, strict=True) if a != b]
        assert len(changed) == {"2017": 0, "today": 5}.get(name, 1)
    assert max(made.values()) < 1.01 * min(made.values())


@pytest.mark.parametrize("name", list(language_parts.VARIANTS))
@torch.no_grad()
def test_each_variant_keeps_the_laws(name):
    torch.manual_seed(0)
    model = lm.Model(20, 16, 4, 2, 12, language_parts.VARIANTS[name]).eval()
    ids = torch.randint(20, (2, 7))
    at_once = model(ids)
    other = ids.clone()
    other[:, -1] = (other[:, -1] + 1) % 20
    torch.testing.assert_close(model(other)[:, :-1], at_once[:, :-1])  # no future
    state, logits = model.start(ids[:, :3]), []
    for token in ids[:, 3:].split(1, dim=1):
        output = model.step(token, state)
        logits.append(output.logits)
        state = output.state
    torch.testing.assert_close(torch.cat(logits, 1), at_once[:, 3:], atol=1e-5, rtol=1e-4)


def test_characters_and_pieces():
    text = "First Citizen:\nSpeak, speak."
    ids = lm.encode(text)
    assert lm.decode(ids) == text
    refuses(ValueError, "text must hold characters of tiny Shakespeare, got", lm.encode, "é")
    ids = torch.arange(21)
    found = torch.cat([part[:, 1:].flatten() for part in lm.pieces(ids, block=4, batch=2)])
    assert found.tolist() == list(range(1, 21))  # each but the first is a target once


def test_the_text_is_whole():
    if reason := why_missing("shakespeare"):
        pytest.skip(reason)
    text = data.shakespeare()
    assert len(text) == 1_115_394 and "".join(sorted(set(text))) == lm.CHARACTERS
    parts = lm.parts_of_text()
    assert "".join(map(lm.decode, parts)) == text


def test_only_words_are_hidden_and_never_all_sentences_alike():
    pairs = pretraining.load()[1][0][:64]
    sentences = [pretraining.collate(pairs)]
    ((batch, at),) = pretraining.hidden(sentences, seed=0)
    assert not at[:, 0].any() and not at[batch.ids == data.PAD].any()
    assert not at[batch.ids == data.EOS].any()
    words = int((batch.lengths - 2).sum())
    assert abs(at.sum() / words - pretraining.HIDE) < 0.05


@torch.no_grad()
def test_padding_and_the_future_have_no_say_in_reading():
    torch.manual_seed(0)
    pairs = sorted(pretraining.load()[1][0][:8], key=lambda pair: len(pair.source))
    for mask in ("causal", "both"):
        reader = pretraining.Reader(mask).eval()
        alone, among = pretraining.collate(pairs[:1]), pretraining.collate(pairs)
        torch.testing.assert_close(reader(among)[:1], reader(alone), atol=1e-4, rtol=1e-4)
        ids, lengths = alone.ids.clone(), alone.lengths
        before = reader.features(ids, lengths)[0]
        ids[:, -1] = 5
        moved = (reader.features(ids, lengths)[0] - before)[:, :-1].abs().max()
        assert (moved > 1e-4) == (mask == "both")


def is_best_inside(rate, tried):
    """Whether a rate is the best of the rows, and neither the lowest nor the highest of them."""
    assert len({r["rate"] for r in tried}) == len(tried) >= 3
    best = min(tried, key=lambda r: r["validation"])["rate"]
    return rate == best and min(r["rate"] for r in tried) < rate < max(r["rate"] for r in tried)


def test_the_stored_tables_are_whole():
    assert is_best_inside(lm.RATE, load_record("language_model")["tried"])
    assert [row["rate"] for row in load_table("language_model")] == [lm.RATE]
    rows = load_table("language_parts")
    for name in language_parts.VARIANTS:
        for steps in language_parts.TRIED[: 1 + (name in language_parts.LONGER)]:
            of = [row for row in rows if (row["name"], row["trial"]) == (name, False)]
            tried = [r for r in rows if (r["name"], r["trial"], r["steps"]) == (name, True, steps)]
            rates = {row["rate"] for row in of if row["steps"] == 4 * steps}
            assert any(is_best_inside(rate, tried) for rate in rates)
        seeds = [row["seed"] for row in of if row["steps"] == 1_200]
        assert seeds == list(range(6 if name in language_parts.AGAIN else 3))
    rows = [row for row in load_table("pretraining") if not row["trial"]]
    ways = Counter((row["way"], row["labels"]) for row in rows)
    assert len(ways) == len(pretraining.WAYS) * len(pretraining.LABELS)
    assert set(ways.values()) == {6}
    tried = [row for row in load_table("pretraining") if row["trial"]]
    for way, (_, task) in pretraining.WAYS.items():
        for of in ("reading", "learning") if task else ("learning",):
            (rate,) = {row[f"rate of {of}"] for row in rows if row["way"] == way}
            assert is_best_inside(rate, [r for r in tried if (r["way"], r["of"]) == (way, of)])


@settings(max_examples=30, deadline=None)
@given(st.floats(-12, 2))
def test_a_ladder_of_rates_goes_on_until_the_best_is_inside(peak):
    rows = ladder(
        lambda rate: {"rate": rate, "validation": abs(math.log2(rate) - peak)}, [1 / 4, 1 / 2, 1]
    )
    assert is_best_inside(min(rows, key=lambda r: r["validation"])["rate"], rows)
    rates = [row["rate"] for row in rows]
    assert all(b == 2 * a for a, b in pairwise(rates))


@given(st.integers(0, 5), st.sampled_from([min, max]))
def test_a_ladder_of_given_rates_stays_among_them(peak, best):
    sign = 1 if best is min else -1
    rows = ladder(
        lambda rate: {"rate": rate, "found": sign * abs(rate - peak)},
        [2, 3],
        key="found",
        among=range(6),
        best=best,
    )
    rates = [row["rate"] for row in rows]
    assert rates == list(range(min(2, max(peak - 1, 0)), max(3, min(peak + 1, 5)) + 1))
