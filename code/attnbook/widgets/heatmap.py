"""The heat map: attention weights that the reader's own browser computes from scores and mask."""

from __future__ import annotations

import numpy as np

from . import arguments, bundle, shown
from .traits import HeatmapTraits

CONTROLS = (
    "batch",
    "head",
    "grid",
    "view",
    "lengths",
    "temperature",
    "causal",
    "scale",
    "step",
    "copy",
)


class AttentionHeatmap(HeatmapTraits):
    """A heat map of attention weights, alive in a notebook and in the static page.

    The widget carries scores, not weights: the browser masks and normalises them itself, in
    the same way as `masked_softmax`. A key may be attended to where `mask` allows it, before
    the sequence's valid length, and, when `causal`, not after the query.

    Args:
        scores: unnormalised scores, (q, k), (b, q, k) or (b, h, q, k), or (h, q, k) with
            `heads`. Log weights are scores too. NaN and infinity may stand where `mask`
            forbids attention.
        mask: boolean, True = may attend, (q, k), (b, q, k) or (b, h, q, k), or (h, q, k) where
            the scores are; axes of size 1 are broadcast.
        values: (k, d), (b, k, d) or (b, h, k, d), or (h, k, d) where the scores are (h, q, k),
            to show what a cell contributes to the output.
        query_labels, key_labels: q and k strings, or such a list for each sequence.
        lengths: valid keys of each sequence, (b,), integers.
        causal: whether a query sees only keys that are not after it.
        temperature: positive; divides the scores.
        scale: feature size d of queries and keys when the scores are raw dot products: they can
            then be divided by the square root of d.
        scaled: whether they are divided at the start.
        batch: the sequence to show.
        heads: whether 3-D scores are (h, q, k), the heads of one sequence.
        head_labels: h strings.
        head: the head to show.
        compare: second scores of the same shape, under the same mask and settings.
        compare_labels: what the first and the second scores are called.
        view: "first", "second", or "difference": the second weights minus the first.
        difference_max: the difference of the strongest colours; by default the least round
            number that holds all at the start.
        gold: boolean marks, (q, k) or (b, q, k), to be outlined; axes of size 1 are broadcast.
        query: the query to pin: its row is framed and its weights are read out.
        dim_later: whether the queries after the pinned one are faded, as not yet decoded.
        controls: what the reader may change: any of "batch", "head" (a list), "grid" (all heads,
            small), "view", "lengths", "temperature", "causal", "scale", "step" (pin the previous
            or next query), and "copy" (the weights as a tensor).
        title: one line above the map.
        alt: one sentence for readers who do not see the map.
        vmax: the weight of the darkest colour, in all heads.

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: the four moves as in Vaswani et al. 2017, equation 1, with the scores given.
    """

    # One stable name in saved state, wherever in the package the class lives.
    __module__ = "attnbook.widgets"

    _esm = bundle.sources("attnbook.widgets.AttentionHeatmap")["esm"]
    _css = bundle.sources("attnbook.widgets.AttentionHeatmap")["css"]

    def __init__(
        self,
        scores,
        *,
        mask=None,
        values=None,
        query_labels=None,
        key_labels=None,
        lengths=None,
        causal=False,
        temperature=1.0,
        scale=None,
        scaled=True,
        batch=0,
        heads=False,
        head_labels=None,
        head=0,
        compare=None,
        compare_labels=("first", "second"),
        view="first",
        difference_max=None,
        gold=None,
        query=None,
        dim_later=False,
        controls=(),
        title="",
        alt="",
        vmax=1.0,
    ):
        array = arguments.as_scores(scores, heads)
        b, *h, q, k = array.shape
        one_sequence = bool(heads) and np.ndim(scores) == 3
        full_mask = arguments.as_mask(mask, array.shape, one_sequence)
        arguments.check_allowed(array, full_mask)
        second = arguments.as_compare(compare, tuple(np.shape(scores)), heads)
        if second is not None:
            arguments.check_allowed(second, full_mask, "compare")
        super().__init__(
            _shape=list(array.shape),
            _scores=array.tobytes(),
            _compare=shown.packed(second),
            _mask=shown.packed(full_mask),
            _values=shown.packed(arguments.as_values(values, array.shape, one_sequence)),
            _gold=shown.packed(arguments.as_gold(gold, array.shape)),
            query_labels=arguments.as_labels("query_labels", query_labels, b, q),
            key_labels=arguments.as_labels("key_labels", key_labels, b, k),
            head_labels=arguments.as_head_labels(head_labels, h[0] if h else 0),
            compare_labels=arguments.as_pair("compare_labels", compare_labels),
            lengths=arguments.as_lengths(lengths, b, k),
            causal=bool(causal),
            temperature=arguments.as_positive("temperature", temperature),
            scale=0.0 if scale is None else arguments.as_positive("scale", scale),
            scaled=bool(scaled),
            batch=arguments.as_batch(batch, b),
            head=arguments.as_position("head", head, h[0] if h else 1, "heads"),
            view=arguments.as_view(view, second is not None),
            query=query if query is None else arguments.as_position("query", query, q, "queries"),
            dim_later=bool(dim_later),
            controls=arguments.as_controls(
                controls,
                CONTROLS,
                {"scale": scale is not None, "head": h, "grid": h, "view": second is not None},
            ),
            title=title,
            alt=alt or f"Heat map of attention weights, {q} queries by {k} keys.",
            vmax=arguments.as_positive("vmax", vmax),
        )
        if second is not None or difference_max is not None:
            self.difference_max = (
                shown.difference_scale(self) if difference_max is None else difference_max
            )

    def allowed(self) -> np.ndarray:
        """Where attention is allowed now, in the sequence and head shown: boolean (q, k)."""
        return shown.allowed(self, self.batch, self.head)

    def weights(self, view: str | None = None) -> np.ndarray:
        """The weights shown now, by `masked_softmax` in float64: (q, k).

        Args:
            view: "first", "second", or "difference" (second minus first); by default the one
                that is shown.
        """
        view = arguments.as_view(self.view if view is None else view, bool(self._compare))
        return shown.weights(self, self.batch, self.head, view)

    def hits(self) -> tuple[int, int]:
        """How many queries have their largest weight on a gold mark, and how many have marks.

        Of equal weights the first counts, as in `argmax`. In the difference view the weights
        are the second ones. Queries that `dim_later` fades do not count.
        """
        return shown.hits(self)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self._shape))
        controls = f", controls: {', '.join(self.controls)}" if self.controls else ""
        return f"AttentionHeatmap({shape}{controls})"
