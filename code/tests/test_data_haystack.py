"""Haystacks: the needles are where the mask says, and attention over them gives the answer."""

import pytest
import torch

from attnbook import attention
from attnbook.data import haystack


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_look_at_the_needles_alone_is_the_answer():
    hay = haystack(50, 20, generator=seeded())
    output, _ = attention(
        torch.zeros_like(hay.queries), torch.zeros_like(hay.keys), hay.values, mask=hay.needles
    )
    assert torch.allclose(output, hay.answers, atol=1e-6)
    counts = hay.needles.sum(dim=(1, 2)).tolist()
    assert set(counts) == {2, 3, 4}


def test_without_noise_the_needles_are_the_keys_that_equal_the_query():
    hay = haystack(20, 30, noise=0.0, generator=seeded())
    equal = (hay.keys == hay.queries).all(dim=-1)  # (b, k, d) with (b, 1, d)
    assert torch.equal(equal, hay.needles[:, 0])


def test_marks_are_the_same_in_every_call_and_examples_can_be_made_again():
    one, two = (haystack(40, 8, marks=2, noise=0.0, generator=seeded(s)) for s in (1, 2))
    assert {tuple(q) for q in one.queries[:, 0].tolist()} == {
        tuple(q) for q in two.queries[:, 0].tolist()
    }
    again = haystack(40, 8, marks=2, noise=0.0, generator=seeded(1))
    assert all(torch.equal(a, c) for a, c in zip(one, again, strict=True))


def test_needles_are_anywhere():
    hay = haystack(4000, 6, generator=seeded())
    often = hay.needles[:, 0].float().mean(0)  # three of six on average
    assert (often - 0.5).abs().max() < 0.05


@pytest.mark.parametrize("wrong", [{"k": 3}, {"marks": 1}, {"d": 0}])
def test_too_few_is_an_error_that_names_it(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        haystack(**{"b": 1, "k": 8} | wrong)
