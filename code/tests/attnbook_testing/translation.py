"""A translation task small enough to learn in a second, and models of every kind for it."""

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

import attnbook as ab

VOCAB = 12  # ids 0 to 3 are padding, begin, end and unknown
KINDS = (None, "before", "after")
WINDOWS = ((None, None), ("monotone", None), ("monotone", "scores"), ("predicted", "weights"))
WINDOWS += (("predicted", "scores"),)  # of Luong's decoder: the window, and the bell in it
SCORES = ("additive", "concat", "dot", "general", "scaled_dot")


class Pairs(NamedTuple):
    """A batch by the field names that `translation_loss` reads."""

    source: Tensor
    source_lens: Tensor
    inputs: Tensor
    targets: Tensor
    target_lens: Tensor


def reversal(b, longest, seed=0):
    """Sources of 1 to `longest` random tokens; targets are the sources from the end."""
    random = torch.Generator().manual_seed(seed)
    lens = torch.randint(1, longest + 1, (b,), generator=random)
    source = torch.randint(4, VOCAB, (b, longest), generator=random)
    inputs, targets = torch.zeros(2, b, longest + 1, dtype=torch.int64)
    for i, n in enumerate(lens.tolist()):
        source[i, n:] = 0
        targets[i, :n] = source[i, :n].flip(0)
        targets[i, n], inputs[i, 0] = 2, 1
        inputs[i, 1 : n + 1] = targets[i, :n]
    return Pairs(source, lens, inputs, targets, lens + 1)


@st.composite
def translators(draw, kinds=(*KINDS, "luong"), dtype=torch.float64):
    """A small model of a drawn kind, in evaluation mode."""
    torch.manual_seed(draw(st.integers(0, 2**31)))
    kind = draw(st.sampled_from(kinds))
    options = {"embed_size": 3, "hidden_size": 4, "dropout": 0.3}
    options |= {"num_layers": draw(st.integers(1, 2)), "score": draw(st.sampled_from(SCORES))}
    options |= {"cell": draw(st.sampled_from(("gru", "lstm")))}
    if kind == "luong":
        window, bell = draw(st.sampled_from(WINDOWS))
        options |= {"window": window, "bell": bell, "radius": draw(st.integers(1, 3))}
        model = ab.luong_translator(VOCAB, VOCAB, feed=draw(st.booleans()), **options)
    else:
        options["bidirectional"] = draw(st.booleans())
        model = ab.recurrent_translator(VOCAB, VOCAB, attention=kind, **options)
    return model.to(dtype).eval()


@st.composite
def sources(draw, least=0):
    """Ids (b, k) and lengths (b,) from `least` to k."""
    b, k = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    ids = torch.randint(0, VOCAB, (b, k), generator=random)
    return ids, torch.randint(least, k + 1, (b,), generator=random)


def targets_for(source, q=4, seed=0):
    """Random target ids (b, q) for a source."""
    return torch.randint(1, VOCAB, (len(source), q), generator=torch.Generator().manual_seed(seed))
