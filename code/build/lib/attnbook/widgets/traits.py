"""What a heat map's two sides share: the traits, checked whenever Python sets one."""

from __future__ import annotations

import anywidget
import traitlets as t

from . import arguments


class HeatmapTraits(anywidget.AnyWidget):
    """The state of a heat map. A name with an underscore is fixed by the chapter's arguments."""

    _scores = t.Bytes().tag(sync=True)  # float32, little-endian, of `_shape`
    _compare = t.Bytes().tag(sync=True)  # the same; empty: nothing to compare with
    _mask = t.Bytes().tag(sync=True)  # 0 or 1, of `_shape`; empty: everything allowed
    _values = t.Bytes().tag(sync=True)  # float32, little-endian, (b, [h,] k, d); empty: none
    _gold = t.Bytes().tag(sync=True)  # 0 or 1, (b, q, k); empty: none
    _shape = t.List(t.Int()).tag(sync=True)  # b, q, k or b, h, q, k
    query_labels = t.List().tag(sync=True)
    key_labels = t.List().tag(sync=True)
    head_labels = t.List(t.Unicode()).tag(sync=True)  # empty: no head axis
    compare_labels = t.List(t.Unicode()).tag(sync=True)
    lengths = t.List(t.Int()).tag(sync=True)
    causal = t.Bool().tag(sync=True)
    temperature = t.Float().tag(sync=True)
    scale = t.Float().tag(sync=True)  # 0: the scores are not raw dot products
    scaled = t.Bool().tag(sync=True)
    batch = t.Int().tag(sync=True)
    head = t.Int().tag(sync=True)
    view = t.Unicode("first").tag(sync=True)
    query = t.Int(None, allow_none=True).tag(sync=True)
    dim_later = t.Bool().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)
    vmax = t.Float(1.0).tag(sync=True)
    difference_max = t.Float(1.0).tag(sync=True)

    @t.validate("temperature", "vmax", "difference_max")
    def _check_positive(self, proposal):
        return arguments.as_positive(proposal["trait"].name, proposal["value"])

    @t.validate("lengths")
    def _check_lengths(self, proposal):
        return arguments.as_lengths(proposal["value"], self._shape[0], self._shape[-1])

    @t.validate("batch")
    def _check_batch(self, proposal):
        return arguments.as_batch(proposal["value"], self._shape[0])

    @t.validate("head")
    def _check_head(self, proposal):
        heads = max(1, len(self.head_labels))
        return arguments.as_position("head", proposal["value"], heads, "heads")

    @t.validate("view")
    def _check_view(self, proposal):
        return arguments.as_view(proposal["value"], bool(self._compare))

    @t.validate("query")
    def _check_query(self, proposal):
        if proposal["value"] is None:
            return None
        return arguments.as_position("query", proposal["value"], self._shape[-2], "queries")
