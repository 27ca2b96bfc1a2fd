"""The heat map: attention weights that the reader's own browser computes from scores and mask."""

from __future__ import annotations

import base64
import math

import anywidget
import numpy as np
import traitlets as t

from . import arguments, bundle

CONTROLS = ("lengths", "causal", "temperature", "scale", "batch")


class AttentionHeatmap(anywidget.AnyWidget):
    """A heat map of attention weights, alive in a notebook and in the static page.

    The widget carries scores, not weights: the browser masks and normalises them itself, in
    the same way as `masked_softmax`. A key may be attended to where `mask` allows it, before
    the sequence's valid length, and, when `causal`, not after the query.

    Args:
        scores: unnormalised scores, (q, k) or (b, q, k). Log weights are scores too. NaN and
            infinity may stand where `mask` forbids attention.
        mask: boolean, True = may attend, (q, k) or (b, q, k); axes of size 1 are broadcast.
        values: (k, d) or (b, k, d), to show what a cell contributes to the output.
        query_labels, key_labels: q and k strings, or such a list for each sequence.
        lengths: valid keys of each sequence, (b,), integers.
        causal: whether a query sees only keys that are not after it.
        temperature: positive; divides the scores.
        scale: feature size d of queries and keys when the scores are raw dot products: they can
            then be divided by the square root of d.
        scaled: whether they are divided at the start.
        batch: the sequence to show.
        controls: what the reader may change: any of "lengths", "causal", "temperature",
            "scale", "batch".
        title: one line above the map.
        alt: one sentence for readers who do not see the map.
        vmax: the weight of the darkest colour.

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: the four moves as in Vaswani et al. 2017, equation 1, with the scores given.
    """

    # One stable name in saved state, wherever in the package the class lives.
    __module__ = "attnbook.widgets"

    _esm = bundle.sources("attnbook.widgets.AttentionHeatmap")["esm"]
    _css = bundle.sources("attnbook.widgets.AttentionHeatmap")["css"]

    _scores = t.Bytes().tag(sync=True)  # float32, little-endian, (b, q, k)
    _mask = t.Bytes().tag(sync=True)  # 0 or 1, (b, q, k); empty: everything allowed
    _values = t.Bytes().tag(sync=True)  # float32, little-endian, (b, k, d); empty: none
    _shape = t.List(t.Int()).tag(sync=True)  # b, q, k
    query_labels = t.List().tag(sync=True)
    key_labels = t.List().tag(sync=True)
    lengths = t.List(t.Int()).tag(sync=True)
    causal = t.Bool().tag(sync=True)
    temperature = t.Float().tag(sync=True)
    scale = t.Float().tag(sync=True)  # 0: the scores are not raw dot products
    scaled = t.Bool().tag(sync=True)
    batch = t.Int().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)
    vmax = t.Float().tag(sync=True)

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
        controls=(),
        title="",
        alt="",
        vmax=1.0,
    ):
        array = arguments.as_scores(scores)
        b, q, k = array.shape
        full_mask = arguments.as_mask(mask, (b, q, k))
        arguments.check_allowed(array, full_mask)
        full_values = arguments.as_values(values, b, k)
        controls = arguments.as_controls(controls, CONTROLS)
        if "scale" in controls and scale is None:
            raise ValueError("scale must be the feature size d when controls hold 'scale'")
        super().__init__(
            _scores=array.tobytes(),
            _mask=b"" if full_mask is None else full_mask.astype("u1").tobytes(),
            _values=b"" if full_values is None else full_values.tobytes(),
            _shape=[b, q, k],
            query_labels=arguments.as_labels("query_labels", query_labels, b, q),
            key_labels=arguments.as_labels("key_labels", key_labels, b, k),
            lengths=arguments.as_lengths(lengths, b, k),
            causal=bool(causal),
            temperature=arguments.as_positive("temperature", temperature),
            scale=0.0 if scale is None else arguments.as_positive("scale", scale),
            scaled=bool(scaled),
            batch=arguments.as_batch(batch, b),
            controls=controls,
            title=title,
            alt=alt or f"Heat map of attention weights, {q} queries by {k} keys.",
            vmax=arguments.as_positive("vmax", vmax),
        )

    @t.validate("temperature", "vmax")
    def _check_positive(self, proposal):
        return arguments.as_positive(proposal["trait"].name, proposal["value"])

    @t.validate("lengths")
    def _check_lengths(self, proposal):
        return arguments.as_lengths(proposal["value"], self._shape[0], self._shape[2])

    @t.validate("batch")
    def _check_batch(self, proposal):
        return arguments.as_batch(proposal["value"], self._shape[0])

    def allowed(self) -> np.ndarray:
        """Where attention is allowed now, in the sequence shown: boolean (q, k)."""
        _, q, k = self._shape
        mask = np.ones((q, k), dtype=bool)
        if self._mask:
            mask = np.frombuffer(self._mask, "u1").reshape(self._shape)[self.batch].astype(bool)
        mask = mask & (np.arange(k) < self.lengths[self.batch])
        return mask & (np.arange(k) <= np.arange(q)[:, None]) if self.causal else mask

    def weights(self) -> np.ndarray:
        """The weights shown now, by `masked_softmax` in float64: (q, k)."""
        import torch

        from ..normalize import masked_softmax

        scores = np.frombuffer(self._scores, "<f4").reshape(self._shape)[self.batch]
        root = math.sqrt(self.scale) if self.scaled and self.scale else 1.0
        tensor = torch.tensor(scores, dtype=torch.float64) / (root * self.temperature)
        return masked_softmax(tensor, torch.tensor(self.allowed())).numpy()

    def png(self) -> tuple[bytes, int, int]:
        """The same picture without a browser: PNG bytes, and width and height in CSS pixels."""
        from .. import plots

        def labels(lists):
            return lists[self.batch] if len(lists) > 1 else lists[0]

        return plots.heatmap_png(
            self.weights(),
            self.allowed(),
            query_labels=labels(self.query_labels),
            key_labels=labels(self.key_labels),
            title=self.title,
            vmax=self.vmax,
        )

    def __repr__(self) -> str:
        b, q, k = self._shape
        controls = f", controls: {', '.join(self.controls)}" if self.controls else ""
        return f"AttentionHeatmap({b} x {q} x {k}{controls})"

    def _repr_mimebundle_(self, **kwargs):
        bundle_ = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle_ if isinstance(bundle_, tuple) else (bundle_, {})
        picture, width, height = self.png()
        data = {**data, "image/png": base64.b64encode(picture).decode("ascii")}
        return data, {**metadata, "image/png": {"width": width, "height": height}}
