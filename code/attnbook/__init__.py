"""Attention, Measured: score, mask, normalise, pool.

The parts, in the order in which they may import: `masks`, `normalize`, `scores`, `attention`,
`multihead` with `positions`, the models, then `decoding` and `training`; beside them `data`,
`plots` and `widgets`, which know no model. The names that chapters use are re-exported here;
pictures load their heavy libraries only when they are first asked for.
"""

from __future__ import annotations

import importlib

from .attention import attention
from .cheap import (
    BlockPool,
    Branches,
    Indexer,
    ThreeBranches,
    best_blocks,
    block_attention,
    block_means,
    hash_codes,
    k_means,
    keep_best,
    keep_blocks,
    mean_key_blocks,
    mean_key_scores,
    same_bucket,
    same_cluster,
)
from .decoding import Decoded, beam, branch, greedy, sample, truncate
from .explanation import farthest_counterfeit, rollout, total_variation
from .hierarchical import HierarchicalAttention, LearnedQuery, MeanPooling, ReadDocument
from .hops import MemoryNetwork, word_order
from .local import LuongDecoder, local_attention, local_window, luong_translator
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
from .normalize import (
    entmax,
    entmax15,
    gumbel_softmax,
    masked_softmax,
    sink_softmax,
    sparsemax,
    straight_through,
    top_k_softmax,
)
from .online import online_attention, online_softmax
from .positions import (
    AlibiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    StretchedRotary,
    alibi_slopes,
    sinusoid,
    stretched_frequencies,
)
from .recurrent import (
    AttentionDecoder,
    PlainDecoder,
    RecurrentEncoder,
    RecurrentTranslator,
    recurrent_translator,
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
from .selective import Relevance, Selected, SelectiveNode, gated_attention
from .source import show_source
from .sparse import window_attention
from .states import Remembered, delta_rule, linear_attention
from .tasks import TaskQuery
from .training import (
    Event,
    History,
    fit,
    masked_cross_entropy,
    mean_loss,
    set_seed,
    translation_loss,
)
from .widgets import FOLDERS

__version__ = "0.1.0"

_LAZY = {
    "data": ".data",
    "import_d2l": ".peers",
    "metrics": ".metrics",
    "plots": ".plots",
    **dict.fromkeys(["widgets", *FOLDERS], ".widgets"),
}

__all__ = [name for name, thing in globals().items() if callable(thing)]
__all__ += _LAZY


def __getattr__(name: str):
    """Import pictures and peers on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnbook' has no attribute {name!r}")
    module = importlib.import_module(_LAZY[name], __name__)
    return module if _LAZY[name] == f".{name}" else getattr(module, name)
