"""The browser's masked softmax against `attnbook.masked_softmax`."""

import math

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import attnbook as ab

CALL = """(cases) => cases.map((c) => {
  const allowed = window.arithmetic.allowedCells(c);
  const scores = Float32Array.from(c.scores);
  return [...window.arithmetic.maskedSoftmax(scores, allowed, c.queries, c.keys, c.divisor)];
})"""


@pytest.fixture
def weights_of(module):
    """Send cases to `softmax.js` and return its weights."""
    return lambda cases: module("core/softmax.js").evaluate(CALL, cases)


def reference(case) -> torch.Tensor:
    q, k = case["queries"], case["keys"]
    scores = torch.tensor(case["scores"], dtype=torch.float32).reshape(q, k).double()
    mask = ab.length_mask(torch.tensor([case["length"]]), k)[0].expand(q, k)
    if case["mask"] is not None:
        mask = mask & torch.tensor(case["mask"], dtype=torch.bool).reshape(q, k)
    if case["causal"]:
        # Written out: for q != k the first query sees the first key, as in the widget.
        mask = mask & torch.tril(torch.ones(q, k, dtype=torch.bool))
    return ab.masked_softmax(scores / case["divisor"], mask)


@st.composite
def cases(draw):
    q, k = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = q * k
    bits = st.lists(st.booleans(), min_size=cells, max_size=cells)
    mask = draw(st.none() | bits)
    number = st.floats(-60, 60, width=32) | st.sampled_from([-math.inf, -2e9, 2e9, 0.0])
    scores = draw(st.lists(number, min_size=cells, max_size=cells))
    if mask is not None:  # what stands at masked places must not matter
        wild = draw(st.sampled_from([math.nan, math.inf, -math.inf, 3e38]))
        scores = [s if ok else wild for s, ok in zip(scores, mask, strict=True)]
    return {
        "queries": q,
        "keys": k,
        "scores": scores,
        "mask": mask,
        "length": draw(st.integers(0, k + 1)),
        "causal": draw(st.booleans()),
        "divisor": draw(st.floats(0.05, 20)),
    }


@given(st.lists(cases(), min_size=1, max_size=8))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_masked_softmax(weights_of, several):
    for case, got in zip(several, weights_of(several), strict=True):
        wanted = reference(case)
        got = torch.tensor(got, dtype=torch.float64).reshape(wanted.shape)
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


def test_a_large_matrix(weights_of):
    scores = np.random.default_rng(0).normal(0, 8, (64, 64)).astype("f4")
    case = {"queries": 64, "keys": 64, "scores": scores.ravel().tolist(), "mask": None}
    case |= {"length": 50, "causal": True, "divisor": 0.7}
    got = torch.tensor(weights_of([case])[0], dtype=torch.float64).reshape(64, 64)
    torch.testing.assert_close(got, reference(case), rtol=0, atol=1e-6)
