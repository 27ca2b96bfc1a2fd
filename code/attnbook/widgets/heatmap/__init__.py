"""The heat map: attention weights that the reader's own browser computes from scores and mask."""

from __future__ import annotations

import math

import numpy as np
import traitlets as t

from ..._checks import as_labels, as_marks, as_number, check_choice
from .. import base
from ..settings import Controls, Number, Place, Setting, Switch
from . import arguments


class AttentionHeatmap(base.Widget):
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
        scale: feature size d of queries and keys when the scores are raw dot products: they can
            then be divided by the square root of d.
        heads: whether 3-D scores are (h, q, k), the heads of one sequence.
        head_labels: h strings.
        compare: second scores of the same shape, under the same mask and settings.
        compare_labels: what the first and the second scores are called.
        gold: boolean marks, (q, k) or (b, q, k), to be outlined; axes of size 1 are broadcast.

    Source: the four moves as in Vaswani et al. 2017, equation 1, with the scores given.
    """

    _shape = t.List(t.Int()).tag(sync=True)  # b, q, k or b, h, q, k
    _scores = t.Bytes().tag(sync=True)  # float32, little-endian, of `_shape`
    _compare = t.Bytes().tag(sync=True)  # the same; empty: nothing to compare with
    _mask = t.Bytes().tag(sync=True)  # 0 or 1, of `_shape`; empty: everything allowed
    _values = t.Bytes().tag(sync=True)  # float32, little-endian, (b, [h,] k, d); empty: none
    _gold = t.Bytes().tag(sync=True)  # 0 or 1, (b, q, k); empty: none
    query_labels = t.List().tag(sync=True)
    key_labels = t.List().tag(sync=True)
    head_labels = t.List(t.Unicode()).tag(sync=True)  # empty: no head axis
    compare_labels = t.List(t.Unicode()).tag(sync=True)
    scale = t.Float().tag(sync=True)  # 0: the scores are not raw dot products
    temperature = Number(
        1.0, "positive; divides the scores.", positive=True, ends=(0.1, 10), steps=40, room=5
    )
    lengths = Setting(
        lambda fixed: [fixed._shape[-1]] * fixed._shape[0],
        "valid keys of each sequence, (b,), integers.",
        test=lambda widget, value: arguments.as_lengths(value, widget._shape[0], widget._shape[-1]),
    )
    causal = Switch(says="whether a query sees only keys that are not after it.")
    scaled = Switch(True, "whether they are divided at the start.", label="")
    batch = Place("_shape.0", "sequences", 0, "the sequence to show.", label="Sequence", list=True)
    head = Place("head_labels", "heads", 0, "the head to show.", names="head_labels")
    view = Setting(
        "first",
        '"first", "second", or "difference": the second weights minus the first.',
        test=lambda widget, view: widget._known_view(view),
    )
    query = Place(
        "_shape.-2",
        "queries",
        None,
        "the query to pin: its row is framed and its weights are read out.",
        label="",
    )
    dim_later = Switch(
        says="whether the queries after the pinned one are faded, as not yet decoded.",
        fixed=True,
    )
    vmax = Number(1.0, "the weight of the darkest colour, in all heads.", positive=True, fixed=True)
    difference_max = Number(
        1.0,
        "the difference of the strongest colours; by default the least round number that holds all "
        "at the start.",
        positive=True,
        fixed=True,
    )
    controls = Controls(*arguments.CONTROLS, start=())

    def __init__(
        self,
        scores,
        *,
        mask=None,
        values=None,
        query_labels=None,
        key_labels=None,
        scale=None,
        heads=False,
        head_labels=None,
        compare=None,
        compare_labels=("first", "second"),
        gold=None,
        **settings,
    ):
        array = arguments.as_scores("scores", scores, heads)
        b, *h, q, k = array.shape
        one_sequence = bool(heads) and np.ndim(scores) == 3
        mask = as_marks("mask", mask, array.shape, one_sequence=one_sequence)
        arguments.check_allowed("scores", array, mask)
        if compare is not None:
            arguments.check_shape("compare", compare, scores)
            compare = arguments.as_scores("compare", compare, heads)
            arguments.check_allowed("compare", compare, mask)
        if isinstance(compare_labels, str):
            compare_labels = [compare_labels]
        arguments.check_controls(
            settings.get("controls") or (),
            scale=scale is not None,
            head=h,
            grid=h,
            view=compare is not None,
        )
        super().__init__(
            settings,
            f"Heat map of attention weights, {q} queries by {k} keys.",
            _shape=list(array.shape),
            _scores=array.tobytes(),
            _compare=base.packed(compare),
            _mask=base.packed(mask),
            _values=base.packed(arguments.as_values(values, array.shape, one_sequence)),
            _gold=base.packed(as_marks("gold", gold, (b, q, k), "a gold mark")),
            query_labels=as_labels("query_labels", query_labels, q, b),
            key_labels=as_labels("key_labels", key_labels, k, b),
            head_labels=arguments.as_head_labels(head_labels, *h),
            compare_labels=as_labels("compare_labels", compare_labels, 2)[0],
            scale=0.0 if scale is None else as_number("scale", scale, positive=True),
        )
        if compare is not None and settings.get("difference_max") is None:
            self.difference_max = base.round_up(max(self._largest_difference(), 0.05))

    def _known_view(self, view: str) -> str:
        if check_choice("view", view, arguments.VIEWS) != "first" and not self._compare:
            raise ValueError(f"view {view!r} needs second scores: compare")
        return view

    def _plane(self, name: str, dtype: str, batch: int, head: int) -> np.ndarray:
        """One sequence and head of a packed array of the scores' shape: (q, k)."""
        full = np.frombuffer(getattr(self, name), dtype).reshape(self._shape)[batch]
        return full[head] if full.ndim == 3 else full

    def _allowed(self, batch: int, head: int) -> np.ndarray:
        q, k = self._shape[-2:]
        mask = np.broadcast_to(np.arange(k) < self.lengths[batch], (q, k))
        if self._mask:
            mask = mask & self._plane("_mask", "u1", batch, head).astype(bool)
        return np.tril(mask) if self.causal else mask

    def _weights(self, batch: int, head: int, view: str) -> np.ndarray:
        import torch

        from ...normalize import masked_softmax

        if view == "difference":
            first, second = (self._weights(batch, head, v) for v in ("first", "second"))
            return second - first
        scores = self._plane("_compare" if view == "second" else "_scores", "<f4", batch, head)
        root = math.sqrt(self.scale) if self.scaled and self.scale else 1.0
        tensor = torch.tensor(scores, dtype=torch.float64) / (root * self.temperature)
        return masked_softmax(tensor, torch.tensor(self._allowed(batch, head))).numpy()

    def _largest_difference(self) -> float:
        b, *h, _, _ = self._shape
        planes = np.ndindex(b, h[0] if h else 1)
        return max(np.abs(self._weights(*at, "difference")).max(initial=0.0) for at in planes)

    def allowed(self) -> np.ndarray:
        """Where attention is allowed now, in the sequence and head shown: boolean (q, k)."""
        return self._allowed(self.batch, self.head)

    def weights(self, view: str | None = None) -> np.ndarray:
        """The weights shown now, by `masked_softmax` in float64: (q, k).

        Args:
            view: "first", "second", or "difference" (second minus first); by default the one
                that is shown.
        """
        view = self._known_view(self.view if view is None else view)
        return self._weights(self.batch, self.head, view)

    def hits(self) -> tuple[int, int]:
        """How many queries have their largest weight on a gold mark, and how many have marks.

        Of equal weights the first counts, as in `argmax`. In the difference view the weights
        are the second ones. Queries that `dim_later` fades do not count.
        """
        if not self._gold:
            raise ValueError("hits need gold marks: gold")
        b, *_, q, k = self._shape
        reached = q if self.query is None or not self.dim_later else self.query + 1
        marks = np.frombuffer(self._gold, "u1").reshape(b, q, k)[self.batch].astype(bool)
        weights = self.weights("first" if self.view == "first" else "second")
        return base.hits(weights[:reached], marks[:reached])

    def __repr__(self) -> str:
        return self._text(" x ".join(map(str, self._shape)))
