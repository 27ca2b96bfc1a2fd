"""The heat map's JavaScript modules, each imported by itself."""

import ast
import math

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnbook.widgets import bundle
from devkit.browser import load

RELAXED = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def call(module):
    """`call(name, function, *arguments)`; {"array": [...]} becomes a typed array."""
    return lambda name, *call: module(name).evaluate(
        """([f, ...args]) => {
          const deep = (x) => {
            if (!x || typeof x !== "object" || Array.isArray(x)) return x;
            if (x.array) return Float64Array.from(x.array);
            return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, deep(v)]));
          };
          const out = window.arithmetic[f](...args.map(deep));
          return ArrayBuffer.isView(out) ? [...out] : out;
        }""",
        list(call),
    )


def test_every_module_can_be_imported_alone(browser):
    page = browser.new_page()
    for path in bundle.HERE.glob("*/*.js"):
        load(page, f"{path.parent.name}/{path.name}")
        assert page.evaluate("Object.keys(window.arithmetic).length"), path.name
        page.evaluate("delete window.arithmetic")
    page.close()


def test_only_the_entry_is_exported():
    text = bundle.join("core/measure.js")
    assert "export function goldHits" in text
    assert "export function maskedSoftmax" not in bundle.join("heatmap/picture.js")


matrices = st.integers(1, 5).flatmap(
    lambda q: st.integers(1, 5).flatmap(
        lambda k: st.tuples(
            st.just((q, k)),
            # few distinct values, so that ties and zero rows come up
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=q * k, max_size=q * k),
            st.lists(st.sampled_from([0, 0, 1]), min_size=q * k, max_size=q * k),
        )
    )
)


@given(matrices)
@RELAXED
def test_gold_hits_are_argmax_in_gold(call, case):
    (q, k), cells, marks = case
    weights, gold = torch.tensor(cells).reshape(q, k), torch.tensor(marks).reshape(q, k).bool()
    got = call("core/measure.js", "goldHits", {"array": cells}, {"array": marks}, q, k)
    hits = sum(
        bool(gold[i, weights[i].argmax()]) and bool(weights[i].any())
        for i in range(q)
        if gold[i].any()
    )
    assert got == {"hits": hits, "marked": int(gold.any(dim=1).sum())}


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=16, max_size=16),
)
@RELAXED
def test_the_literal_gives_the_matrix_back(call, q, k, numbers):
    values = numbers[: q * k]
    text = call("heatmap/literal.js", "tensorLiteral", {"array": values}, q, k)
    tensor = eval(text, {"torch": torch})  # it is Python that a reader pastes
    assert tensor.shape == (q, k) and tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.flatten().numpy(), values, rtol=5.1e-4, atol=1e-37)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0.0"), (1, "1.0"), (1 / 3, "0.3333"), (-0.00012346, "-0.0001235"), (1e-9, "1e-9")],
)
def test_numbers_have_four_digits(call, number, text):
    assert call("heatmap/literal.js", "pythonFloat", number) == text
    assert isinstance(ast.literal_eval(text), float)


def test_an_empty_matrix_has_a_literal(call):
    assert call("heatmap/literal.js", "tensorLiteral", {"array": []}, 0, 3) == "torch.zeros(0, 3)"


@given(
    st.integers(200, 1400),
    st.integers(1, 24),
    st.integers(1, 80),
    st.integers(1, 80),
    st.sampled_from([1, 1.5, 2, 3]),
)
@RELAXED
def test_the_grid_of_heads_fits(call, width, count, q, k, ratio):
    size = {"width": width, "count": count, "queries": q, "keys": k, "ratio": ratio}
    plan = call("core/layout.js", "planGrid", size)
    columns, gap, side = plan["columns"], plan["gap"], plan["side"]
    assert 1 <= columns <= count
    assert columns * (side + 6) + gap * (columns - 1) <= width
    assert max(plan["width"], plan["height"]) <= side + 1 + 1e-9
    assert 0 < plan["cellWidth"] == plan["cellHeight"]
    full = plan["cellWidth"] * ratio
    assert full < 1 or math.isclose(full, round(full)), "whole device pixels"


def picture(**changes):
    weights = {"array": [0.1, 0.6, 0.3, 0.0]}
    return {
        "queries": 1,
        "keys": 4,
        "weights": weights,
        "allowed": [1, 1, 1, 0],
        "queryLabels": ["q"],
        "keyLabels": ["a", "b", "c", "d"],
        **changes,
    }


def test_a_row_is_said_from_the_strongest_down(call):
    assert (
        call("core/words.js", "describeRow", picture(), 0, 6)
        == "query “q” pinned: b 0.600, c 0.300, a 0.100"
    )
    assert call("core/words.js", "describeRow", picture(), 0, 2) == (
        "query “q” pinned: b 0.600, c 0.300, and 1 more"
    )
    gold = {"array": [0, 1, 0, 0]}
    assert "b 0.600 (gold)" in call("core/words.js", "describeRow", picture(gold=gold), 0, 2)
    empty = picture(weights={"array": [0.0] * 4})
    assert call("core/words.js", "describeRow", empty, 0, 2) == "query “q” pinned: nothing"
    masked = picture(weights={"array": [0.0] * 4}, allowed=[0] * 4)
    said = "query “q” pinned: every key is masked, so all weights are zero"
    assert call("core/words.js", "describeRow", masked, 0, 2) == said


@pytest.mark.parametrize(
    ("number", "text"), [(0.25, "+0.250"), (-0.25, "−0.250"), (0, "0"), (-0.00012, "−0.0001")]
)
def test_differences_have_a_sign(call, number, text):
    assert call("core/words.js", "differenceText", number) == text
