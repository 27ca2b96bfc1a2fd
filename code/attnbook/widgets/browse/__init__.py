"""The layer × head browser: every head of every layer on one scale, one of them large."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_place, check_choice
from .. import base
from ..settings import Choice, Number, Place, Setting
from .examples import KINDS, SIDES, as_browsed, as_kinds, as_numbers


def _as_cell(widget, cell) -> list[int] | None:
    if cell is None:
        return None
    place = [cell] if isinstance(cell, (int, str)) else list(cell)
    if len(place) != 2:
        raise ValueError(f"cell must be (query, key) or None, got {cell!r}")
    queries, keys = map(len, widget.tokens())
    return [
        as_place("cell's query", place[0], queries, "queries"),
        as_place("cell's key", place[1], keys, "keys"),
    ]


class LayerHeadBrowser(base.Widget):
    """All heads of a Transformer as small maps, layers in rows, and one of them drawn large.

    The reader chooses the kind of attention, the example and the head, points at a cell of the
    large map or pins it, and reads its weight; a pinned cell stays while heads change. What is
    masked is hatched: in decoder maps the keys later than the query. On cross maps links are
    outlined. What is shown counts layers and heads from 1.

    Args:
        examples: dicts with "source" and "target", the tokens, and weights of any kind, the same
            kinds in each: "encoder" (l, h, k, k), "decoder" (l, h, q, q), 0 where the key is
            later than the query, and "cross" (l, h, q, k). Each kind has its own layers l and
            heads h, the same in all examples. Optional are "mask", booleans (q, k), (l, q, k) or
            (l, h, q, k) by kind, True = may attend, "sure" and "possible", links as (target index,
            source index), and "name". Tokens that no weight needs may be left out.
        kinds: the kinds to show of those that are there, of "encoder", "decoder", "cross".
        scores: numbers from 0 to 1 to print under the small maps, {kind: (l, h)}.
        score_label: what these numbers are, such as "hit rate".

    Weights are held in 255 steps, to keep pages light; a weight that is not zero stays so.

    Raises:
        TypeError: tokens or links are of another type.
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: the three uses of attention as in Vaswani et al. 2017, section 3.2.3; heads in a grid
    of layers as in Vig 2019; sure and possible links as in Och and Ney 2003, section 5.
    """

    _examples = t.List(t.Dict()).tag(sync=True)  # as `as_browsed` gives them
    _weights = t.Bytes().tag(sync=True)  # one byte each: example, kind, l, h, q, k
    _allowed = t.Bytes().tag(sync=True)  # 0 or 1, as the weights; empty: no mask was given
    _sizes = t.Dict().tag(sync=True)  # [l, h] by kind
    _scores = t.Dict().tag(sync=True)  # (l, h) by kind; none: no numbers
    kinds = t.List(t.Unicode()).tag(sync=True)
    score_label = t.Unicode().tag(sync=True)
    kind = Choice(
        {kind: kind.capitalize() for kind in KINDS},
        lambda fixed: fixed.kinds[0],
        "the kind to show first; by default the first that is there.",
        label="Attention",
        of="kinds",
        beside=True,
        optional=True,
    )
    example = Place(
        "_examples",
        "examples",
        0,
        "the position of the example to show first.",
        names="_examples",
        optional=True,
    )
    layer = Place(
        lambda widget: widget._sizes[widget.kind][0], "layers", 0, "its position, from 0.", label=""
    )
    head = Place(
        lambda widget: widget._sizes[widget.kind][1], "heads", 0, "its position, from 0.", label=""
    )
    cell = Setting(None, "(query, key) to pin at the start, positions from 0.", test=_as_cell)
    vmax = Number(1.0, "the weight of the darkest colour, in all maps.", positive=True, fixed=True)

    def __init__(self, examples, *, kinds=tuple(KINDS), scores=None, score_label="", **settings):
        plain, sizes, weights, allowed = as_browsed(examples, as_kinds(kinds))
        super().__init__(
            settings,
            "Attention weights of every layer and head, "
            f"{' and '.join(', '.join(sizes).rsplit(', ', 1))}.",
            _examples=plain,
            _weights=weights,
            _allowed=allowed,
            _sizes=sizes,
            _scores=as_numbers(scores, sizes),
            kinds=list(sizes),
            score_label=score_label,
        )

    @t.observe("kind", "example")
    def _keep_place(self, change):
        """Another kind may have fewer layers or heads; a pinned cell is let go."""
        if not isinstance(change["old"], (int, str)) or change["old"] == "":
            return  # at the start
        layers, heads = self._sizes[self.kind]
        self.cell = None
        self.layer, self.head = min(self.layer, layers - 1), min(self.head, heads - 1)

    def tokens(self) -> tuple[list[str], list[str]]:
        """The tokens that are queries and those that are keys in the maps shown."""
        shown = self._examples[self.example]
        queries, keys = SIDES[self.kind]
        return shown[queries], shown[keys]

    def maps(self) -> np.ndarray:
        """The weights of every layer and head of the kind and example shown: (l, h, q, k)."""
        return self._planes(self._weights) / 255

    def _planes(self, data: bytes) -> np.ndarray:
        start = 0
        for n, example in enumerate(self._examples):
            for kind, (layers, heads) in self._sizes.items():
                shape = (layers, heads, *(len(example[side]) for side in SIDES[kind]))
                size = int(np.prod(shape))
                if (n, kind) == (self.example, self.kind):
                    return np.frombuffer(data, "u1", size, start).reshape(shape)
                start += size
        raise AssertionError("the kind and the example shown are there")

    def weights(self) -> np.ndarray:
        """The weights drawn large, as held: (q, k)."""
        return self.maps()[self.layer, self.head]

    def allowed(self) -> np.ndarray:
        """Where the large map may attend: in decoder maps to no later key; boolean (q, k)."""
        if self._allowed:
            return self._planes(self._allowed)[self.layer, self.head].astype(bool)
        everywhere = np.ones(tuple(map(len, self.tokens())), dtype=bool)
        return np.tril(everywhere) if self.kind == "decoder" else everywhere

    def gold(self, links: str = "sure") -> np.ndarray:
        """Sure links, or those only possible, on the map shown, a cross map; boolean (q, k)."""
        check_choice("links", links, ("sure", "possible"))
        found = self._examples[self.example][links] if self.kind == "cross" else []
        return base.marks_of(found, tuple(map(len, self.tokens())))

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {layers} x {h}" for kind, (layers, h) in self._sizes.items())
        count = len(self._examples)
        return f"LayerHeadBrowser({kinds}, {count} {'example' if count == 1 else 'examples'})"
