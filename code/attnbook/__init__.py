"""Attention, Measured: score, mask, normalise, pool.

The rooms, in the order in which they may import: `masks`, `normalize`, `scores`, `attention`,
then `multihead` with `positions`, then the models; beside them `plots` and `widgets`, which know
no model. The names that chapters use are re-exported here; pictures load their heavy libraries
only when they are first asked for.
"""

from __future__ import annotations

import importlib

from .attention import attention
from .masks import (
    block_mask,
    causal_mask,
    dilated_mask,
    global_mask,
    length_mask,
    random_mask,
    window_mask,
)
from .multihead import Attended, KeyValues, MultiHeadAttention, grouped_attention
from .normalize import entmax15, gumbel_softmax, masked_softmax, sparsemax, top_k_softmax
from .positions import (
    AlibiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi_slopes,
    sinusoid,
)
from .scores import (
    AdditiveScore,
    ConcatScore,
    GeneralScore,
    boxcar,
    constant,
    cosine,
    dot,
    epanechnikov,
    gaussian,
    scaled_dot,
    triangular,
)
from .source import show_source

__version__ = "0.1.0"

_LAZY = {
    "AttentionHeatmap": ".widgets",
    "KernelRegression": ".widgets",
    "PositionExplorer": ".widgets",
    "import_d2l": ".peers",
    "plots": ".plots",
    "widgets": ".widgets",
}

__all__ = [
    "AdditiveScore",
    "AlibiPositions",
    "Attended",
    "ConcatScore",
    "GeneralScore",
    "KeyValues",
    "LearnedPositions",
    "MultiHeadAttention",
    "RotaryPositions",
    "SinusoidalPositions",
    "alibi_slopes",
    "attention",
    "block_mask",
    "boxcar",
    "causal_mask",
    "constant",
    "cosine",
    "dilated_mask",
    "dot",
    "entmax15",
    "epanechnikov",
    "gaussian",
    "global_mask",
    "grouped_attention",
    "gumbel_softmax",
    "length_mask",
    "masked_softmax",
    "random_mask",
    "scaled_dot",
    "show_source",
    "sinusoid",
    "sparsemax",
    "top_k_softmax",
    "triangular",
    "window_mask",
    *_LAZY,
]


def __getattr__(name: str):
    """Import pictures and peers on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnbook' has no attribute {name!r}")
    module = importlib.import_module(_LAZY[name], __name__)
    return module if _LAZY[name] == f".{name}" else getattr(module, name)
