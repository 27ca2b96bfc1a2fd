"""The counterfactual bench: other weights by hand, what the output becomes, and what that shows."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_array, as_finite, as_labels, as_place, as_weights, check_count
from ..base import Widget, packed
from ..settings import Choice, Place, Setting

OPERATIONS = {
    "trained": "as trained",
    "compare": "beside erasure",
    "out": "taken out",
    "even": "even",
    "shuffled": "shuffled",
    "erase": "erased at the key",
    "force": "all on the key",
    "counterfeit": "farthest counterfeit",
}
EPS = 1e-5  # of the layer norm, as in torch


def _as_heads(widget, value) -> list[int]:
    return sorted({as_place("changed", n, widget._shape[1], "heads") for n in value})


class CounterfactualBench(Widget):
    """One query of a trained model; the reader changes its weights and reads the new output.

    What follows attention is given as numbers, so the browser computes the output of any weights:
    the readout of the residual plus all values by weight, after a layer norm, if there is one.
    Weights of some heads or all can be taken out, made even, shuffled, taken from one key, or put
    on one key alone. With one head, two classes and no norm the output is linear in the weights:
    then there is the farthest counterfeit, too. The bench says on which rung each of these stands:
    seen, correlated (weights beside the effect of erasing each key), intervened; and, with `gold`,
    judged by truth. To keep pages light, what keys add is held in 16 bits.

    Args:
        weights: each head's weights of the query, (b, h, k), each row summing to one.
        added: what each key of each head adds at the whole weight, (b, h, k, d).
        readout: from features to classes, (m, d), two classes at least.
        residual: what goes past the heads, (b, d); by default 0.
        norm: gain and bias of the layer norm before the readout, two rows (d,), or None.
        bias: of the classes, (m,); by default 0.
        gold: the key that is right to read, one for each example, or None.
        key_labels: k strings, or such a list for each example.
        classes: m strings.
        head_labels: h strings.
        examples: b strings.
        seed: of the shuffle, in which every key moves, in each head to another place.

    Source: Jain and Wallace 2019, section 4.2, and Wiegreffe and Pinter 2019, for other weights;
    forced weights are interventions as in Vig et al. 2020.
    """

    _shape = t.List(t.Int()).tag(sync=True)  # b, h, k, d, m
    _weights = t.Bytes().tag(sync=True)  # float32, little-endian, (b, h, k)
    _added = t.Bytes().tag(sync=True)  # int16, little-endian, in `_step`, (b, h, k, d)
    _step = t.Float().tag(sync=True)
    _residual = t.Bytes().tag(sync=True)  # float32, as all below, (b, d)
    _norm = t.Bytes().tag(sync=True)  # (2, d), or empty
    _readout = t.Bytes().tag(sync=True)  # (m, d)
    _bias = t.Bytes().tag(sync=True)  # (m,)
    _order = t.List(t.List(t.Int())).tag(sync=True)  # of each head: where a key's weight comes from
    _gold = t.List(t.Int()).tag(sync=True)
    _operations = t.List(t.Unicode()).tag(sync=True)
    key_labels = t.List().tag(sync=True)
    classes = t.List(t.Unicode()).tag(sync=True)
    head_labels = t.List(t.Unicode()).tag(sync=True)
    examples = t.List(t.Unicode()).tag(sync=True)
    batch = Place("_shape.0", "examples", 0, "the example to show.", names="examples",
                  label="Example", optional=True)  # fmt: skip
    operation = Choice(OPERATIONS, "trained", "what is done: "
                       + ", ".join(f'"{name}"' for name in OPERATIONS) + "; the last where there "
                       "is one.", of="_operations", label="The weights")  # fmt: skip
    key = Place("_shape.2", "keys", 0, "the key that is marked: to erase, or to force on.",
                label="Key")  # fmt: skip
    changed = Setting(lambda bench: range(bench._shape[1]), "the heads that are changed, "
                      "by default all.", test=_as_heads)  # fmt: skip

    def __init__(
        self,
        weights,
        added,
        readout,
        *,
        residual=None,
        norm=None,
        bias=None,
        gold=None,
        key_labels=None,
        classes=None,
        head_labels=None,
        examples=None,
        seed=0,
        **settings,
    ):
        weights, added = as_weights("weights", weights, 3), as_finite("added", added, 4)
        b, h, k = weights.shape
        if not np.allclose(weights.sum(-1), 1, atol=1e-3):
            raise ValueError("weights must sum to one in each row")
        if added.shape[:3] != weights.shape:
            raise ValueError(f"added must be {weights.shape} and (d,), got {added.shape}")
        d, step = added.shape[3], float(np.abs(added).max()) / 32767 or 1.0
        readout = as_finite("readout", readout, 2)
        m = len(readout)
        if m < 2 or readout.shape != (m, d):
            raise ValueError(f"readout must be (m, {d}) with two classes, got {readout.shape}")
        given = {"residual": (residual, (b, d)), "norm": (norm, (2, d)), "bias": (bias, (m,))}
        held = {name: _as_shaped(name, *pair) for name, pair in given.items()}
        if gold is not None:
            gold = as_array("gold", gold, 1).tolist()
            if len(gold) != b:
                raise ValueError(f"gold must hold a key for each of {b} examples, got {gold}")
        names = {"head": h, "example": b}
        heads, shown = ([f"{name} {n + 1}" for n in range(count)] for name, count in names.items())
        linear = (h, m) == (1, 2) and norm is None
        super().__init__(
            settings,
            f"Attention weights of one query, {h} heads by {k} keys, before and after a change.",
            _shape=[b, h, k, d, m],
            _weights=packed(weights),
            _added=np.rint(added / step).astype("<i2").tobytes(),
            _step=step,
            _residual=packed(held["residual"]),
            _norm=packed(None if norm is None else held["norm"]),
            _readout=packed(readout),
            _bias=packed(held["bias"]),
            _order=_shuffles(check_count("seed", seed), h, k),
            _gold=[as_place("gold", place, k, "keys") for place in gold or ()],
            _operations=[name for name in OPERATIONS if linear or name != "counterfeit"],
            key_labels=as_labels("key_labels", key_labels, k, b),
            classes=as_labels("classes", classes, m)[0],
            head_labels=as_labels("head_labels", head_labels or heads, h)[0],
            examples=as_labels("examples", examples or shown, b)[0],
        )

    def _held(self, name: str, *shape: int) -> np.ndarray:
        return np.frombuffer(getattr(self, name), "<f4").reshape(shape).astype("f8")

    def trained(self) -> np.ndarray:
        """The model's own weights in the example shown: (h, k)."""
        return self._held("_weights", *self._shape[:3])[self.batch]

    def added(self) -> np.ndarray:
        """What each key of each head adds in the example shown, as held: (h, k, d)."""
        b, h, k, d, _ = self._shape
        return np.frombuffer(self._added, "<i2").reshape(b, h, k, d)[self.batch] * self._step

    def weights(self) -> np.ndarray:
        """The weights after what is done: (h, k)."""
        return self._after(self.operation, self.key)

    def _after(self, operation: str, key: int) -> np.ndarray:
        weights, heads = self.trained(), self.changed
        rows = weights[heads]
        if operation == "out":
            rows = 0 * rows
        elif operation == "even":
            rows = np.full_like(rows, 1 / rows.shape[-1])
        elif operation == "shuffled":
            rows = np.take_along_axis(weights, np.array(self._order), -1)[heads]
        elif operation == "erase":
            rows[:, key] = 0
            rest = rows.sum(-1, keepdims=True)
            rows = np.divide(rows, rest, out=np.zeros_like(rows), where=rest > 0)
        elif operation == "force":
            rows = np.eye(rows.shape[-1])[[key] * len(heads)]
        elif operation == "counterfeit" and heads:
            rows = self._counterfeit(rows)
        weights[heads] = rows
        return weights

    def _counterfeit(self, rows: np.ndarray) -> np.ndarray:
        import torch

        from ...explanation import farthest_counterfeit

        first, second = self._held("_readout", 2, -1)
        votes = torch.from_numpy(self.added() @ (second - first))
        return farthest_counterfeit(torch.from_numpy(rows), votes).weights.numpy()

    def probabilities(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The shares of the classes (m,), with the weights that are shown or with others (h, k)."""
        b, _, _, d, m = self._shape
        weights = self.weights() if weights is None else weights
        x = self._held("_residual", b, d)[self.batch] + np.tensordot(weights, self.added(), 2)
        if self._norm:
            gain, shift = self._held("_norm", 2, d)
            x = (x - x.mean()) / np.sqrt(x.var() + EPS) * gain + shift
        logits = self._held("_readout", m, d) @ x + self._held("_bias", m)
        shares = np.exp(logits - logits.max())
        return shares / shares.sum()

    def moved(self) -> float:
        """How far the output has moved: the share of probability that lies elsewhere, 0 to 1."""
        return _distance(self.probabilities(self.trained()), self.probabilities())

    def effects(self) -> np.ndarray:
        """How far the output moves when each key is erased from the changed heads: (k,)."""
        before = self.probabilities(self.trained())
        erased = (self._after("erase", key) for key in range(self._shape[2]))
        return np.array([_distance(before, self.probabilities(weights)) for weights in erased])

    def agreement(self) -> float:
        """Spearman's rank correlation of these effects and the mean weights of the same heads."""
        if not self.changed:
            return 0.0
        one, other = (_ranks(row) for row in (self.trained()[self.changed].mean(0), self.effects()))
        scale = np.sqrt((one**2).sum() * (other**2).sum())
        return float(one @ other / scale) if scale > 0 else 0.0

    def __repr__(self) -> str:
        b, h, k, _, m = self._shape
        return self._text(f"{h} heads", f"{b} examples of {k} keys", f"{m} classes")


def _as_shaped(name: str, value, shape: tuple[int, ...]) -> np.ndarray:
    array = np.zeros(shape) if value is None else value
    if isinstance(value, tuple | list):
        array = np.stack([as_array(name, row) for row in value])
    array = as_finite(name, array, len(shape))
    if array.shape != shape:
        raise ValueError(f"{name} must be {shape} to fit, got {array.shape}")
    return array


def _shuffles(seed: int, heads: int, keys: int) -> list[list[int]]:
    """An order for each head, one cycle through all keys: none keeps its weight."""
    draw, orders = np.random.default_rng(seed), []
    for _ in range(heads):
        cycle, order = draw.permutation(keys), np.empty(keys, dtype=int)
        order[cycle] = np.roll(cycle, 1)
        orders.append(order.tolist())
    return orders


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).sum() / 2)


def _ranks(row: np.ndarray) -> np.ndarray:
    """Ranks about their mean, equal numbers sharing one; 1e-9 apart counts as equal."""
    near = np.rint(row * 1e9)
    return ((near[:, None] > near).sum(1) - (near[:, None] < near).sum(1)) / 2
