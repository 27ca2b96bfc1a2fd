"""The layer × head browser: every head of every layer on one scale, one of them large."""

from __future__ import annotations

import anywidget
import numpy as np
import traitlets as t

from . import arguments, bundle
from .browse_examples import KINDS, SIDES, as_browsed, as_kinds, as_numbers


class LayerHeadBrowser(anywidget.AnyWidget):
    """All heads of a Transformer as small maps, layers in rows, and one of them drawn large.

    The reader chooses the kind of attention, the example and the head, points at a cell of the
    large map or pins it, and reads its weight; a pinned cell stays while heads change. In decoder
    maps the keys later than the query are hatched as masked; on cross maps links are outlined.

    Args:
        examples: dicts with "source" and "target", the tokens, and weights of any kind, the same
            kinds in each: "encoder" (l, h, k, k), "decoder" (l, h, q, q), 0 where the key is
            later than the query, and "cross" (l, h, q, k). Each kind has its own layers l and
            heads h, the same in all examples. Optional are "sure" and "possible", links as
            (target index, source index), and "name". Tokens that no weight needs may be left out.
        kinds: the kinds to show of those that are there, of "encoder", "decoder", "cross".
        scores: numbers from 0 to 1 to print under the small maps, {kind: (l, h)}.
        score_label: what these numbers are, such as "hit rate".
        kind: the kind to show first; by default the first that is there.
        example, layer, head: the positions to show first, from 0.
        cell: (query, key) to pin at the start, positions from 0.
        title: one line above.
        alt: one sentence for readers who do not see it.
        vmax: the weight of the darkest colour, in all maps.

    Weights are held in 255 steps, to keep pages light; a weight that is not zero stays so.

    Raises:
        TypeError: tokens or links are of another type.
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: the three uses of attention as in Vaswani et al. 2017, section 3.2.3; heads in a grid
    of layers as in Vig 2019; sure and possible links as in Och and Ney 2003, section 5.
    """

    # One stable name in saved state, wherever in the package the class lives.
    __module__ = "attnbook.widgets"

    _esm = bundle.sources("attnbook.widgets.LayerHeadBrowser")["esm"]
    _css = bundle.sources("attnbook.widgets.LayerHeadBrowser")["css"]

    _examples = t.List(t.Dict()).tag(sync=True)  # as `as_browsed` gives them
    _weights = t.Bytes().tag(sync=True)  # one byte each: example, kind, l, h, q, k
    _sizes = t.Dict().tag(sync=True)  # [l, h] by kind
    _scores = t.Dict().tag(sync=True)  # (l, h) by kind; none: no numbers
    kinds = t.List(t.Unicode()).tag(sync=True)
    score_label = t.Unicode().tag(sync=True)
    kind = t.Unicode().tag(sync=True)
    example = t.Int().tag(sync=True)
    layer = t.Int().tag(sync=True)
    head = t.Int().tag(sync=True)
    cell = t.List(t.Int(), default_value=None, allow_none=True).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)
    vmax = t.Float(1.0).tag(sync=True)

    def __init__(
        self,
        examples,
        *,
        kinds=KINDS,
        title="",
        alt="",
        scores=None,
        score_label="",
        kind=None,
        example=0,
        layer=0,
        head=0,
        cell=None,
        vmax=1.0,
    ):
        plain, sizes, weights = as_browsed(examples, as_kinds(kinds))
        kind = _one_of("kind", next(iter(sizes)) if kind is None else kind, sizes)
        layers, heads = sizes[kind]
        example = arguments.as_position("example", example, len(plain), "examples")
        tokens = [plain[example][side] for side in SIDES[kind]]
        super().__init__(
            _examples=plain,
            _weights=weights,
            _sizes=sizes,
            _scores=as_numbers(scores, sizes),
            kinds=list(sizes),
            score_label=score_label,
            kind=kind,
            example=example,
            layer=arguments.as_position("layer", layer, layers, "layers"),
            head=arguments.as_position("head", head, heads, "heads"),
            cell=_as_cell(cell, *map(len, tokens)),
            title=title,
            alt=alt
            or "Attention weights of every layer and head, "
            f"{' and '.join(', '.join(sizes).rsplit(', ', 1))}.",
            vmax=arguments.as_positive("vmax", vmax),
        )

    @t.validate("kind")
    def _check_kind(self, proposal):
        return _one_of("kind", proposal["value"], self.kinds)

    @t.validate("example")
    def _check_example(self, proposal):
        return arguments.as_position("example", proposal["value"], len(self._examples), "examples")

    @t.validate("layer", "head")
    def _check_place(self, proposal):
        name = proposal["trait"].name
        count = self._sizes[self.kind][name == "head"]
        return arguments.as_position(name, proposal["value"], count, f"{name}s")

    @t.validate("cell")
    def _check_cell(self, proposal):
        return _as_cell(proposal["value"], *map(len, self.tokens()))

    @t.validate("vmax")
    def _check_vmax(self, proposal):
        return arguments.as_positive("vmax", proposal["value"])

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
        start = 0
        for n, example in enumerate(self._examples):
            for kind, (layers, heads) in self._sizes.items():
                shape = (layers, heads, *(len(example[side]) for side in SIDES[kind]))
                size = int(np.prod(shape))
                if (n, kind) == (self.example, self.kind):
                    return np.frombuffer(self._weights, "u1", size, start).reshape(shape) / 255
                start += size
        raise AssertionError("the kind and the example shown are there")

    def weights(self) -> np.ndarray:
        """The weights drawn large, as held: (q, k)."""
        return self.maps()[self.layer, self.head]

    def allowed(self) -> np.ndarray:
        """Where attention is allowed: in decoder maps to no later key; boolean (q, k)."""
        everywhere = np.ones(tuple(map(len, self.tokens())), dtype=bool)
        return np.tril(everywhere) if self.kind == "decoder" else everywhere

    def gold(self, links: str = "sure") -> np.ndarray:
        """Sure links, or those only possible, on the map shown, a cross map; boolean (q, k)."""
        marks = np.zeros(tuple(map(len, self.tokens())), dtype=bool)
        if self.kind == "cross":
            for i, j in self._examples[self.example][_one_of("links", links, ("sure", "possible"))]:
                marks[i, j] = True
        return marks

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {layers} x {h}" for kind, (layers, h) in self._sizes.items())
        count = len(self._examples)
        return f"LayerHeadBrowser({kinds}, {count} {'example' if count == 1 else 'examples'})"


def _one_of(name: str, value, known) -> str:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    return value


def _as_cell(cell, queries: int, keys: int) -> list[int] | None:
    if cell is None:
        return None
    place = [cell] if isinstance(cell, (int, str)) else list(cell)
    if len(place) != 2:
        raise ValueError(f"cell must be (query, key) or None, got {cell!r}")
    return [
        arguments.as_position("cell's query", place[0], queries, "queries"),
        arguments.as_position("cell's key", place[1], keys, "keys"),
    ]
