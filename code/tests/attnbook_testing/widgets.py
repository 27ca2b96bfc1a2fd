"""A small one of every widget, and for each what a reader may not set."""

import math

import numpy as np

from attnbook.widgets import (
    AlignmentViewer,
    AttentionHeatmap,
    HaystackExplorer,
    HeadAblation,
    KernelRegression,
    LayerHeadBrowser,
    LocalWindow,
    NextTokenSampler,
    NormalizerExplorer,
    PatternDesigner,
    PositionExplorer,
)

EXAMPLE = {"source": ["a", "b"], "target": ["x", "y"]}
SMALL = {
    "heat map": lambda: AttentionHeatmap(np.zeros((2, 4, 2, 3))),
    "alignment": lambda: AlignmentViewer([EXAMPLE | {"weights": {"one": np.eye(2)}}]),
    "kernel": lambda: KernelRegression([0.0, 1.0, 2.0], [1.0, 3.0, 2.0]),
    "ablation": lambda: HeadAblation(
        np.full((3, 4, 5, 6), 1 / 6), np.zeros((3, 4, 5, 2, 7)), np.zeros((3, 5, 2), dtype=int)
    ),
    "browser": lambda: LayerHeadBrowser([EXAMPLE | {"encoder": np.full((2, 3, 2, 2), 0.5)}]),
    "patterns": PatternDesigner,
    "positions": PositionExplorer,
    "window": lambda: LocalWindow([0.0, 1.0, 2.0], radius=1),
    "haystack": lambda: HaystackExplorer(np.eye(4), np.eye(4)[:2]),
    "normalizer": lambda: NormalizerExplorer([1.0, 0.6, -0.8]),
    "sampler": lambda: NextTokenSampler([[0.0, 1.0], [2.0, 0.0]], ["a", "b"], follow=[0, 1]),
}
REFUSED = {
    "heat map": {"temperature": -1.0, "lengths": [1], "batch": 5, "vmax": 0.0, "head": 4}
    | {"view": "second", "query": 2, "difference_max": 0.0},
    "alignment": {"example": 9, "step": -1, "model": "x", "view": "x", "vmax": 0.0},
    "kernel": {"width": -1.0, "kernel": "cosine", "query": math.nan, "vmax": 0.0},
    "ablation": {"ablated": [7], "batch": 9, "query": 5, "vmax": -1.0},
    "browser": {"kind": "x", "example": 3, "layer": 9, "head": 9, "cell": [0, 9], "vmax": -1.0},
    "window": {"centre": 2.5, "radius": 0, "bell": "gauss"},
    "patterns": {"n": 257, "terms": [], "layers": 0, "query": 256},
    "haystack": {"query": 2, "scorer": "dense", "block": 3, "budget": 0}
    | {"buckets": 6, "rounds": 9, "clusters": 5, "nearest": 0}
    | {"needles": [0]},
    "normalizer": {"normalizer": "hard", "k": 4, "scores": [1.0, 2.0]},
    "positions": {"kind": "x", "base": -1.0, "d_model": 0},
    "sampler": {"temperature": 0.0, "top_k": 0, "top_p": 0.0, "min_p": 1.5, "path": [2]},
}
