"""Windowed attention against the dense one under the same masks."""

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab
from attnbook import sparse
from attnbook.sparse import window_attention

AXES, BOOLS = st.sampled_from([(), (2,), (2, 3)]), st.booleans()


def drawn(*shape, seed=0, **options):
    chance = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=chance, dtype=torch.float64, **options) for _ in "qkv"]


def keys_mask(axes, n, seed):
    """One row of allowed keys for all queries, (1, n), (b, 1, n) or (b, h, 1, n)."""
    return torch.rand(*axes, 1, n, generator=torch.Generator().manual_seed(seed)) < 0.5


@given(
    AXES, st.integers(0, 20), st.integers(1, 25), BOOLS, BOOLS, st.integers(0, 9), st.integers(1, 5)
)
def test_equals_dense_attention_forward_and_backward(axes, n, width, causal, padded, seed, rows):
    """Whatever the window leaves over of n, wider than n too, rows without a key included.

    And in pieces of one block or more, as where no gradient is taken.
    """
    inputs = [x.requires_grad_() for x in drawn(*axes, n, 4, seed=seed)]
    mask = keys_mask(axes, n, seed) if padded else None
    both = ab.window_mask(n, n, width, causal=causal)
    wanted, _ = ab.attention(*inputs, mask=both if mask is None else both & mask)
    got = window_attention(*inputs, width, causal=causal, mask=mask)
    assert torch.allclose(got, wanted, atol=1e-9)
    for keys in (1, 40, 100):
        with torch.no_grad(), mock.patch.multiple(sparse, ROWS=rows, KEYS=keys):
            pieces = window_attention(*inputs, width, causal=causal, mask=mask)
        assert torch.allclose(pieces, wanted, atol=1e-9)
    into = torch.randn(got.shape, dtype=got.dtype, generator=torch.Generator().manual_seed(seed))
    pairs = zip(*(torch.autograd.grad(x, inputs, into) for x in (got, wanted)), strict=True)
    assert all(torch.allclose(a, b, atol=1e-9) for a, b in pairs)


def test_what_nobody_may_see_does_not_matter():
    queries, keys, values = drawn(1, 12, 4)
    mask = ab.length_mask([9], 12)
    clean = window_attention(queries, keys, values, 4, mask=mask)
    for x in (keys, values):
        x[:, 9:] = torch.nan
    assert torch.equal(window_attention(queries, keys, values, 4, mask=mask), clean)


def test_values_may_have_another_size_and_nothing_is_changed():
    queries, keys, _ = inputs = drawn(10, 4)
    values = torch.arange(30.0, dtype=torch.float64).reshape(10, 3)
    before = [x.clone() for x in (*inputs[:2], values)]
    assert window_attention(queries, keys, values, 3).shape == (10, 3)
    assert all(map(torch.equal, before, (queries, keys, values)))


def test_it_scores_little_more_than_it_keeps(monkeypatch):
    """As many pairs as the window and its blocks hold: they grow with n, not with its square."""
    seen, counts = [], []

    def watched(queries, keys, *rest, **options):
        seen.append(queries.shape[:-1].numel() * keys.shape[-2])
        return ab.attention(queries, keys, *rest, **options)

    monkeypatch.setattr(sparse, "attention", watched)
    for n in (256, 1024):
        for causal in (False, True):
            window_attention(*torch.zeros(3, 2, n, 8), 16, causal=causal)
            counts.append(sum(seen))
            seen.clear()
    assert counts == [2 * n * 16 * blocks for n in (256, 1024) for blocks in (3, 2)]


MEMORY = """
import sys
import torch
from attnbook import window_attention

def held(name):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines[name].split()[0]) / 1024

def peak(attend, inputs):
    "How many MB more than before are held at some time; the first call is not counted."
    attend(*(x[..., :512, :] for x in inputs))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = held("VmRSS")
    attend(*inputs)
    print(held("VmHWM") - before)

torch.set_num_threads(1)
inputs = torch.randn(3, 16_384, 64).unbind()
%s
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own account")
@pytest.mark.parametrize(
    ("width", "causal"), [(128, True), (128, False), (16, False), (2048, True)]
)
def test_it_holds_little_more_than_its_output_of_4_mb(width, causal):
    """In a process of its own, at 16,384 tokens; torch's fused implementation takes 5 MB."""
    call = f"peak(lambda *qkv: window_attention(*qkv, {width}, causal={causal}), inputs)"
    here = os.environ | {"PYTHONPATH": str(Path(ab.__file__).parents[1])}  # a mutant's, too
    command = [sys.executable, "-c", MEMORY % call]
    done = subprocess.run(command, capture_output=True, text=True, env=here)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 12


def test_it_is_the_same_under_vmap():
    inputs = drawn(3, 40, 4)
    each = torch.func.vmap(lambda q, k, v: window_attention(q, k, v, 4))
    assert torch.allclose(each(*inputs), window_attention(*inputs, 4))


def test_what_it_refuses():
    queries, keys, values = drawn(2, 6, 4)
    refuses(ValueError, "width must be at least 1", window_attention, queries, keys, values, 0)
    refuses(
        ValueError, "keys must be as many as queries, 6, got 5",
        window_attention, queries, keys[:, :5], values[:, :5], 2,
    )  # fmt: skip
    square = torch.ones(2, 6, 6, dtype=torch.bool)
    with pytest.raises(ValueError, match="one row for all queries"):
        window_attention(queries, keys, values, 2, mask=square)
