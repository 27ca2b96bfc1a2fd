"""A widget of each class with much to show, and what its reader may not set."""

from __future__ import annotations

import numpy as np
import torch

from attnbook.widgets import (
    AlignmentViewer,
    AttentionHeatmap,
    CounterfactualBench,
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

from .alignments import examples

ENGLISH = "the black cat sat on the mat".split()
FRENCH = "le chat noir est assis".split()
HEADS = ["previous", "next", "itself", "first", "near", "same", "all", "noise"]
TOKENS = [*ENGLISH, "<pad>"]
LETTERS = ["a", " ", "b", "\n", *"cdefghijklmno"]  # more than have a line of their own
SIZES = {"encoder": (2, 3), "decoder": (3, 2), "cross": (2, 3)}
SENTENCES = [("the red house .", "<s> la maison rouge ."), ("a cat sleeps today", "un chat dort")]


def tensor(*shape, seed=0):
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def explorer(**options):
    """Two sequences, one of them half padding, and all that changes weights."""
    given = {"query_labels": TOKENS, "key_labels": TOKENS, "lengths": [7, 4], "scale": 4}
    given["controls"] = ("lengths", "causal", "temperature", "scale", "batch")
    return AttentionHeatmap(tensor(2, 8, 8), **(given | options))


def marks() -> torch.Tensor:
    """Gold for five queries over seven keys."""
    gold = torch.zeros(5, 7, dtype=torch.bool)
    gold[range(5), [0, 2, 1, 3, 3]] = True
    return gold


def compared_heads(**options):
    """Eight heads before and after, gold marks, steps: every part of the heat map."""
    given = {"query_labels": FRENCH, "key_labels": ENGLISH, "heads": True, "head_labels": HEADS}
    given |= {"compare": tensor(8, 5, 7, seed=1), "compare_labels": ["old", "new"]}
    given |= {"gold": marks(), "dim_later": True, "title": "everything at once", "scale": 4}
    given["controls"] = "head grid view lengths temperature causal scale step copy".split()
    return AttentionHeatmap(tensor(8, 5, 7), **(given | options))


def curve(x):
    return 2 * x.sin() + x**0.8


def regression(**options):
    """Fifty points, fifty queries, the truth."""
    generator = torch.Generator().manual_seed(0)
    x = 5 * torch.rand(50, generator=generator)
    y = curve(x) + torch.randn(50, generator=generator) / 2
    queries = torch.arange(0, 5, 0.1)
    given = {"queries": queries, "truth": curve(queries), "width": 0.5, "query": 2.5}
    return KernelRegression(x, y, **(given | options))


def random_rows(random, shape, causal):
    """Weights of rows that sum to 1, some of them zero; no later key where `causal`."""
    raw = random.random(shape) ** 3 + 0.01
    raw[random.random(shape) < 0.1] = 0
    raw = np.tril(raw) if causal else raw
    return raw / np.maximum(raw.sum(-1, keepdims=True), 1e-9)


def browsed(seed=0, sentences=SENTENCES, sizes=SIZES):
    """Examples for the browser, with weights drawn by `seed`."""
    random = np.random.default_rng(seed)
    made = []
    for source, target in sentences:
        k, q = len(source.split()), len(target.split())
        shapes = {"encoder": (k, k), "decoder": (q, q), "cross": (q, k)}
        weights = {n: random_rows(random, (*sizes[n], *shapes[n]), n == "decoder") for n in sizes}
        made.append({"source": source.split(), "target": target.split(), **weights})
    return made


def browser_of(**options):
    """Two sentences, the first with links, a number under each cross map."""
    made = browsed()
    made[0] |= {"sure": {(1, 0), (2, 2)}, "possible": {(3, 1)}}
    scores = {"cross": np.arange(6).reshape(2, 3) / 10 + 0.05}
    return LayerHeadBrowser(made, **({"scores": scores, "score_label": "hit rate"} | options))


def viewer(**options):
    return AlignmentViewer(examples(), **options)


def two_heads(**options):
    """Two heads, each of which alone knows one of two answers, over three queries."""
    weights = np.stack((np.eye(3), np.eye(3)[::-1]))[None].repeat(2, axis=0)  # (b, h, q, k)
    answers = np.array([[[0, 3], [1, 2], [2, 1]], [[3, 3], [3, 3], [3, 3]]])
    added = np.zeros((2, 2, 3, 2, 4))
    for r in range(2):
        np.put_along_axis(added[:, r, :, r], answers[..., r, None], 5.0, axis=-1)
    given = {"base": np.array([[0.5, 0, 0, 0], [0.5, 0, 0, 0]]), "relations": ["left", "match"]}
    given |= {"query_labels": [["q0", "q1", "q2"], ["r0", "r1", "r2"]]}
    given |= {"key_labels": ["k0", "k1", "k2"], "title": "take a head out", "alt": "Two heads."}
    given |= {"inputs": {"token": [["a", "b", "c"], ["d", "e", "f"]]}}
    return HeadAblation(weights, added, answers, **(given | options))


def bench(heads=2, classes=4, **options):
    """Two examples of five keys; the first key of each head gets most of the weight."""
    weights = (2 * tensor(2, heads, 5) + 3 * torch.eye(5)[0]).softmax(-1)
    given = {"residual": tensor(2, 3), "norm": (1 + 0.1 * tensor(3), tensor(3)), "gold": [1, 0]}
    given |= {"bias": tensor(classes), "classes": LETTERS[4 : 4 + classes], "key": 2, "seed": 1}
    given |= {"key_labels": ["one", "b", "c", "d", "e"], "title": "change the weights"}
    return CounterfactualBench(
        weights, 2 * tensor(2, heads, 5, 3), tensor(classes, 3) / 2, **(given | options)
    )


def linear_bench(**options):
    """One head, two classes and no norm: there are counterfeits."""
    return bench(heads=1, classes=2, **({"norm": None, "gold": None} | options))


def sampler(**options):
    """A table of all pairs of seventeen letters, some of which never meet."""
    logits = tensor(17, 17).double()
    logits[torch.arange(17), (torch.arange(17) + 5) % 17] = -torch.inf
    given = {"follow": np.arange(17), "prompt": "go b", "start": 2, "seed": 3}
    return NextTokenSampler(logits, LETTERS, **(given | options))


def window(**options):
    """Nine keys, the best of them outside."""
    scores = [0.3, -1.0, 0.5, 1.2, -0.4, 0.0, 2.0, 0.1, 3.0]
    given = {"gold": [3, 8], "centre": 2.5, "radius": 2}
    return LocalWindow(scores, [*TOKENS, "<eos>"], **(given | options))


def normalizer(**options):
    """Three keys, so that the simplex is there; the last is left out by three of the four."""
    given = {"scores": [1.0, 0.6, -0.8], "slopes": [0.5, -1.0, -0.25], "normalizer": "entmax"}
    return NormalizerExplorer(**(given | options))


def designed(**options):
    """A window and one place for all, and not what comes later."""
    terms = [("window", {"width": 3}), ("|", "global", {"places": [4]}), ("&", "causal")]
    return PatternDesigner(**({"n": 24, "terms": terms, "layers": 2, "query": 20} | options))


def haystack(**options):
    """A short last block, and a budget between two of the slider's."""
    given = {"query": 1, "block": 8, "seed": 3}
    return HaystackExplorer(tensor(44, 6), tensor(5, 6, seed=1), **(given | options))


MAKE = {
    "AttentionHeatmap": explorer,
    "AlignmentViewer": lambda **options: viewer(**({"step": 4} | options)),
    "CounterfactualBench": bench,
    "HaystackExplorer": haystack,
    "HeadAblation": two_heads,
    "KernelRegression": regression,
    "LayerHeadBrowser": browser_of,
    "LocalWindow": window,
    "NextTokenSampler": sampler,
    "NormalizerExplorer": normalizer,
    "PatternDesigner": designed,
    "PositionExplorer": PositionExplorer,
}
REFUSED = {  # besides what the settings themselves say
    "AttentionHeatmap": {"lengths": [1], "view": "second"},
    "CounterfactualBench": {"changed": [2], "operation": "counterfeit"},
    "HaystackExplorer": {"needles": [0]},
    "HeadAblation": {"ablated": [7]},
    "LayerHeadBrowser": {"cell": [0, 9]},
    "NextTokenSampler": {"path": [17]},
    "NormalizerExplorer": {"scores": [1.0, 2.0]},
    "PatternDesigner": {"terms": []},
}
